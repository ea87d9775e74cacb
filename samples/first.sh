#!/bin/sh
# usage: first.sh PROGRAM MODEL SOURCE PAGE
echo 1..2
"$1" "$2" | grep -q '^    tanh = torch.tanh(main_1);  main_1 = None$' || printf 'not '
echo "ok 1 - each sigmoid is a tanh"
sed '1,/^ .*\*\/$/d' "$3" >"${TMPDIR:-/tmp}/first-$$.c"
sed -n '/^```c$/,/^```$/{/^```/!p}' "$4" | diff "${TMPDIR:-/tmp}/first-$$.c" - || printf 'not '
echo "ok 2 - the page shows the program"
rm -f "${TMPDIR:-/tmp}/first-$$.c"
