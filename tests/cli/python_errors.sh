#!/bin/sh
# What is wrong with a model file, in one message with its file and line.
. "${0%/*}/lib.sh"

# wrong TEXT...: file.py, which was written, is refused with all these texts
wrong() {
    run table file.py -i 2x4 --meta
    judge 1 "refused: $1"
    prints_nothing
    for text in "$@"; do
        says "$text"
    done
    if [ "$(grep -c '^fxscope: file.py' err)" = 1 ]; then ok "one message"; else not_ok "one message" "$(cat err)"; fi
}
# forward CODE: file.py with that in forward, line 4
forward() {
    printf 'import torch\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        %s\n        return x\n' "$1" >file.py
}

cat >file.py <<'END'
import torch
class Bad(Exception):
    def __str__(self):
        raise ValueError('inner')
class Net(torch.nn.Module):
    def forward(self, x):
        raise Bad()
END
wrong "file.py:7: Bad: (its text can't be told" "raise Bad()" "in Net.forward"
sed -i "s/raise ValueError('inner')/return 3/" file.py
wrong "file.py:7: Bad: (its text can't be told"
forward 'raise NotImplementedError'
wrong "file.py:4: NotImplementedError"
forward 'raise NotImplementedError("later")'
wrong "file.py:4: NotImplementedError: later"
forward 'torch.sparse_coo_tensor(x, 5)'
wrong "file.py:4: torch.sparse_coo_tensor is not supported"
forward 'exec("x = (")'
wrong "file.py:4: SyntaxError: '(' was never closed"
forward 'raise type("Odd", (BaseException,), {})'
wrong "file.py:4: Odd"
forward 'return self.forward(x)'
wrong "file.py:4: RecursionError"
forward 'raise SystemExit(3)'
wrong "file.py:4: SystemExit: 3"
forward 'return x.nothing + torch.nothing'
wrong "file.py:4: AttributeError"
printf 'import torch\nx = 1\n\0\nclass Net(torch.nn.Module): pass\n' >file.py
wrong "file.py:3: the file has a NUL byte"
printf '# -*- coding: nonsense -*-\nimport torch\n' >file.py
wrong "file.py:1: unknown encoding: nonsense"
printf 'import torch\nclass Net(torch.nn.Module):\n  def forward(self, x):\n    return x +\n' >file.py
wrong "file.py:4: invalid syntax" "return x +"
printf 'x = 1\ny = (\n' >helper.py
printf 'import torch\nimport helper\nclass Net(helper.y): pass\n' >file.py
wrong "file.py:2: SyntaxError: '(' was never closed (helper.py, line 2)"
printf 'from no_such_package import Layer\nimport torch\nclass Net(Layer):\n    pass\n' >file.py
wrong "file.py:3: Net derives from no_such_package.Layer, which is not here: --path DIR"
printf 'from no_such_package import Layer\nimport torch\nclass Net(Layer, torch.nn.Module):\n    pass\n' >file.py
wrong "file.py:3: Net derives from no_such_package.Layer"
: >file.py
wrong "file.py: there is no class that derives from torch.nn.Module"

# ---- imports: what is absent can be imported, what is wrong can not ----

net='import torch
class Net(torch.nn.Module):
    def forward(self, x):
        return'
printf 'from collections import OrderedDict, Zork\n%s x\n' "$net" >file.py
wrong "file.py:1: ImportError: cannot import name 'Zork' from 'collections'" "from collections import OrderedDict, Zork"
printf 'import os.nothing\n%s x\n' "$net" >file.py
wrong "file.py:1: ModuleNotFoundError: No module named 'os.nothing'"
printf 'from .nothing import x\n%s x\n' "$net" >file.py
wrong "file.py:1: " "from .nothing import x"
printf 'from helper2 import there\n%s x\n' "$net" >file.py
printf 'from collections import Zork\n' >helper2.py
run table file.py -i 2x4 --meta
judge 1 "an import error in another file"
says "helper2.py:1: ImportError: cannot import name 'Zork'"
printf 'from torch.nn import Linear, LaterLayer\nfrom torch.nn.functional import later\nimport torch.later.part, torchvision.models.later\n%s Linear(4, 3)(x)\n' "$net" >file.py
expect 0 table file.py -i 2x4 --meta
says "file.py:1: fxscope knows nothing of torch.nn.LaterLayer"
says "file.py:2: fxscope knows nothing of torch.nn.functional.later"
sed -i 's/Linear(4, 3)(x)/LaterLayer(4)(x)/' file.py
run table file.py -i 2x4 --meta
judge 1 "a name of a later PyTorch is called"
says "file.py:7: torch.nn.LaterLayer is not supported"
printf 'try:\n    from torch.nn import LaterLayer\nexcept ImportError:\n    LaterLayer = None\n%s x if LaterLayer else x + 1\n' "$net" >file.py
expect 0 table file.py -i 2x4 --meta
prints "operator.add"
mkdir -p folder/part
printf 'def double(x):\n    return x * 2\n' >folder/helpers.py
printf 'from ..helpers import double\n%s double(x)\n' "$net" >folder/part/net.py
expect 0 table folder/part/net.py -i 2x4 --meta
prints "operator.mul"

# ---- modules without end ----

cat >file.py <<'END'
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.part = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Linear(4, 4))
        self.same = self.part[0]
        self.part[1].up = self.part
    def forward(self, x):
        return self.part(x)
END
wrong "file.py:8: Net holds itself: its part part.1.up is part again"
sed -i 's/self.part\[1\].up = .*/for _ in range(3000): self.part = torch.nn.Sequential(self.part)/' file.py
wrong "file.py:8: the modules of Net are nested deeper than Python can go"

run table missing.py -i 2
judge 1 "a file that is not there"
says "missing.py: No such file or directory"
mkdir folder.py
run table folder.py -i 2
judge 1 "a folder"
says "folder.py: Is a directory"

# ---- any expression of the file ----

cat >zoo.py <<'END'
import torch
from torch import nn
models = {'a': nn.Linear(4, 3), 'b': lambda n: nn.Linear(4, n)}
class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(4, width)
    def forward(self, x):
        return self.layer(x)
    @classmethod
    def small(cls):
        return cls(2)
net = Net(3)
def double(x):
    return x + x
class Switched(Net):
    def __init__(self):
        super().__init__(5)
        self.forward = self.training_forward
    def training_forward(self, x, *rest, scale=2, **more):
        return self.layer(x) * scale
class Static(nn.Module):
    @staticmethod
    def forward(x):
        return torch.cat([x, x], 1)
class Called:
    def __call__(self, x, times=3):
        return torch.cat([x] * times)
class Holds(nn.Module):
    forward = Called()
class Plain(nn.Module):
    def __init__():
        pass
class Itself(nn.Module):
    def forward(self, x):
        return self
END
while IFS='|' read -r expression shape; do
    run table "zoo.py:$expression" -i 2x4 --meta
    judge 0 "zoo.py:$expression"
    if grep -q "^output .* $shape " out; then ok "it gives $shape"; else not_ok "it gives $shape" "$(cat out)"; fi
done <<'END'
nn.Linear(4, 5)|\[2, 5\]
models['a']|\[2, 3\]
models['b'](6)|\[2, 6\]
Net(width=7)|\[2, 7\]
Net.small|\[2, 2\]
net|\[2, 3\]
net.layer|\[2, 3\]
double|\[2, 4\]
lambda x: torch.cat([x, x])|\[4, 4\]
net.forward|\[2, 3\]
Switched().training_forward|\[2, 5\]
Switched|\[2, 5\]
Static|\[2, 8\]
Called()|\[6, 4\]
Holds|\[6, 4\]
Net(3).small|\[2, 2\]
__import__('functools').partial(lambda a, b: a * b, b=2)|\[2, 4\]
nn.Sequential(*[nn.Linear(4, 4) for _ in range(2)])|\[2, 4\]
 net # with a comment|\[2, 3\]
END
while IFS='|' read -r expression text; do
    run table "zoo.py:$expression" -i 2x4 --meta
    judge 1 "zoo.py:$expression"
    says "$text"
done <<'END'
nope|name 'nope' is not defined; it has Net, double
[1, 2]|is list, no network
nn|is module, no network
Net|write 'zoo.py:Net(...)' or --arg NAME=VALUE
net.|this is no Python expression
x := net|this is no Python expression
torch.relu|write 'zoo.py:lambda x: torch.relu(x)'
nn.Linear(4)|zoo.py:nn.Linear(4):1: TypeError
Plain|zoo.py:Plain: TypeError: Plain.__init__() takes 0 positional arguments but 1 was given
Itself|zoo.py:Itself: NotImplementedError: the network itself is no value of its graph
END
expect 0 print zoo.py:Switched --strict --format code
prints "return layer"
expect 1 print zoo.py:net.forward --strict
says "zoo.py:net.forward: AssertionError"

# ---- where nodes come from, in code ----

expect 0 print zoo.py:net --format code --verbose -i 2x4
prints "# File: zoo.py:9, code: return self.layer(x)"
expect 0 print zoo.py:double --format code --verbose --torch2 -i 2x4
prints "# File: zoo.py:15 in forward, code: return x + x"

expect 2 draw x.py --max-memory 500M -o x.svg
says "'500M' is not a whole number from 0 to 1073741824"

# ---- a plug-in that is not of this build ----

if command -v cc >/dev/null; then
    mkdir -p other/bin other/lib/fxscope
    cp "$fxscope" other/bin/fxscope
    printf 'struct { int abi; } const old = {1};\nconst void *fxs_python_plugin_get(void) { return &old; }\n' >old.c
    cc -shared -fPIC -o other/lib/fxscope/libfxscope-python.so old.c
    fxscope=$work/other/bin/fxscope
    expect 1 print zoo.py:net
    says "libfxscope-python.so belongs to another version of fxscope"
else
    skip "a plug-in that is not of this build" "there is no C compiler"
fi
finish
