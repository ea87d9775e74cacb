#!/bin/sh
# Compares what a sample prints with what PyTorch printed for the same network.
# usage: check.sh PROGRAM GOLDEN_PREFIX
for what in graph modules code; do
    [ -f "$2.$what.txt" ] || continue
    "$1" --$what | if [ $what = code ]; then diff - "$2.code.txt"; else diff - "$2.$what.txt"; fi || {
        echo "$1 --$what differs from $2.$what.txt"
        exit 1
    }
done
"$1" --table | grep -q ' done\|float32' || { echo "$1 --table shows no results"; exit 1; }
