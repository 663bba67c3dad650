# The stages from nothing to a policy and its card. `cpu.sh` and `gpu.sh` set what they need and source this file.
#
# Everything goes to the folder WORK. A stage that is done isn't done again, and one that was interrupted goes on.

set -euo pipefail

WORK=${WORK:-build/policy}
DATA=${ALFWORLD_DATA:-$HOME/.cache/alfworld}/json_2.1.1

settings() {
    cat <<END
games      ${TASKS}
bank       ${BANK_GAMES}
lora       rank ${RANK}, alpha ${ALPHA}, last ${LAYERS} blocks
batch      ${BATCH}
END
    for stage in "${DEMONSTRATED[@]}"; do
        read -r seed games lr <<<"$stage"
        echo "sft        demonstrations of seed ${seed}, ${games} games, learning rate ${lr}"
    done
    for stage in "${CORRECTED[@]}"; do
        read -r seed games lr <<<"$stage"
        echo "sft        corrections of seed ${seed}, ${games} games, learning rate ${lr}"
    done
    echo "evaluation ${EVALUATED[*]}"
}

# What is made is named after it is whole, so that a stage is done where its file is there.
run_once() {
    local made=$1
    shift
    if [ -e "$made" ]; then return; fi
    echo "--- $made"
    "$@"
}

learn() { # the run's folder, the demonstrations, the learning rate, and the run to go on from if there is one
    local folder=$1 file=$2 lr=$3 from=${4:-}
    if [ -e "$folder/done" ]; then return; fi
    echo "--- $folder"
    if [ -d "$folder" ]; then
        evoharness train sft --resume "$folder"
    elif [ -n "$from" ]; then
        evoharness train sft "$file" --out "$folder" --from "$from" --lr "$lr" --batch "$BATCH" "${TRAIN[@]}"
    else
        evoharness train sft "$file" --out "$folder" --rank "$RANK" --alpha "$ALPHA" --layers "$LAYERS" \
            --lr "$lr" --batch "$BATCH" "${TRAIN[@]}"
    fi
    touch "$folder/done"
}

play() { # the store to make, and what else `eval` takes
    local out=$1
    shift
    if [ -e "$out.done" ]; then return; fi
    echo "--- $out"
    if [ -e "$out" ]; then
        evoharness eval --resume --out "$out"
    else
        evoharness eval "$@" --out "$out"
    fi
    touch "$out.done"
}

make_bank() {
    evoharness run "${BANK_TASKS[@]}" --model teacher:alfworld --db "$WORK/bank.db" --quiet
    evoharness export --db "$WORK/bank.db" --without-worlds --out "$WORK/bank.jsonl"
}

pipeline() {
    settings
    if [ "${1:-}" = --print ]; then return; fi
    mkdir -p "$WORK"
    prepare
    run_once "$WORK/bank.jsonl" make_bank
    local last=""
    for stage in "${DEMONSTRATED[@]}"; do
        read -r seed games lr <<<"$stage"
        run_once "$WORK/demos-$seed.jsonl" evoharness train demos "${TRAIN_TASKS[@]}" --games "$games" --seed "$seed" \
            --out "$WORK/demos-$seed.jsonl"
        learn "$WORK/sft-$seed" "$WORK/demos-$seed.jsonl" "$lr" "$last"
        last=$WORK/sft-$seed
    done
}
