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

# split: parts that begin at nodes or modules, as modules of their own, which the file keeps
cat >blocks.fx <<'END'
M(
  (a): Sequential(
    (0): Linear(in_features=4, out_features=4, bias=True)
    (1): ReLU()
  )
  (b): Linear(in_features=4, out_features=2, bias=True)
)
graph():
    %x : [#users=2] = placeholder[target=x]
    %a_0 : [#users=1] = call_module[target=a.0](args = (%x,), kwargs = {})
    %a_1 : [#users=1] = call_module[target=a.1](args = (%a_0,), kwargs = {})
    %add : [#users=1] = call_function[target=operator.add](args = (%a_1, %x), kwargs = {})
    %b : [#users=1] = call_module[target=b](args = (%add,), kwargs = {})
    return b
END
expect 0 opt blocks.fx --pass split --split-at add --split-at b -i 2x4 -o parts.fx
says "split: 6 nodes became parts 0 to 2"
cat >want.fx <<'END'
graph():
    %x : [#users=2] = placeholder[target=x]
    %submod_0 : [#users=1] = call_module[target=submod_0](args = (%x,), kwargs = {})
    %submod_1 : [#users=1] = call_module[target=submod_1](args = (%submod_0, %x), kwargs = {})
    %submod_2 : [#users=1] = call_module[target=submod_2](args = (%submod_1,), kwargs = {})
    return submod_2
END
check "one call a part" sh -c "grep -A5 '^graph' parts.fx | cmp - want.fx"
check "each part has a graph" test "$(grep -c '^submod_[0-2].graph():' parts.fx)" = 3
expect 0 check parts.fx -i 2x4
expect 0 opt blocks.fx --pass split --split-at a --dump-after split
check "a part that begins with the first call takes everything" sh -c 'test "$(grep -c call_module out)" = 1'
expect 0 opt blocks.fx --pass split --split-at b --pass dead-code -o parts.fx
expect 2 opt blocks.fx --pass split
says "pass split needs --split-at NODE"
expect 2 opt blocks.fx --pass cse --split-at b
says "--split-at is for --pass split"
expect 2 opt blocks.fx --pass split --split-at add --split-at nowhere
says "split at: 'nowhere'"
finish
