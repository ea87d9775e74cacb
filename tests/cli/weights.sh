#!/bin/sh
# --weights: parameters from a file, in every command that computes; and what is wrong with such a file.
. "${0%/*}/lib.sh"
weights=$golden/../weights

expect 0 table "$weights/tiny.fx" --weights "$weights/tiny.safetensors" -i 1x3x6x6 --stats --format csv
silent
expect 0 check "$weights/tiny.fx" --weights "$weights/tiny.safetensors" -i 1x3x6x6
silent
"$fxscope" table "$weights/tiny.fx" --weights "$weights/tiny.safetensors" -i 1x3x6x6 --stats --format csv --seed 1 | cut -d, -f1 >a
"$fxscope" table "$weights/tiny.fx" -i 1x3x6x6 --stats --format csv --seed 1 | cut -d, -f1 >b
check "the nodes are the same" cmp a b
small_model >m.fx
expect 1 table m.fx --weights "$weights/tiny.safetensors" -i 1x4
says "has shape [3, 16]"
expect 1 table m.fx --weights missing.safetensors -i 1x4
says "can't be opened"
printf 'no weights at all' >odd.safetensors
expect 1 check m.fx --weights odd.safetensors -i 1x4
says "no safetensors file"
finish
