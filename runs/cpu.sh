#!/usr/bin/env bash
# Trains the policy that comes along from nothing to its card, on a laptop's processor.
#
#     runs/cpu.sh            all of it, about six hours on two cores; needs the official games below ALFWORLD_DATA
#     runs/cpu.sh --tiny     the same stages on a few generated games, in a quarter of an hour
#     runs/cpu.sh --print    only says the settings
#
# It needs `pip install '.[train]'`, with the environment active. WORK is the folder that all is made in.

RANK=32 ALPHA=64 LAYERS=20 BATCH=4
# Seed; demonstrations, and how many of which others (with the next seed); slips; learning rate; how many of these others are
# played for corrections, and where the first of them is.
STAGES=(
    "1 616 0 games 0.08 4e-4 0 0"
    "2 640 0 games 0.08 3e-4 0 0"
    "3 620 0 games 0.08 2e-4 0 0"
    "4 271 0 games 0.12 2e-4 170 5"
    "5 400 340 hard 0.12 3e-4 0 0"
    "7 140 60 hard 0.12 2e-4 170 5"
    "9 120 60 hard 0.12 1.5e-4 170 2"
    "11 120 60 hard 0.12 1.5e-4 170 4"
    "13 60 100 houses 0.12 1.5e-4 100 0"
    "15 30 60 errands 0.12 1.5e-4 0 0"
)
RL_UPDATES=10 RL_GAMES=6 RL_GROUP=6 RL_RATE=5e-5 RL_PRICE=0.2 RL_ANNEAL=4

cd "$(dirname "$0")/.."
source runs/pipeline.sh
pipeline "$@"
