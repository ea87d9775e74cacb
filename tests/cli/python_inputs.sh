#!/bin/sh
# Inputs that are lists, tuples and dicts; and that the run has the very numbers that the trace had.
. "${0%/*}/lib.sh"
cat >net.py <<'END'
import torch
from torch import nn


class Batch(nn.Module):
    def forward(self, batch, pair=None):
        if batch['ids'].shape[0] > 1:
            x = batch['x'] * 2
        else:
            x = batch['x']
        a, b = pair
        return {'y': x.sum(1) + batch['ids'].sum(1), 'p': a + b, 'deep': batch['deep'][0]['k'] * batch['n'],
                'text': [batch['text'], batch[7], batch['two words']]}


class Plain(nn.Module):
    def forward(self, batch, pair):
        return batch['x'] + pair[0]


class Keywords(nn.Module):
    def forward(self, **batch):
        return batch['x'] + batch['ids']


class Many(nn.Module):
    def forward(self, feats):
        return torch.cat(feats, 1), [f * 2 for f in feats]


class Same(nn.Module):
    """What the trace decides by data must hold for the data of the run."""
    def forward(self, x, batch, *more):
        n = batch['n'].tolist()
        return torch.stack([x[i, :k].sum() for i, k in enumerate(n)]) + x[:, :batch['n'].max().item()].sum() * \
            (x * (torch.arange(9)[None] < batch['n'][:, None])).sum(1) + more[0][:more[1].item()].sum() + \
            torch.ones(n[0] * n[1]).view(n).sum()
END
# output SHAPE: of the last table
output() {
    if grep -qF " $1 " out && ! grep -q ' ? ' out; then ok "it gives $1"; else not_ok "it gives $1" "$(cat out err)"; fi
}
expect 0 table net.py:Batch --meta -i "batch={ids: 2x3:int64:1..4, \"x\": 2x3, deep: [{k: 2}], n: int:3, text: str:'a, b}', \
7: none, 'two words': bool:true}" -i 'pair=(2x2,2x2)'
output "{'y': [2], 'p': [2, 2], 'deep': [2], 'text': ['a, b}', None, True]}"
expect 0 table net.py:Plain -i '{x: 2x3}' -i '[3, none, str:text]'
output "[3]"
expect 0 table net.py:Plain -i 'pair=(3,)' -i 'batch={x:2x3:float64:0..1,}' --trace concrete
expect 0 table net.py:Keywords -i 'batch={x: 2x3, ids: 2x3}'
expect 0 table net.py:Many -i '[2x3,2x4]'
output "([2, 7], [[2, 3], [2, 4]])"
for seed in 1 2 3 4 5; do
    expect 0 table net.py:Same -i 2x9 -i '{n: 2:int64:2..3}' -i 9 -i scalar:int64:1..8 --seed $seed
done
# Names in any script.
cat >names.py <<'END'
import torch


class Größe(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.слой = torch.nn.Linear(4, 3)
        self.名 = torch.nn.ReLU()

    def forward(self, 入力):
        return self.名(self.слой(入力))
END
expect 0 table names.py -i 入力=2x4
output "[2, 3]"
expect 0 print names.py --format file
prints "Größe("
cp out names.fx
expect 0 table names.fx -i 入力=2x4
output "[2, 3]"
# A model file without Python takes them too.
cat >sums.fx <<'END'
graph():
    %batch : [#users=2] = placeholder[target=batch]
    %getitem : [#users=1] = call_function[target=operator.getitem](args = (%batch, a), kwargs = {})
    %getitem_1 : [#users=1] = call_function[target=operator.getitem](args = (%batch, b), kwargs = {})
    %add : [#users=1] = call_function[target=operator.add](args = (%getitem, %getitem_1), kwargs = {})
    return add
END
expect 0 table sums.fx -i '{a: 2x1, b: 3}'
output "[2, 3]"
expect 3 table sums.fx -i '{a: 2x1}'

while IFS='|' read -r spec text; do
    expect 2 table sums.fx -i "$spec"
    says "$text"
done <<'END'
{a: 2|a bracket does not end
{a: 2, a: 3}|a key is there twice
{a 2}|a key has no ':' behind it
{: 2}|a key is missing
{a: 2q}|its shape can't be read
{a: }|its shape is empty
{'a: 2}|a quote does not end
{a: str:'x}|a quote does not end
[2, 3)|a bracket does not end
[2] 3|something is behind its last bracket
[2]]|something is behind its last bracket
[,]|its shape is empty
batch=[|its shape is empty
[[[[[[[[[[[[[[[[[[[[[[[[2]]]]]]]]]]]]]]]]]]]]]]]]|nested too deeply
END
for spec in '[' '{' '(' '[]' '()' '{}' '[[]]' '{a:[]}' "{'':2}" '[str:]' '[@]' '[int:]' '[none,none]' '{1:2,-1:3}'; do
    run table sums.fx -i "$spec"
    check "-i $spec: no crash" test "$status" -ge 1 -a "$status" -le 3
    check "-i $spec: with a message" only_messages
done
finish
