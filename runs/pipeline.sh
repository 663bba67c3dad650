# The stages from nothing to a policy and its card. `cpu.sh` and `gpu.sh` set what they need, source this file and call
# `pipeline`. Everything goes to the folder WORK: a stage that is done isn't done again, one that was interrupted goes on.

set -euo pipefail

WORK=${WORK:-build/policy}
GAMES=alfworld:training/0-3298
# Lamps and two objects, the types of task that are lost most.
HARD_GAMES="alfworld:training/0-289 alfworld:training/2543-3298"
EVALUATED=alfworld:heldout
BANK_GAMES=413
HOUSES=400 ERRANDS=60

settings() {
    echo "games        $GAMES"
    echo "hard games   $HARD_GAMES"
    echo "houses       $HOUSES generated games"
    echo "errands      $ERRANDS generated tasks of three goals"
    echo "bank         $BANK_GAMES games, played by the teacher"
    echo "adapter      rank $RANK, alpha $ALPHA, the last $LAYERS blocks"
    echo "batch        $BATCH"
    local seed demos others which slips lr played first
    for stage in "${STAGES[@]}"; do
        read -r seed demos others which slips lr played first <<<"$stage"
        echo "sft          seed $seed: $demos demonstrations and $others of $which, slips $slips," \
            "corrections of $played of $which, rate $lr"
    done
    echo "rl           $RL_UPDATES updates of $RL_GAMES games, $RL_GROUP episodes each, rate $RL_RATE," \
        "price of a call $RL_PRICE, bonuses for $RL_ANNEAL updates"
    echo "evaluation   $EVALUATED"
}

tiny() { # the same stages on a few generated games
    WORK=$WORK-tiny
    GAMES=$WORK/games HARD_GAMES=$WORK/games EVALUATED=$WORK/others
    BANK_GAMES=6 HOUSES=4 ERRANDS=2 LAYERS=2
    STAGES=("1 8 0 games 0.08 4e-4 0 0" "2 4 2 hard 0.12 2e-4 4 2" "4 2 2 houses 0.12 2e-4 2 0" "6 1 2 errands 0.12 2e-4 0 0")
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
    local seed demos others which slips lr played first games corrections last="" files
    for stage in "${STAGES[@]}"; do
        read -r seed demos others which slips lr played first <<<"$stage"
        games=$(games_of "$which")
        files=()
        demonstrate "$WORK/demos-$seed.jsonl" "$demos" "$seed" "$slips" $GAMES
        demonstrate "$WORK/others-$seed.jsonl" "$others" "$((seed + 1))" "$slips" $games
        if [ "$played" -gt 0 ]; then
            eval_once "$WORK/played-$seed.db" $(each_of $games | spread "$played" "$first") --adapter "$last/adapter.gguf"
            corrections=$WORK/corrections-$seed.jsonl
            once "$corrections" evoharness train corrections "$WORK/played-$seed.db" --seed "$seed" --out "$corrections"
            files+=("$corrections")
        fi
        learn_once "$WORK/sft-$seed" sft "${files[@]}" --batch "$BATCH" --lr "$lr" $(adapter_or_start "$last")
        last=$WORK/sft-$seed
        once "$last/adapter.gguf" evoharness train export "$last" -o "$last/adapter.gguf"
    done
    learn_once "$WORK/rl" rl $(each_of $GAMES | spread "$HOUSES" 3) "$WORK/houses" --from "$last" --bank "$WORK/bank.db" \
        --updates "$RL_UPDATES" --games "$RL_GAMES" --group "$RL_GROUP" --lr "$RL_RATE" --kl 0 --anneal "$RL_ANNEAL" \
        --price "commit=$RL_PRICE" --price "recall=$RL_PRICE" --price "track=$RL_PRICE"
    last=$WORK/rl
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
    once "$WORK/houses" evoharness games make "$WORK/houses" --count "$HOUSES" --seed 31
    once "$WORK/errands" evoharness games make "$WORK/errands" --count "$ERRANDS" --goals 3 --seed 41
}

games_of() { # what a stage calls the games of its other demonstrations, and of those that it plays
    case $1 in
        games) echo "$GAMES" ;;
        hard) echo "$HARD_GAMES" ;;
        houses | errands) echo "$WORK/$1" ;;
    esac
}

each_of() { # the games of folders, and of ranges such as alfworld:training/0-289, one a line
    local games
    for games in "$@"; do
        if [ -d "$games" ]; then
            find "$games" -name game.tw-pddl | sort
        else
            seq -f "${games%/*}/%g" $(tr '-' ' ' <<<"${games##*/}")
        fi
    done
}

spread() { # so many of the lines, or all where there are fewer, spread evenly, beginning with the one of that number
    awk -v wanted="$1" -v first="$2" '
        { line[NR - 1] = $0 }
        END {
            left = NR - first
            count = wanted < left ? wanted : left
            for (at = 0; at < count; at++) print line[first + int(at * left / count)]
        }'
}

demonstrate() { # a file that is added to `files`, how many, seed, slips, the games
    if [ "$2" -gt 0 ]; then
        files+=("$1")
        once "$1" evoharness train demos "${@:5}" --games "$2" --seed "$3" --slips "$4" --out "$1"
    fi
}

games_for_bank() { each_of $GAMES | spread "$BANK_GAMES" 0; }

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
