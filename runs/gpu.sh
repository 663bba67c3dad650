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
# Seed; demonstrations, and how many of which others (with the next seed); slips; learning rate; how many of these others are
# played for corrections, and where the first of them is.
STAGES=(
    "1 3299 0 games 0.12 4e-4 0 0"
    "3 3299 1046 hard 0.12 2e-4 500 0"
    "5 3299 400 houses 0.12 1e-4 400 0"
    "7 400 60 errands 0.12 1e-4 0 0"
)
RL_UPDATES=60 RL_GAMES=8 RL_GROUP=8 RL_RATE=2e-5 RL_PRICE=0.2 RL_ANNEAL=30

cd "$(dirname "$0")/.."
source runs/pipeline.sh
pipeline "$@"
