#!/bin/sh
# bench: every format is printed, rows are the operators or the nodes, and their figures fit together.
. "${0%/*}/lib.sh"
small_model >m.fx

expect 0 bench m.fx -i 1x4 --rounds 2
silent
prints "linear"
prints "nodes,"
prints "whole run"
expect 0 bench m.fx -i 1x4 --rounds 1 --by node
prints "fc"
expect 0 bench m.fx -i 1x4 --rounds 1 --by operator --processor-time
prints "linear"
check "no node is listed" sh -c '! grep -q "^fc" out'
for format in text csv json markdown tsv; do
    expect 0 bench m.fx -i 1x4 --rounds 1 --by node --format $format
    check "$format: the layer is in it" grep -q fc out
done
expect 0 bench m.fx -i 1x4 --rounds 1 --meta
if command -v python3 >/dev/null; then
    expect 0 bench m.fx -i 1x4 --rounds 3 --format json
    check "json adds up" python3 -c 'import json; d = json.load(open("out"))
assert d["rounds"] == 3 and d["failed"] == 0 and len(d["nodes"]) == d["node_count"] == 3, d
assert abs(sum(n["seconds"] for n in d["nodes"]) - d["node_seconds"]) < 1e-9
assert abs(sum(o["share"] for o in d["operators"]) - 1) < 1e-9
assert sum(o["nodes"] for o in d["operators"]) == 3
assert d["seconds_with_statistics"] > 0 and d["first_seconds"] > 0
assert d["flops"] == [o for o in d["operators"] if o["name"] == "linear"][0]["flops"] == 18
assert d["least_activation_bytes"] == 24, d'
    expect 0 bench m.fx -i 1x4 --rounds 1 --by operator --format csv
    check "csv is CSV with one width" python3 -c 'import csv; r = list(csv.reader(open("out"))); assert len(r) == 4, r
assert len({len(x) for x in r}) == 1, r'
else
    skip "json adds up" "python3 is not installed"
    skip "csv is CSV with one width" "python3 is not installed"
fi

if [ "${FXS_RENDER:-1}" = 1 ]; then
    expect 0 bench m.fx -i 1x4 --rounds 1 --by operator -o b.svg -o b.png -o b.pdf -o b.tex
    silent
    check "the chart names the operator" grep -q '>linear</text>' b.svg
    check "one bar an operator" test "$(grep -c 'class="bar"' b.svg)" -eq 3
    check "the PNG is one" sh -c 'head -c 4 b.png | grep -q PNG'
    check "the TikZ has the same bars" test "$(grep -c '^.filldraw' b.tex)" -eq 3
    check "the PDF is one" sh -c 'head -c 4 b.pdf | grep -q %PDF'
    expect 0 bench m.fx -i 1x4 --rounds 1 --by node -o n.svg
    check "the chart names the node" grep -q '>fc</text>' n.svg
    check "texts stay in the picture" awk -F '"' '
        /<svg/ { for (i = 1; i < NF; i++) if ($i ~ / viewBox=$/) { split($(i + 1), v, " "); w = v[3] } }
        /<text/ { for (i = 1; i < NF; i++) { if ($i ~ / x=$|^ x=$|<text x=$/) x = $(i + 1) + 0
            if ($i ~ /textLength=$/) l = $(i + 1) + 0 } if (x + l > w) bad = 1; n++ }
        END { exit bad || n < 7 }' n.svg
    expect 1 bench m.fx -i 1x4 --rounds 1 -o no/such/folder.svg
else
    skip "charts" "built without pictures"
fi
expect 2 bench m.fx -i 1x4 -o b.dot
says "what kind of picture?"
expect 2 bench m.fx -i 1x4 -o b

unknown_model >u.fx
expect 3 bench u.fx -i 1x3 --rounds 1
says "torch.nope.mystery"
expect 2 bench m.fx -i wrong=1x4
expect 2 bench m.fx --rounds 0 -i 1x4
says "is not a whole number from 1"
expect 2 bench m.fx -i 1x4 --by colour
expect 1 bench missing.fx
finish
