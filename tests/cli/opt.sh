#!/bin/sh
# opt: passes are run in order, graphs dumped, the model written, and what a file can't keep is said.
. "${0%/*}/lib.sh"

cat >model.fx <<'END'
M(
  (conv): Conv2d(1, 2, kernel_size=(3, 3), stride=(1, 1), bias=False)
  (bn): BatchNorm2d(2, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)
  (drop): Dropout(p=0.5, inplace=False)
)
graph():
    %x : [#users=1] = placeholder[target=x]
    %conv : [#users=1] = call_module[target=conv](args = (%x,), kwargs = {})
    %bn : [#users=1] = call_module[target=bn](args = (%conv,), kwargs = {})
    %drop : [#users=2] = call_module[target=drop](args = (%bn,), kwargs = {})
    %a : [#users=1] = call_function[target=torch.sin](args = (%drop,), kwargs = {})
    %b : [#users=1] = call_function[target=torch.sin](args = (%drop,), kwargs = {})
    %c : [#users=1] = call_function[target=torch.add](args = (%a, %b), kwargs = {})
    return c
END
cat >want.fx <<'END'
M(
  (conv): Conv2d(1, 2, kernel_size=(3, 3), stride=(1, 1))
)
graph():
    %x : [#users=1] = placeholder[target=x]
    %conv : [#users=1] = call_module[target=conv](args = (%x,), kwargs = {})
    %a : [#users=1] = call_function[target=torch.sin](args = (%conv,), kwargs = {})
    %c : [#users=1] = call_function[target=torch.add](args = (%a, %a), kwargs = {})
    return c
END
expect 0 opt model.fx --pass fuse-conv-bn --pass remove-identity --pass cse --pass dead-code -i 1x1x5x5
check "the model is printed" cmp out want.fx
says "fuse-conv-bn: 8 nodes became 7"
says "cse: 6 nodes became 5"
says "dead-code: there was nothing to do"
says "2 tensors have values that were given or computed, which a model file can't keep"
expect 0 check want.fx -i 1x1x5x5

expect 0 opt model.fx -p cse --dump-after cse
check "a dump is the graph alone" sh -c 'head -1 out | grep -qx "graph():"'
expect 0 opt model.fx -p cse -p dead-code --dump-after cse -o new.fx
check "with -o both are there" sh -c 'grep -q "^M(" new.fx && ! grep -q "^M(" out'
expect 3 opt model.fx -p cse -i 1x1x2x2 -o new.fx
says "conv"

expect 2 opt model.fx
says "no pass is given"
expect 2 opt model.fx --pass nonsense
says "'nonsense' is none of dead-code"
expect 2 opt model.fx --pass cse --dump-after nonsense
expect 2 opt model.fx --pass cse -i y=1x1x5x5 -o new.fx
for pass in dead-code cse constant-fold fuse-conv-bn remove-identity normalize-args legalize unused-modules; do
    expect 0 opt model.fx --pass $pass -i 1x1x5x5 -o $pass.fx
    expect 0 check $pass.fx -i 1x1x5x5
done
finish
