#!/bin/sh
# rewrite: a pattern is replaced, the model is written, and how often is said.
. "${0%/*}/lib.sh"

cat >pattern.fx <<'END'
graph():
    %x : [#users=1] = placeholder[target=x]
    %relu : [#users=1] = call_function[target=torch.relu](args = (%x,), kwargs = {})
    return relu
END
cat >replacement.fx <<'END'
R(
  (act): GELU(approximate='none')
)
graph():
    %x : [#users=1] = placeholder[target=x]
    %act : [#users=1] = call_module[target=act](args = (%x,), kwargs = {})
    return act
END
cat >model.fx <<'END'
M(
  (fc): Linear(in_features=4, out_features=2, bias=True)
)
graph():
    %x : [#users=1] = placeholder[target=x]
    %fc : [#users=1] = call_module[target=fc](args = (%x,), kwargs = {})
    %relu : [#users=1] = call_function[target=torch.relu](args = (%fc,), kwargs = {})
    %relu_1 : [#users=1] = call_function[target=torch.relu](args = (%relu,), kwargs = {})
    return relu_1
END
cat >want.fx <<'END'
M(
  (fc): Linear(in_features=4, out_features=2, bias=True)
  (act): GELU(approximate='none')
)
graph():
    %x : [#users=1] = placeholder[target=x]
    %fc : [#users=1] = call_module[target=fc](args = (%x,), kwargs = {})
    %act : [#users=1] = call_module[target=act](args = (%fc,), kwargs = {})
    %act_1 : [#users=1] = call_module[target=act](args = (%act,), kwargs = {})
    return act_1
END
expect 0 rewrite model.fx --pattern pattern.fx --replacement replacement.fx
says "2 matches of the pattern replaced"
check "the new model is printed" cmp out want.fx
expect 0 rewrite model.fx -p pattern.fx -r replacement.fx -o new.fx
prints_nothing
check "-o writes the same" cmp new.fx want.fx
expect 0 check new.fx -i 1x4
expect 0 rewrite new.fx -p pattern.fx -r replacement.fx
says "nothing matches the pattern"
check "and the model comes out as it was" cmp out want.fx

expect 2 rewrite model.fx -p pattern.fx
says "option --replacement is missing"
expect 2 rewrite model.fx -r pattern.fx
says "option --pattern is missing"
expect 1 rewrite model.fx -p nowhere.fx -r replacement.fx
says "nowhere.fx: can't be opened"
sed '/^graph/,$d' want.fx >tree.fx
expect 1 rewrite model.fx -p pattern.fx -r tree.fx
says "tree.fx:5:1: expected a graph"
sed 's/return relu/return (relu, x)/; s/users=1\] = placeholder/users=2] = placeholder/' pattern.fx >two.fx
expect 1 rewrite model.fx -p two.fx -r replacement.fx
says "the pattern returns 2 values, but the replacement 1"
cat >any_relu.fx <<'END'
graph():
    %x : [#users=1] = placeholder[target=x]
    %relu : [#users=1] = call_module[target=class:ReLU](args = (%x,), kwargs = {})
    return relu
END
cat >tanh.fx <<'END'
graph():
    %x : [#users=1] = placeholder[target=x]
    %tanh : [#users=1] = call_function[target=torch.tanh](args = (%x,), kwargs = {})
    return tanh
END
expect 0 rewrite "$here/../../samples/resnet18.fx" --pattern any_relu.fx --replacement tanh.fx
says "17 matches of the pattern replaced"
prints "torch.tanh"
check "no ReLU is left" sh -c '! grep -q "ReLU" out'
finish
