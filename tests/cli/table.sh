#!/bin/sh
# table: every format can be read by what reads such formats, and the numbers are the same at every run.
. "${0%/*}/lib.sh"
small_model >m.fx

expect 0 table m.fx -i 1x4
prints "fc"
prints "[1, 2]"
silent
for format in text csv json markdown tsv; do
    for mode in --seed=1 --meta --stats --train; do
        expect 0 table m.fx -i 1x4 --format $format $mode
        check "$format $mode: something is printed" test -s out
    done
done
expect 0 table m.fx -i 1x4 --format json --stats
if command -v python3 >/dev/null; then
    check "json is JSON" python3 -m json.tool out
    expect 0 table m.fx -i 1x4 --format csv
    check "csv is CSV with one width" python3 -c 'import csv; r = list(csv.reader(open("out"))); assert len(r) > 3
assert len({len(x) for x in r}) == 1, r'
else
    skip "json is JSON" "python3 is not installed"
    skip "csv is CSV with one width" "python3 is not installed"
fi
expect 0 table m.fx -i 1x4 --format tsv
check "tsv has one width" awk -F '\t' 'NR == 1 { n = NF } NF != n { bad = 1 } END { exit bad || n < 3 }' out

# print(model) leaves the number of heads out: shapes follow without it, values with a line that says it.
encoder() { # the line, or nothing
    echo "M("
    echo "  (enc): TransformerEncoderLayer("
    [ -z "$1" ] || echo "    $1"
    echo "    (self_attn): MultiheadAttention("
    echo "      (out_proj): NonDynamicallyQuantizableLinear(in_features=4, out_features=4, bias=True)"
    echo "    )"
    echo "    (linear1): Linear(in_features=4, out_features=6, bias=True)"
    echo "    (linear2): Linear(in_features=6, out_features=4, bias=True)"
    echo "    (norm1): LayerNorm((4,), eps=1e-05, elementwise_affine=True)"
    echo "    (norm2): LayerNorm((4,), eps=1e-05, elementwise_affine=True)"
    echo "  )"
    echo ")"
    echo "parameter enc.self_attn.in_proj_weight: torch.float32[12, 4]"
    echo "parameter enc.self_attn.in_proj_bias: torch.float32[12]"
    echo "graph():"
    echo "    %x : [#users=1] = placeholder[target=x]"
    echo "    %enc : [#users=1] = call_module[target=enc](args = (%x,), kwargs = {})"
    echo "    return enc"
}
encoder "" >e.fx
expect 0 table e.fx -i 2x3x4 --meta
check "the shape follows" grep -q "call_module.*enc.*\[2, 3, 4\]" out
expect 3 table e.fx -i 2x3x4
check "and the message says what is missing" grep -q "number of heads" err
encoder "d_model=4, nhead=2, batch_first=True" >e.fx
expect 0 table e.fx -i 2x3x4
check "the shape follows" grep -q "call_module.*enc.*\[2, 3, 4\]" out
expect 0 table e.fx -i 2x3x4 --stats

"$fxscope" table m.fx -i x=1x4 --format csv --meta >a
"$fxscope" table m.fx -i 1x4 --format csv --meta --threads 2 >b
check "named inputs and threads change nothing" cmp a b
expect 0 table m.fx -i 1x4 --format csv --meta -o written.csv
prints_nothing
check "-o writes the same" cmp a written.csv
expect 0 table m.fx -i 1x4 --format csv --meta -o -
check "-o - prints the same" cmp a out
finish
