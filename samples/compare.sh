#!/bin/sh
# Runs a sample on a model and compares what it prints with the text given. Prints TAP.
# usage: compare.sh PROGRAM MODEL EXPECTED
echo "1..1"
if out=$("$1" "$2") && [ "$out" = "$3" ]; then
    echo "ok 1 - $(basename "$1")"
else
    echo "not ok 1 - $(basename "$1")"
    echo "$out" | sed 's/^/# /'
    exit 1
fi
