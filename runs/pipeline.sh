# The stages from nothing to a policy and its card. `cpu.sh` and `gpu.sh` set what they need, source this file and call
# `pipeline`. Everything goes to the folder WORK: a stage that is done isn't done again, one that was interrupted goes on.

set -euo pipefail

settings() {
    echo "games        $GAMES"
    echo "bank         $BANK_GAMES games, played by the teacher"
    echo "adapter      rank $RANK, alpha $ALPHA, the last $LAYERS blocks"
    echo "batch        $BATCH"
    local seed demos slips lr played
    for stage in "${STAGES[@]}"; do
        read -r seed demos slips lr played <<<"$stage"
        echo "sft          seed $seed: $demos demonstrations with slips $slips, corrections of $played games, rate $lr"
    done
    if [ "$RL_UPDATES" -gt 0 ]; then
        echo "rl           $RL_UPDATES updates of $RL_GAMES games, $RL_GROUP episodes each, rate $RL_RATE"
    fi
    echo "evaluation   $EVALUATED"
}

tiny() { # the same stages on a few generated games
    WORK=$WORK-tiny
    GAMES=$WORK/games EVALUATED=$WORK/others
    BANK_GAMES=6 LAYERS=2
    STAGES=("1 8 0.08 4e-4 0" "2 4 0.12 2e-4 4")
    RL_UPDATES=1 RL_GAMES=1 RL_GROUP=2
}

pipeline() {
    if [ "${1:-}" = --tiny ]; then
        tiny
        shift
    fi
    settings
    if [ "${1:-}" = --print ]; then return; fi
    mkdir -p "$WORK"
    prepare
    once "$WORK/bank.jsonl" make_bank
    local seed demos slips lr played last="" files
    for stage in "${STAGES[@]}"; do
        read -r seed demos slips lr played <<<"$stage"
        files=("$WORK/demos-$seed.jsonl")
        once "${files[0]}" evoharness train demos $GAMES --games "$demos" --slips "$slips" --seed "$seed" \
            --out "${files[0]}"
        if [ "$played" -gt 0 ]; then
            eval_once "$WORK/played-$seed.db" $(games_to_play "$played") --adapter "$last/adapter.gguf"
            files+=("$WORK/corrections-$seed.jsonl")
            once "${files[1]}" evoharness train corrections "$WORK/played-$seed.db" --seed "$seed" --out "${files[1]}"
        fi
        learn_once "$WORK/sft-$seed" sft "${files[@]}" --batch "$BATCH" --lr "$lr" $(adapter_or_start "$last")
        last=$WORK/sft-$seed
        once "$last/adapter.gguf" evoharness train export "$last" -o "$last/adapter.gguf"
    done
    if [ "$RL_UPDATES" -gt 0 ]; then
        learn_once "$WORK/rl" rl $GAMES --from "$last" --bank "$WORK/bank.db" --updates "$RL_UPDATES" \
            --games "$RL_GAMES" --group "$RL_GROUP" --lr "$RL_RATE"
        last=$WORK/rl
    fi
    eval_once "$WORK/evaluation.db" $EVALUATED --adapter "$last/adapter.gguf"
    once "$WORK/policy/card.yaml" evoharness train policy "$last" --bank "$WORK/bank.jsonl" \
        --what "plays ALFWorld's household games" --evaluation "$WORK/evaluation.db" --out "$WORK/policy"
    cat "$WORK/policy/card.yaml"
}

prepare() {
    if [ "$GAMES" = "$WORK/games" ]; then
        once "$WORK/games" evoharness games make "$WORK/games" --count 12 --seed 1
        once "$WORK/others" evoharness games make "$WORK/others" --count 2 --seed 2
    fi
}

numbered() { # so many of the games, spread evenly, beginning with one of the first
    if [ "$GAMES" != alfworld:training ]; then
        find "$GAMES" -name game.tw-pddl | sort | tail -n "+$((1 + $2))" | head -n "$1"
        return
    fi
    local step=$((3299 / $1))
    seq -f 'alfworld:training/%g' "$2" "$step" 3298 | head -n "$1"
}
games_for_bank() { numbered "$BANK_GAMES" 0; }
games_to_play() { numbered "$1" 5; }

make_bank() {
    if [ ! -e "$WORK/bank.db" ]; then
        evoharness run $(games_for_bank) --model teacher:alfworld --db "$WORK/bank.part.db" --quiet
        mv "$WORK/bank.part.db" "$WORK/bank.db"
    fi
    evoharness export --db "$WORK/bank.db" --without-worlds --output "$WORK/bank.jsonl"
}

adapter_or_start() { # what the first stage says of the adapter, and what the others go on from
    if [ -n "$1" ]; then echo --from "$1"; else echo --rank "$RANK" --alpha "$ALPHA" --layers "$LAYERS"; fi
}

once() { # a file that is there when the command after it has ended
    local made=$1
    shift
    if [ -e "$made" ]; then return; fi
    echo "--- $*"
    "$@"
}

learn_once() { # a run's folder, the kind of training, and what that takes
    local folder=$1 kind=$2
    shift 2
    if [ -e "$folder/finished" ]; then return; fi
    echo "--- train $kind $*"
    if [ -e "$folder/settings.json" ]; then
        evoharness train "$kind" --resume "$folder"
    else
        evoharness train "$kind" "$@" --out "$folder"
    fi
    touch "$folder/finished"
}

eval_once() { # a store, and what is evaluated
    local out=$1
    shift
    if [ -e "$out.finished" ]; then return; fi
    echo "--- eval $*"
    if [ -e "$out" ]; then
        evoharness eval --resume --out "$out"
    else
        evoharness eval "$@" --method bpe --bank "$WORK/bank.db" --out "$out"
    fi
    touch "$out.finished"
}
