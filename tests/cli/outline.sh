#!/bin/sh
# Outlines as options of draw and table: boxes, equal blocks once, one module, nodes left out, frames.
. "${0%/*}/lib.sh"

cat "$golden/resnet18.modules.txt" "$golden/resnet18.graph.txt" >net.fx

table() { run table net.fx -i 1x3x224x224 --meta --format tsv "$@"; }

table --depth 1
judge 0 "--depth 1"
if [ "$(cut -f1 out | tr '\n' ' ')" = 'x conv1 bn1 relu maxpool layer1 layer2 layer3 layer4 avgpool flatten fc output ' ]; then
    ok "a box for each layer of blocks"
else
    not_ok "a box for each layer of blocks" "$(cut -f1 out | tr '\n' ' ')"
fi
says "4 modules are drawn as one box each"
table --collapse BasicBlock --fold
judge 0 "--collapse and --fold"
says "layer1.0 stands for 2 equal blocks, up to layer1.1, each with weights of its own"
cp out collapsed
table --leaf BasicBlock --fold
judge 0 "--leaf"
if cmp -s out collapsed; then ok "--leaf is --collapse"; else not_ok "--leaf is --collapse" "$(diff out collapsed)"; fi
table --leaf 'layer1.*' --collapse 'layer2.*'
says "4 modules are drawn as one box each"
table --focus layer2.0 --hide relu
judge 2 "a relu that no node is called by"
says "no node matches 'relu' (near: ReLU, add, "
table --focus layer2.0 --hide ReLU
judge 0 "--focus and --hide"
says "2 nodes are left out"
table --collapse nowhere
judge 2 "a pattern that matches nothing"
says "no module that is called matches 'nowhere' (near: "
table --leaf 'BasicBlok*'
judge 2 "a class with a letter less"
says "no module that is called matches 'BasicBlok*' (near: BasicBlock, "
table --depth 1 --expand layr1
judge 2 "a path with a letter less"
says "no module that is called matches 'layr1' (near: layer1, "
run table "$golden/resnet18.graph.txt" -i 1x3x224x224 --meta --fold --depth 2
says "layer1.0 stands for 2 equal blocks, up to layer1.1, whose layers are not in the module tree"
# sizes that vary: ranges in every kind of output, sums over all blocks
cat "$golden/densenet121.modules.txt" "$golden/densenet121.graph.txt" >dense.fx
dense() { run "$1" dense.fx -i 1x3x64x64 --meta "$2" --format "$3"; }
dense table --fold text
judge 0 "a dense block is folded"
says "features.denseblock1.denselayer1 stands for 6 blocks that differ in sizes alone, up to features.denseblock1.denselayer6, each with weights of its own; each gets the results of all before it"
check "the shapes as a range, the parameters of all, for how many" \
    grep -q '\[1, 64…224, 16, 16\] .* 1728 .* 6$' out
prints '55 nodes, 7.979 M parameters, 468.7 MFLOPs'
dense table --fold csv
prints 'features.denseblock1.denselayer1.norm1,"[1, 64…224, 16, 16]"'
dense table --fold tsv
prints 'float32[1, 64…224, 16, 16] stride=(16384…57344, 256, 16, 1)'
dense table --fold json
prints '"layer": "BatchNorm2d(64…224, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)"'
dense table --fold=equal tsv
judge 0 "--fold=equal"
if [ "$(wc -l <out)" = 433 ]; then ok "equal ones alone"; else not_ok "equal ones alone" "$(wc -l <out) nodes"; fi
dense table --fold=sometimes text
judge 2 "a word that --fold does not know"
says "'sometimes' is none of none, auto, equal, similar"
run table net.fx -i 1x3x64x64 --meta --fold=similar
says "layer2 stands for 3 blocks that differ in sizes alone, up to layer4"
# the chance of stochastic depth grows from block to block
cat "$golden/swin_t.modules.txt" "$golden/swin_t.graph.txt" >swin.fx
run table swin.fx -i 1x3x224x224 --meta --fold --format tsv
says "features.5.0 and features.5.1 stand for 3 pairs of blocks that differ in numbers alone, up to features.5.5, each with weights of its own"
run table swin.fx -i 1x3x224x224 --meta --fold=equal --format tsv
says "fold=similar would leave out 76 nodes more, of blocks that differ in numbers"
if [ "${FXS_RENDER:-1}" = 1 ]; then
    run draw dense.fx -i 1x3x64x64 --meta --fold --show +params,flops,stride -o d.svg -o d.html -o d.mmd \
        -o d.graphml -o d.dot -o d.tex -o d.drawio
    judge 0 "every kind of picture of a dense block"
    sed 's/\\ldots{}/…/g; s/{,}/,/g' d.tex >d.t && mv d.t d.tex
    for kind in svg html mmd graphml dot tex drawio; do
        check "$kind has ranges of results and layers" sh -c \
            "grep -q '64…224, 16, 16' d.$kind && grep -q 'BatchNorm2d(64…224' d.$kind"
    done
    sed 's/\\ensuremath{\\times}/×/g' d.tex >d.t && mv d.t d.tex
    for kind in svg mmd graphml dot tex drawio; do
        check "$kind says whose weights they have" grep -q '× 6, own weights' d.$kind
    done
    check "html says whose weights they have" grep -q '^"own"' d.html
    check "what one of them has" grep -q '1,728 (128…448 each)' d.svg
    check "how many results are joined" grep -q '>2…7<' d.svg
    run draw dense.fx -i 1x3x64x64 --meta --fold --depth 3 -o d.mmd
    run draw swin.fx -i 1x3x224x224 --meta --fold --show +args -o s.mmd
    check "a chance that varies is a range" grep -qF '0.07273…0.1455, row, False' s.mmd
    check "a box says what all of them get" \
        grep -qF 'DenseLayer × 6, own weights, 7 nodes<br/>input 2…7 results, float32[1, 32…224, 16, 16]' d.mmd
fi
cat >relus.fx <<'END'
Net(
  (a): Sequential(
    (0): ReLU()
    (1): ReLU()
  )
  (b): Sequential(
    (0): ReLU()
    (1): ReLU()
  )
)
graph():
    %x : [num_users=1] = placeholder[target=x]
    %a_0 : [num_users=1] = call_module[target=a.0](args = (%x,), kwargs = {})
    %a_1 : [num_users=1] = call_module[target=a.1](args = (%a_0,), kwargs = {})
    %b_0 : [num_users=1] = call_module[target=b.0](args = (%a_1,), kwargs = {})
    %b_1 : [num_users=1] = call_module[target=b.1](args = (%b_0,), kwargs = {})
    return b_1
END
expect 0 table relus.fx -i 2x3 --fold
says "a stands for 2 equal blocks, up to b, which have no weights"
cat >twice.fx <<'END'
Net(
  (b): Block(
    (c): Conv2d(3, 3, kernel_size=(1, 1), stride=(1, 1))
    (r): ReLU()
  )
  (p): MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)
)
graph():
    %x : [num_users=1] = placeholder[target=x]
    %b_c : [num_users=1] = call_module[target=b.c](args = (%x,), kwargs = {})
    %b_r : [num_users=1] = call_module[target=b.r](args = (%b_c,), kwargs = {})
    %p : [num_users=1] = call_module[target=p](args = (%b_r,), kwargs = {})
    %b_c_1 : [num_users=1] = call_module[target=b.c](args = (%p,), kwargs = {})
    %b_r_1 : [num_users=1] = call_module[target=b.r](args = (%b_c_1,), kwargs = {})
    return b_r_1
END
expect 0 table twice.fx -i 1x3x8x8 --meta --focus b
says "b is called 2 times; the first call is shown, b#2 is the other"
expect 0 table twice.fx -i 1x3x8x8 --meta --focus 'b#2'
prints "b_r_1"
silent
table --depth 1 --focus layer1 --format tsv
judge 0 "depth counts from what is in focus"
if [ "$(cut -f1 out | tr '\n' ' ')" = 'maxpool layer1_0 layer1_1 output ' ]; then
    ok "a box for each block of the layer"
else
    not_ok "a box for each block of the layer" "$(cut -f1 out | tr '\n' ' ')"
fi
table --focus layer1.7
judge 2 "a module that is not there"
says "no module 'layer1.7' is called that holds nodes of this graph (there are: layer1, layer1.0, layer1.1)"
table --depth 0
judge 2 "a depth of nothing"
if [ "${FXS_RENDER:-1}" = 1 ]; then
    expect 0 draw twice.fx -i 1x3x8x8 --meta --depth 1 -o twice.svg
    if grep -q '>Block, 2 nodes' twice.svg && grep -q '>Block (call 2), 2 nodes' twice.svg; then
        ok "a module used twice is two boxes, and the second says so"
    else
        not_ok "a module used twice is two boxes, and the second says so" \
            "$(grep -o 'Block[^<]*' twice.svg)"
    fi
    expect 0 draw net.fx -i 1x3x224x224 --meta --show name,module -o modules.svg
    if [ "$(grep -c '>layer1\.1 BasicBlock<' modules.svg)" = 7 ]; then
        ok "a text's nodes say their modules, too"
    else
        not_ok "a text's nodes say their modules, too" "$(grep -o '>layer1[^<]*' modules.svg)"
    fi
    run draw net.fx -i 1x3x224x224 --meta --depth 2 --expand layer1.0 --fold -o net.svg
    judge 0 "a picture with frames"
    if grep -q 'layer1.0  *BasicBlock  *× 2' net.svg && grep -q 'BasicBlock, 9 nodes' net.svg; then
        ok "frames and boxes say what they are"
    else
        not_ok "frames and boxes say what they are" "$(grep -o 'BasicBlock[^<]*' net.svg | head)"
    fi
fi
patterns=$here/../../samples/patterns
expect 0 table "$here/../../samples/resnet18.fx" -i 1x3x64x64 --meta --pattern "$patterns/conv_bn_relu.fx" \
    --pattern "$patterns/conv_bn.fx"
says "9 places with the pattern conv_bn_relu are one box each"
says "11 places with the pattern conv_bn are one box each"
prints "conv_bn_relu_8"
expect 1 table m.fx -i 1x4 --pattern no_such.fx
says "no_such.fx"
printf 'Linear()\n' >tree.fx
expect 1 table m.fx -i 1x4 --pattern tree.fx
says "tree.fx:2:1: expected a graph"

# what only the trace knows is in the file: the operator + is in a box by its scope alone
cat >scopes.fx <<'END'
Net(
  (block): Block(
    (lin): Linear(in_features=2, out_features=2, bias=True)
  )
)
graph():
    # in Net
    %x : [#users=1] = placeholder[target=x]
    # in Net > block: Block
    # at net.py:7
    %block_lin : [#users=1] = call_module[target=block.lin](args = (%x,), kwargs = {})
    # at net.py:8
    %add : [#users=1] = call_function[target=operator.add](args = (%block_lin, %block_lin), kwargs = {})
    # in Net
    # at net.py:15
    return add
END
expect 0 print scopes.fx --format file
check "what a file says of scopes and places is written again" cmp out scopes.fx
expect 0 table scopes.fx --depth 1 -i x=1x2 --format csv
check "the operator is in the box" sh -c '! grep -q operator.add out'
sed '/# in/d' scopes.fx >plain.fx
expect 0 table plain.fx --depth 1 -i x=1x2 --format csv
check "without scopes it is not" grep -q operator.add out

finish
