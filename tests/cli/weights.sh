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

# What a pass computed survives: saved beside the model, it computes what the model it came from did.
numbers() { # least, greatest and mean result; folding rounds otherwise
    "$fxscope" table "$@" -i 1x3x6x6 --stats --format csv |
        awk -F, 'END { printf "%.4f %.4f %.4f\n", $10, $11, $12 }'
}
expect 0 opt "$weights/tiny.fx" --weights "$weights/tiny.safetensors" --pass fuse-conv-bn -o f.fx
says "--save-weights FILE.safetensors keeps them"
expect 0 opt "$weights/tiny.fx" --weights "$weights/tiny.safetensors" --pass fuse-conv-bn -o f.fx --save-weights f.safetensors
check "nothing is lost then" sh -c '! grep -q "keep" err'
expect 0 table f.fx --weights f.safetensors -i 1x3x6x6 --stats --format csv
silent
numbers "$weights/tiny.fx" --weights "$weights/tiny.safetensors" >a
numbers f.fx --weights f.safetensors >b
numbers f.fx >c
sed 's/^/# /' a b c
check "saved values give the same result" cmp a b
check "and those of the seed do not" sh -c '! cmp -s a c'
expect 0 rewrite "$weights/tiny.fx" --weights f.safetensors --pattern m.fx --replacement m.fx -o r.fx --save-weights r.safetensors
expect 1 opt f.fx --pass cse -o g.fx --save-weights /no/such/folder/w.safetensors
says "/no/such/folder/w.safetensors"
check "no model is written then" test ! -e g.fx
finish
