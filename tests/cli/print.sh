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

for model in testmodel unet recurrent; do # others return a type that the printed graph does not tell
    golden_model "$model" >code.fx
    "$fxscope" print code.fx --format code >out 2>err
    { cat "$golden/$model.code.txt" && echo; } >want
    check "$model: the code is PyTorch's, as print shows it" cmp out want
done
expect 0 print "$golden/../code/odd.fx" --format python
check "a Python file" cmp out "$golden/../code/odd.py"
expect 0 print m.fx --format code --verbose -i 1x3x16x16 -i 1x2x8x8
check "--verbose says shapes" grep -q '(x);  x = None  # float32\[1, 4, 16, 16\]$' out
check "and where nodes were traced" grep -q '^        # No stacktrace found' out
check "--verbose is print_readable" grep -qx 'class TestModel(torch.nn.Module):' out
expect 3 print m.fx --format code --verbose
check "without inputs there are none, and the code is there" grep -q 'return add_1$' out
expect 0 print m.fx --format code --torch2
expect 2 print m.fx --verbose
says "--verbose goes with --format code or python"
expect 2 print m.fx --format code -i 1x3x16x16
says "inputs go with --verbose"
expect 2 print m.fx -i 1x3x16x16
says "an input goes with --format code or python"
expect 2 print m.fx --format code --verbose -i 1x3x16x16 -i 1x2x8x8 -i 3
golden_model testmodel >m.fx
expect 0 print m.fx
silent
finish
