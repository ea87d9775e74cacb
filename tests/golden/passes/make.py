# Writes what PyTorch 1.13's own passes make of small networks: NAME.before.fx is the input of `fxscope opt`,
# NAME.PASS.txt the graph that torch.fx prints behind the pass. Run by hand where PyTorch is; the tests need its files alone.
import operator, sys, torch, torch.fx as fx, torch.nn as nn, torch.nn.functional as F
from torch.fx.experimental import optimization
from torch.fx.experimental.normalize import NormalizeArgs
from torch.fx.passes.dialect.common.cse_pass import CSEPass
from torch.fx.passes.split_module import split_module


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(8)
        self.block = nn.Sequential(nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Dropout(0.1))
        self.shared = nn.Conv2d(8, 8, 1)
        self.bn2 = nn.BatchNorm2d(8)
        self.head = nn.Linear(8, 4)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        y = self.block(x) + x
        z = self.bn2(self.shared(y)) + self.shared(x)
        z = F.max_pool2d(z, 2)
        z = torch.flatten(F.adaptive_avg_pool2d(z, 1), 1)
        return self.head(self.drop(z))


class Repeats(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3))

    def forward(self, x, y):
        a = torch.sin(x) + torch.cos(y)
        b = torch.sin(x) * torch.cos(y)
        c = torch.sum(torch.sin(x), 1) + torch.sum(torch.sin(x), dim=1)
        d = torch.cat([a, b], 1) - torch.cat([a, b], 1)
        return (a + self.w) * (a + self.w), c, d


def write(name, text):
    with open(f"{sys.argv[1]}/{name}", "w") as f:
        f.write(text + "\n")


def dump(name, model):
    model.eval()
    lines = [str(model)]
    for kind, tensors in (("parameter", model.named_parameters()), ("buffer", model.named_buffers())):
        lines += [f"{kind} {n}: {t.dtype}{list(t.shape)}" for n, t in tensors]
    gm = fx.symbolic_trace(model)
    write(f"{name}.before.fx", "\n".join(lines + [str(gm.graph)]))
    return gm


torch.manual_seed(0)
net, repeats = Net(), Repeats()
dump("net", net)
gm = dump("repeats", repeats)
fused = optimization.fuse(net)
write("net.fuse-conv-bn.txt", str(fused.graph))
write("net.remove-dropout.txt", str(optimization.remove_dropout(net).graph))
write("net.normalize-args.txt", str(NormalizeArgs(fx.symbolic_trace(net)).transform().graph))
write("repeats.cse.txt", str(CSEPass()(gm).graph_module.graph))
gm = fx.symbolic_trace(net)
parts = {n.name: i // 5 for i, n in enumerate(n for n in gm.graph.nodes if n.op.startswith("call"))}
split = split_module(gm, net, lambda n: parts[n.name])
write("net.split.txt", "\n".join([str(split.graph)] + [f"{n}\n{m.graph}" for n, m in split.named_children()]))
