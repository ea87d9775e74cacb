#!/bin/sh
# check, and what table says of models that are not well: mismatched shapes, unknown operators, missing inputs.
. "${0%/*}/lib.sh"
small_model >m.fx
mismatch_model >mismatch.fx
unknown_model >unknown.fx

expect 0 check m.fx -i 1x4
silent
prints_nothing

expect 3 check mismatch.fx -i 1x512
says "mismatch.fx: %fc: "
says "100"
check "one line an issue" test "$(wc -l <err)" -eq 1
expect 3 table mismatch.fx -i 1x512
says "fxscope: while running %fc : [#users=1] = call_module[target=fc](args = (%x,), kwargs = {})"
says "  linear: "
says "fxscope: note: 2 nodes"
prints "fc"

expect 3 check unknown.fx -i 1x2
check "four unknown nodes are four lines" test "$(wc -l <err)" -eq 4
expect 3 table unknown.fx -i 1x2
says "unknown operator torch.nope.mystery, 2 nodes, the first: %a : "
says "unknown layer Mystery: %c : "
says "unknown method mystify: %d : "

expect 3 check m.fx
says "'x'"
expect 3 table m.fx
says "no input is given for x: add -i x=SHAPE"
golden_model testmodel >t.fx
expect 3 table t.fx
says "no input is given for x, y: add -i NAME=SHAPE for each"
expect 3 table t.fx -i x=1x3x16x16
says "no input is given for y: "
expect 2 check m.fx -i 1x4 -i 1x4
says "one too many"
expect 2 check m.fx -i z=1x4
says "no input 'z'"
expect 2 check m.fx -i x=1x4 -i x=1x4
says "given twice"

# A graph whose modules are not there is printed, and complained of.
expect 0 print "$golden/testmodel.graph.txt"
expect 3 check "$golden/testmodel.graph.txt" -i 1x3x16x16 -i 1x2x8x8

# Many failures are cut short; the report is of the first five.
{
    echo 'graph():'
    echo '    %x : [#users=9] = placeholder[target=x]'
    for i in 1 2 3 4 5 6 7 8 9; do
        echo "    %r_$i : [#users=1] = call_function[target=torch.nope_$i](args = (%x,), kwargs = {})"
    done
    echo '    return (r_1, r_2, r_3, r_4, r_5, r_6, r_7, r_8, r_9)'
} >many.fx
expect 3 table many.fx -i 1
says "and 4 more unknown nodes"
sed 's/target=torch.nope_[1-9]/target=torch.matmul/' many.fx >many_failed.fx
expect 3 table many_failed.fx -i 1
says "and 4 more failed nodes"

# Names can't steer a terminal.
printf 'graph():\n    %%x : [#users=1] = placeholder[target=x]\n    return x\n' >esc.fx
expect 2 table esc.fx -i "$(printf '\033[31m')=1"
check "control characters are shown, not sent" sh -c "! grep -q '$(printf '\033')' err"
expect 2 table esc.fx -i "$(printf 'a\302\233b\342\200\256c\377d\303\251')=1"
check "nor are those of terminals, of the direction of writing, and bytes that are no UTF-8" \
    grep -qF "$(printf 'a\\x9bb\\u202ec\\xffd\303\251')" err
finish
