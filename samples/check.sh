#!/bin/sh
# Compares what a sample prints with what PyTorch printed for the same network.
# usage: check.sh PROGRAM GOLDEN_PREFIX
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
for what in graph modules code; do
    [ -f "$2.$what.txt" ] || continue
    cp "$2.$what.txt" "$dir/want"
    [ $what != code ] || echo >>"$dir/want" # print ends the line that the code leaves open
    "$1" --$what | diff - "$dir/want" || {
        echo "$1 --$what differs from $2.$what.txt"
        exit 1
    }
done
"$1" --table | grep -q ' done\|float32' || { echo "$1 --table shows no results"; exit 1; }
