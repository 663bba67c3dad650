#!/usr/bin/env bash
# Trains a policy of the kind that comes along, from nothing to its card, on one GPU.
#
#     runs/gpu.sh            all of it; needs the official games below ALFWORLD_DATA
#     runs/gpu.sh --tiny     the same stages on a few generated games, in a quarter of an hour
#     runs/gpu.sh --print    only says the settings
#
# It needs `pip install '.[train]'` and a llama.cpp built for the GPU (docs/models.md), with the environment active.
# WORK is the folder that all is made in. These settings have not been run on a GPU yet: they are those of `cpu.sh` with
# all blocks, more games and reinforcement learning.

RANK=32 ALPHA=64 LAYERS=30 BATCH=16
# Seed, demonstrations, those of hard games (with the next seed), slips, learning rate, games that are played for corrections
# and where the first of these is.
STAGES=(
    "1 3299 0 0.12 4e-4 0 0"
    "3 3299 1046 0.12 2e-4 500 0"
    "5 3299 1046 0.12 1e-4 500 1"
)
RL_UPDATES=60 RL_GAMES=8 RL_GROUP=8 RL_RATE=2e-5

cd "$(dirname "$0")/.."
source runs/pipeline.sh
pipeline "$@"
