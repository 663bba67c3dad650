#!/bin/sh
# The wolf, the goat and the cabbage, as a program that evoharness plays (docs/environments.md says how).
farmer=left wolf=left goat=left cabbage=left
task='"goal": "bring all three to the right bank", "forms": ["cross alone", "cross with {thing}"]'
names='"names": {"thing": ["wolf", "goat", "cabbage"]}'

answer() { # what is observed, further keys
    printf '{"observation": "%s", "facts": [["you", "at", "%s bank"], ["wolf", "at", "%s bank"], ' "$1" "$farmer" "$wolf"
    printf '["goat", "at", "%s bank"], ["cabbage", "at", "%s bank"]]%s}\n' "$goat" "$cabbage" "$2"
}

while read -r request; do
    thing=${request##* } thing=${thing%'"}'} # the last word of {"step": "cross with goat"}
    case $request in '{"reset"'*)
        answer "You are at the left bank of a river. Your boat takes you and one more. \
Left alone, the wolf eats the goat and the goat eats the cabbage." ", $task, $names"
        continue ;;
    esac
    case $thing in alone) at=$farmer ;; wolf) at=$wolf ;; goat) at=$goat ;; cabbage) at=$cabbage ;; *) at=nowhere ;; esac
    [ "$at" = "$farmer" ] || { answer "There is no $thing at your bank."; continue; }
    [ "$farmer" = left ] && farmer=right || farmer=left
    case $thing in wolf | goat | cabbage) eval "$thing=$farmer" ;; esac
    case $farmer-$wolf-$goat-$cabbage in
    left-right-right-* | right-left-left-*) answer "The wolf eats the goat." ', "done": true' ;;
    left-*-right-right | right-*-left-left) answer "The goat eats the cabbage." ', "done": true' ;;
    right-right-right-right) answer "All of you are at the right bank." ', "done": true, "success": true' ;;
    *) answer "You are at the $farmer bank." ;;
    esac
done
