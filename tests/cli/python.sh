#!/bin/sh
# Python source as a model: which network, which arguments, how it is traced, what the file may do, and what is said when
# something is wrong.
. "${0%/*}/lib.sh"

cat >net.py <<'E2'
import torch
from torch import nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv2d(c, c, 3, padding=1)

    def forward(self, x):
        return F.relu(self.conv(x)) + x


class Net(nn.Module):
    def __init__(self, width=8, classes=10):
        super().__init__()
        self.blocks = nn.ModuleList([Block(width) for _ in range(2)])
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean((2, 3)))


def small():
    return Net(4, 2)
E2
cat >want <<'E2'
graph():
    %x : [#users=2] = placeholder[target=x]
    %blocks_0_conv : [#users=1] = call_module[target=blocks.0.conv](args = (%x,), kwargs = {})
    %relu : [#users=1] = call_function[target=torch.nn.functional.relu](args = (%blocks_0_conv,), kwargs = {inplace: False})
    %add : [#users=2] = call_function[target=operator.add](args = (%relu, %x), kwargs = {})
    %blocks_1_conv : [#users=1] = call_module[target=blocks.1.conv](args = (%add,), kwargs = {})
    %relu_1 : [#users=1] = call_function[target=torch.nn.functional.relu](args = (%blocks_1_conv,), kwargs = {inplace: False})
    %add_1 : [#users=1] = call_function[target=operator.add](args = (%relu_1, %add), kwargs = {})
    %mean : [#users=1] = call_method[target=mean](args = (%add_1, (2, 3)), kwargs = {})
    %head : [#users=1] = call_module[target=head](args = (%mean,), kwargs = {})
    return head
E2
expect 0 print net.py
check "the one network that no other uses is traced" cmp want out
silent
expect 0 print net.py:Net
check "or the one that is named" cmp want out
expect 0 print 'net.py:Net(width=16)' --format modules
prints "Conv2d(16, 16, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))"
expect 0 print net.py:Net --arg width=4 --arg classes=3 --format modules
prints "(head): Linear(in_features=4, out_features=3, bias=True)"
expect 0 print net.py:small --format modules
prints "(head): Linear(in_features=4, out_features=2, bias=True)"
expect 0 table net.py -i 1x8x6x6 --meta
prints "[1, 10]"
expect 1 print net.py:Nowhere
says "net.py: name 'Nowhere' is not defined; it has Block, Net, small"
expect 1 print 'net.py:Net('
says "this is no Python expression"
expect 1 print net.py --arg width
says "--arg 'width' is no NAME=VALUE"
expect 1 print nowhere.py
says "nowhere.py: No such file or directory"
printf 'import torch\nclass A(torch.nn.Module): pass\nclass B(torch.nn.Module):\n    def __init__(self, n): pass\n' >two.py
expect 1 print two.py
says "which network?"
says "B(n)"
echo 'x = 3' >none.py
expect 1 print none.py
says "there is no class that derives from torch.nn.Module"

# ---- how it is traced ----

cat >depends.py <<'E2'
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        if x.shape[0] > 1:
            x = x * 2
        return x + 1
E2
expect 1 print depends.py
says "depends.py:6: TraceError: symbolically traced variables cannot be used as inputs to control flow"
says "if x.shape[0] > 1:"
says "in Net.forward"
says "with example inputs"
expect 0 print depends.py -i 3x2
prints "operator.mul"
expect 0 table depends.py -i 3x2 --meta
says "since a plain trace fails: depends.py:6:"
prints "operator.mul"
expect 0 table depends.py -i 1x2 --meta --trace concrete
if grep -q 'operator.mul\|getattr' out; then not_ok "a concrete trace has plain sizes"; else ok "a concrete trace has plain sizes"; fi
expect 1 table depends.py -i 1x2 --meta --trace plain
expect 1 table depends.py -i 1x2 --meta --symbolic
expect 0 table depends.py -i 1x2 --meta --concrete
if grep -q 'operator.mul\|getattr' out; then not_ok "--concrete has plain sizes"; else ok "--concrete has plain sizes"; fi
expect 2 table depends.py -i 1x2 --meta --concrete --trace plain
says "of --symbolic, --concrete and --trace one is enough"
expect 2 table depends.py --trace somehow

# ---- what it may do ----

# refused TEXT CODE: a file that runs the code in its constructor
refused() {
    printf 'import os, socket, torch\nclass Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        %s\n    def forward(self, x):\n        return x\n' "$2" >file.py
    rm -f made
    expect 1 table file.py -i 1 --meta ${3:+$3} ${4:+$4}
    says "file.py:5: "
    says "$1"
    prints_nothing
    if [ -e made ]; then not_ok "nothing was written"; else ok "nothing was written"; fi
}
refused "ValueError: no good" 'raise ValueError("no good")'
refused "AttributeError: " 'self.nothing()'
mkdir -p elsewhere
printf 'import os, torch\nclass Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        os.chdir("elsewhere")\n    def forward(self, x):\n        return x + 1\n' >moves.py
expect 0 draw moves.py -i 1 --meta -o moved.dot
check "outputs stay where they were asked for" test -e moved.dot
expect 1 table depends.py -i 3x2 --meta --strict
says "depends.py:6:"
cat >shapes.py <<'E2'
import torch
class Block(torch.nn.Module):
    def forward(self, x):
        return x.view(7, 7)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
    def forward(self, x):
        return self.block(x)
E2
expect 3 table shapes.py:Net -i 2x3 --meta
says "shapes.py:4: while running %view"
says "in Block, module path 'block'"
expect 1 draw file.py -i 1 -o picture.svg
check "no picture is left" test ! -e picture.svg
echo 'import torch
handle = open("made", "w")
class Net(torch.nn.Module):
    def forward(self, x):
        return x' >writes.py
expect 0 table writes.py -i 1 --meta --allow write
check "--allow lets it" test -e made
printf 'class Net(:\n' >syntax.py
expect 1 print syntax.py
says "syntax.py:1: invalid syntax"
printf 'import torch, no_such_package.part\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return no_such_package.part.f(x)\n' >lacks.py
expect 1 print lacks.py
says "no_such_package"
printf 'import torch\nprint("not a graph")\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n' >chatty.py
run print chatty.py
if [ "$(head -1 out)" = "graph():" ]; then ok "what a file prints is not in the output"; else not_ok "what a file prints is not in the output" "$(head -2 out)"; fi

# ---- what it uses ----

cat >uses.py <<'E2'
import torch
import torch.nn.functional as F
def f(x):
    return F.relu(torch.sparse_coo_tensor(x, 512)) + torch.no_such_name
E2
expect 3 check uses.py
prints "uses.py:4: torch.sparse_coo_tensor: not supported"
prints "uses.py:4: torch.no_such_name: not a name of PyTorch"
prints "3 names of torch, 1 supported, 2 not"
expect 0 check net.py
expect 1 check syntax.py

if [ "${FXS_RENDER:-1}" = 1 ]; then
    expect 0 draw 'net.py:Net(width=4)' -i 1x4x8x8 -o net.svg
    check "a picture with the shapes" grep -q '1, 4, 8, 8' net.svg
fi
finish
