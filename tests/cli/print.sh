#!/bin/sh
# print: the text that PyTorch gave comes out again, in each form and from standard input.
. "${0%/*}/lib.sh"

for graph in "$golden"/*.graph.txt; do
    model=${graph##*/}
    model=${model%.graph.txt}
    golden_model "$model" >m.fx
    "$fxscope" print m.fx >out 2>err
    check "$model: the graph is PyTorch's" cmp out "$graph"
    "$fxscope" print m.fx --format modules >out 2>err
    check "$model: the module tree is PyTorch's" cmp out "$golden/$model.modules.txt"
    "$fxscope" print m.fx --format file >again.fx 2>err
    "$fxscope" print - --format file <again.fx >twice.fx 2>err
    check "$model: what 'file' printed reads back as the same" cmp again.fx twice.fx
done

golden_model testmodel >m.fx
sed 's/\[#users=/[num_users=/' "$golden/testmodel.graph.txt" >torch2.txt
expect 0 print m.fx --torch2
check "--torch2 writes num_users" cmp out torch2.txt
expect 0 print torch2.txt
check "and num_users is read" cmp out "$golden/testmodel.graph.txt"
expect 0 print m.fx --format tabular
check "a table has a head, a rule, and a line for each of 14 nodes" test "$(wc -l <out)" -eq 16
check "its columns are print_tabular's" grep -q '^opcode *name *target *args *kwargs$' out
silent
finish
