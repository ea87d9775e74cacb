#!/bin/sh
# Compares what a sample prints with what PyTorch printed for the same network, and has it drawn.
# usage: check.sh PROGRAM GOLDEN_PREFIX pictures|plain
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
for what in graph modules code; do
    cp "$2.$what.txt" "$dir/want" || exit 1
    [ $what != code ] || echo >>"$dir/want" # print ends the line that the code leaves open
    "$1" --$what | diff - "$dir/want" || {
        echo "$1 --$what differs from $2.$what.txt"
        exit 1
    }
done
"$1" --table | grep -q ' done\|float32' || { echo "$1 --table shows no results"; exit 1; }
if [ "$3" = pictures ]; then
    "$1" -o "$dir/picture.svg" || exit 1
    grep -q '</svg>' "$dir/picture.svg" || { echo "$1 -o writes no whole picture"; exit 1; }
    [ "$(ls "$dir")" = "$(printf 'picture.svg\nwant')" ] || { echo "$1 -o leaves other files"; exit 1; }
    "$1" -o "$dir/none/picture.svg" 2>/dev/null && { echo "$1 -o says nothing of a missing folder"; exit 1; }
else
    "$1" -o "$dir/picture.svg" 2>/dev/null && { echo "$1 -o can't draw, and does not say so"; exit 1; }
fi
exit 0
