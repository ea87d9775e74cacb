#!/bin/sh
# Values that are no plain tensors: named tuples, dataclasses, numpy's arrays, numbers taken out of tensors; functions of the
# file that the graph calls; names of modules that are no words of Python.
. "${0%/*}/lib.sh"

# row NAME TARGET SHAPE: the last table has that row
row() {
    if grep -q "^[a-z_]* *$1 *$2 *$3 " out; then ok "$1 is $3"; else not_ok "$1 is $3" "$(grep " $1 " out; head -3 err)"; fi
}

cat >structures.py <<'END'
from collections import namedtuple
from dataclasses import dataclass, field
from typing import NamedTuple
import torch
from torch import fx, nn

Pair = namedtuple('Pair', 'first second')


class Scores(NamedTuple):
    logits: torch.Tensor
    hidden: torch.Tensor = None


@dataclass
class Output:
    logits: torch.Tensor
    extra: list = field(default_factory=list)
    hidden: torch.Tensor = None


class Named(nn.Module):
    def forward(self, x):
        return Scores(x.sum(1), x * 2)


class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.named = Named()

    def forward(self, x):
        scores = self.named(x)
        return {'pair': Pair(scores.logits, scores.hidden), 'all': scores}


class Data(nn.Module):
    def forward(self, x):
        return Output(logits=x.sum(1), extra=[x, x + 1])


@fx.wrap
def measured(x):
    if x.shape[0] > 1:
        x = torch.cat([x, x])
    return Scores(x, x.sum(0))


@fx.wrap
def kept(x):
    return x[x > 0]


@fx.wrap
def broken(x):
    raise ValueError('no good')


class Wrapped(nn.Module):
    def forward(self, x):
        m = measured(x)
        return m.logits + m.hidden, kept(m.logits)


class Broken(nn.Module):
    def forward(self, x):
        return broken(x) + 1
END
expect 0 table structures.py:Named -i 2x4
row scores structures.Scores '(\[2\], \[2, 4\])'
if [ "${FXS_RENDER:-1}" = 1 ]; then
    expect 0 draw structures.py:Named -i 2x4 -o named.svg
    check "the picture has a row for each field" sh -c "grep -q '>logits<' named.svg && grep -q '>hidden<' named.svg"
fi
expect 0 table structures.py:Nested -i 2x4 --meta
row output output "{'pair': (\[2\], \[2, 4\]), 'all': (\[2\], \[2, 4\])}"
expect 0 table structures.py:Data -i 2x4
row output_1 output '(\[2\], \[\[2, 4\], \[2, 4\]\], None)'
expect 1 table structures.py:Data -i 2x4 --strict
says "NotImplementedError: argument of type: <class 'structures.Output'>"
expect 0 table structures.py:Wrapped -i 2x4
row measured structures.measured '(\[4, 4\], \[4\])'
row add operator.add '\[4, 4\]'
expect 3 table structures.py:Wrapped -i 2x4 --meta
row add operator.add '\[4, 4\]'
says "without --meta it would have values"
expect 3 table structures.py:Broken -i 2x4
says "structures.py:56: ValueError: no good"
silent_nodes=$(grep -c ' ? ' out)
check "what needs it is left empty" test "$silent_nodes" = 3

# Layers that the library has no row for run in Python.
cat >lazy.py <<'END'
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.head = nn.LazyConv2d(4, 3), nn.LazyLinear(5)
    def forward(self, x):
        return self.head(self.conv(x).flatten(1))
END
expect 0 table lazy.py -i 2x3x8x8
row conv conv '\[2, 4, 6, 6\]'
row head head '\[2, 5\]'

# ---- the seat belt holds for such functions too ----

cat >late.py <<'END'
import torch
from torch import fx, nn
@fx.wrap
def writes(x):
    open('made', 'w')
    return x
@fx.wrap
def hangs(x):
    while True:
        pass
class Writes(nn.Module):
    def forward(self, x):
        return writes(x)
class Hangs(nn.Module):
    def forward(self, x):
        return hangs(x)
END
expect 3 table late.py:Writes -i 2
says "a model file may not write or remove files"
check "nothing was written" test ! -e made
expect 3 table late.py:Hangs -i 2 --timeout 1.5
says "the time limit was reached"

# ---- numbers ----

cat >numbers.py <<'END'
import numpy as np
import torch
from torch import nn


class Items(nn.Module):
    def forward(self, x, n):
        k = n.max().item()
        scale = float(x.mean()) + int(n.sum()) + round(x.sum().item(), 2)
        return x[:, :k] * scale + n.tolist()[0]


class Lists(nn.Module):
    def forward(self, x, n):
        return torch.stack([x[i, :k].sum() for i, k in enumerate(n.tolist())])


class Arrays(nn.Module):
    def forward(self, x, n):
        values = x.detach().cpu().numpy()
        mask = torch.from_numpy(np.asarray(n) > 2)
        return x * float(values.mean()) * mask[:, None]
END
asan=$ASAN_OPTIONS # numpy keeps memory until the process ends
ASAN_OPTIONS=$asan:detect_leaks=0
for class in Items Lists Arrays; do
    expect 0 table numbers.py:$class -i 2x4 -i 2:int64:3..3
    says "traced with values of"
done
ASAN_OPTIONS=$asan
expect 0 table numbers.py:Arrays -i 2x4 -i 2:int64:3..3 --isolated
says "numpy is not installed: a stand-in"
row output output '\[2, 4\]'

# ---- names ----

cat >names.py <<'END'
import torch
from torch import nn


class Odd(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleDict({'a-b': nn.Linear(4, 4), '3x3': nn.Linear(4, 4), 'q"t': nn.ReLU(), "it's": nn.ReLU(),
                                    'for': nn.ReLU(), 'sp ace': nn.ReLU(), 'ü': nn.ReLU(), 'a): b(': nn.ReLU(),
                                    '<&>': nn.ReLU()})
        self.add_module('odd-name', nn.Linear(4, 2))
        self.scales = nn.ParameterDict({'x y': nn.Parameter(torch.ones(2))})
        self.register_buffer('bu-f', torch.ones(2))

    def forward(self, x):
        for part in self.parts.values():
            x = part(x)
        return getattr(self, 'odd-name')(x) * self.scales['x y'] + getattr(self, 'bu-f')
END
expect 0 table names.py -i 2x4 --meta
row parts_q_t 'parts.q"t' '\[2, 4\]'
row output output '\[2, 2\]'
expect 0 print names.py --format code
prints 'parts_a_b = getattr(self.parts, "a-b")(x);  x = None'
prints 'scales_x_y = getattr(self.scales, "x y")'
if [ "${FXS_RENDER:-1}" = 1 ]; then
    expect 0 draw names.py -i 2x4 --rows +module -o names.svg
    check "the picture is XML" sh -c 'command -v xmllint >/dev/null || exit 0; xmllint --noout names.svg'
fi
cat >grids.py <<'END'
import torch
from torch import nn
class Grids(nn.Module):
    def forward(self, x, y):
        return torch.meshgrid([x, y]), torch.meshgrid(x, y), torch.meshgrid((x, y), indexing='xy')
END
expect 0 print grids.py
prints '%meshgrid : [#users=1] = call_function[target=torch.meshgrid](args = ([%x, %y],), kwargs = {})'
prints '%meshgrid_1 : [#users=1] = call_function[target=torch.functional.meshgrid](args = (%x, %y), kwargs = {indexing: None})'
prints '%meshgrid_2 : [#users=1] = call_function[target=torch.meshgrid](args = ((%x, %y),), kwargs = {indexing: xy})'
expect 0 table grids.py -i 2 -i 3 --meta
# ---- a network is drawn as it is used, in whichever way it was traced ----

cat >mode.py <<'END'
import torch
import torch.nn.functional as F
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(4)
    def forward(self, x, deep=False):
        assert not self.norm.training
        b = [size for size in x.shape][0]
        return F.dropout(self.norm(x), 0.5, self.training)
END
run print mode.py -i 2x4
judge 0 "with values"
says "traced with values"
prints "training: False"
sed -i 's/b = .*/b = int.__mul__(x.shape[0], 2)/' mode.py
run print mode.py -i 2x4
judge 0 "with sizes"
says "traced with sizes"
prints "training: False"
printf 'import torch, torchvision\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x * 2 if torchvision._is_tracing() else x + 1\n' >tracing.py
run print tracing.py
judge 0 "torch.jit traces nothing"
prints "operator.add"
finish
