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

"$fxscope" table m.fx -i x=1x4 --format csv --meta >a
"$fxscope" table m.fx -i 1x4 --format csv --meta --threads 2 >b
check "named inputs and threads change nothing" cmp a b
expect 0 table m.fx -i 1x4 --format csv --meta -o written.csv
prints_nothing
check "-o writes the same" cmp a written.csv
expect 0 table m.fx -i 1x4 --format csv --meta -o -
check "-o - prints the same" cmp a out
finish
