#!/bin/sh
# draw --color-by, --overlay, --palette, --scale, --show, --edge-shapes: what colours, rows and edges say; a table that
# tells where NaN begins. Needs pictures.
. "${0%/*}/lib.sh"
[ "${FXS_RENDER:-1}" = 1 ] || skip_all "built without pictures"
small_model >m.fx
cat >nan.fx <<'END'
graph():
    %x : [num_users=1] = placeholder[target=x]
    %log : [num_users=1] = call_function[target=torch.log](args = (%x,), kwargs = {})
    %relu : [num_users=1] = call_function[target=torch.relu](args = (%log,), kwargs = {})
    return relu
END

for by in kind family flops params memory time nan; do
    expect 0 draw m.fx -i 1x4 --color-by "$by" -o "$by.svg"
    silent
    check "$by: there is a legend" grep -q 'class="legend"' "$by.svg"
done
expect 0 draw m.fx -i 1x4 --color-by family -o again.svg
check "the same picture again, byte for byte" cmp family.svg again.svg
expect 0 draw "$here/../../samples/resnet18.fx" -i 1x3x32x32 --meta --depth 2 --color-by family -o boxes.svg
check "a module's box has the family of most FLOPs in it" grep -q 'id="node-layer1_0".*family-convolution' boxes.svg
check "and the legend says so" grep -q '>of a module: most FLOPs in it<' boxes.svg
check "what no operator is stays so" grep -q 'id="node-x".*family-none' boxes.svg
for theme in light dark grey; do
    expect 0 draw m.fx -i 1x4 --meta --color-by flops --theme "$theme" -o "$theme.svg" -o "$theme.png" -o "$theme.pdf" \
        -o "$theme.dot"
done
check "themes differ" sh -c '! cmp -s light.svg dark.svg && ! cmp -s light.svg grey.svg'
expect 0 draw m.fx -i 1x4 --meta --color-by memory --palette grey --scale linear -o scale.svg
check "the legend says which scale" grep -q 'memory of the result, linear scale' scale.svg

expect 2 draw m.fx -i 1x4 --meta --color-by time -o no.svg
says "with --meta there are no values"
expect 2 draw m.fx -i 1x4 --meta --color-by nan -o no.svg
expect 2 draw m.fx -i 1x4 --color-by mood -o no.svg
says "'mood' is none of kind, family"
expect 2 draw m.fx -i 1x4 --color-by flops --palette pink -o no.svg
expect 2 draw m.fx -i 1x4 --color-by flops --overlay x.csv -o no.svg
says "give one of them"

expect 0 draw nan.fx -i 2x3 --color-by nan -o nan.svg
check "NaN begins at one node" test "$(grep -c 'nonfinite-first' nan.svg)" -eq 1
check "others have it from there" grep -q 'id="node-relu".*nonfinite-inherited' nan.svg
expect 0 draw nan.fx -i 2x3 --stats -o stats.svg
check "with --stats too" grep -q 'id="node-log".*nonfinite-first' stats.svg
expect 0 table nan.fx -i 2x3 --stats
prints "NaN or Inf begins at log"
expect 0 table nan.fx -i 2x3 --stats --format json
prints '"nonfinite": "begins"'

printf 'node,how much\nlog,1\nrelu,2\n' >own.csv
expect 0 draw nan.fx -i 2x3 --meta --overlay own.csv -o own.svg
check "the heading is the legend's" grep -q 'how much, linear scale' own.svg
check "the largest has the last colour" grep -q 'id="node-relu".*heat-12' own.svg
printf 'log,1\nlgo,2\n' >own.csv
expect 2 draw nan.fx -i 2x3 --meta --overlay own.csv -o no.svg
says "own.csv:2: there is no node 'lgo'"
printf 'log,1\nrelu,much\n' >own.csv
expect 2 draw nan.fx -i 2x3 --meta --overlay own.csv -o no.svg
says "own.csv:2: 'much' is no number for node 'relu'"
printf 'log,1\nlog,2\n' >own.csv
expect 2 draw nan.fx -i 2x3 --meta --overlay own.csv -o no.svg
says "own.csv:2: node 'log' has a number already"
printf 'log,1\n\377\376,2\n' >own.csv
expect 2 draw nan.fx -i 2x3 --meta --overlay own.csv -o no.svg
says "own.csv:2: there is no node '\\xff\\xfe'"
printf 'log,\3771\nrelu,2\nneg,\3771\n' >own.csv
expect 2 draw nan.fx -i 2x3 --meta --overlay own.csv -o no.svg
says "own.csv:3: '\\xff1' is no number for node 'neg'"
check "nothing was drawn" test ! -e no.svg

expect 0 draw m.fx -i 1x4 --meta --show name,target,shape -o show.svg
expect 0 draw m.fx -i 1x4 --meta --rows name,target,shape -o rows.svg
check "--rows is --show" cmp show.svg rows.svg
check "no kind where none is asked for" sh -c '! grep -q ">call_module<" show.svg'
expect 0 draw m.fx -i 1x4 --meta --show=-kind,layer -o less.svg
check "rows are taken away" sh -c '! grep -q ">call_module<" less.svg && ! grep -q "Linear(" less.svg'
expect 0 draw m.fx -i 1x4 --meta --show +memory,-result -o memory.svg
check "one more, one less" sh -c 'grep -q ">memory<" memory.svg && ! grep -q ">result<" memory.svg'
expect 0 draw m.fx -i 1x4 --meta --edge-shapes -o edges.svg -o edges.dot
check "shapes beside edges" grep -q '>1×4<' edges.svg
check "in DOT too" grep -q 'label="1×4"' edges.dot
expect 0 draw m.fx -i 1x4 --meta --color-by flops --edge-shapes -o page.html
check "a page begins in these colours" grep -q '^"colorBy":"flops",' page.html
check "and has shapes beside edges" grep -q '^"1×4"' page.html
check "nothing is said to be missing" sh -c '! grep -q html: err'
finish
