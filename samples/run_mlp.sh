#!/bin/sh
# Runs the first program, and shows that the README has it as it is. usage: run_mlp.sh PROGRAM SAMPLES
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
fail() {
    echo "$1"
    cat "$dir/out"
    exit 1
}
"$1" "$dir/mlp.svg" >"$dir/out" || fail "it fails"
grep -q '%relu : \[#users=1\] = call_function\[target=torch._C._nn.gelu\](args = (%hidden,), kwargs = {})' "$dir/out" ||
    fail "the graph has no gelu"
grep -q '^    relu = torch._C._nn.gelu(hidden);  hidden = None$' "$dir/out" || fail "the code has no gelu"
grep -q 'relu .*\[8, 32\]  float32' "$dir/out" || fail "the table has no shapes"
grep -q '</svg>' "$dir/mlp.svg" || fail "there is no picture"
[ "$(wc -l <"$2/mlp.c")" -le 60 ] || fail "it is longer than 60 lines"
sed -n '/^```c$/,/^```$/p' "$2/../README.md" | sed '1d;$d' | cmp - "$2/mlp.c" || fail "the README has another program"
