"""A thousand traces in one process: memory and references stay as they are."""
import gc
import sys

import torch
import torch.fx
import torch.nn.functional as F
from tap import main
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.layers = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Dropout(0.1))
        self.scale = nn.Parameter(torch.ones(8))
        self.register_buffer('shift', torch.zeros(8))

    def forward(self, x, flag=None):
        y = F.relu(self.norm(self.conv(x))) * 2
        a, b = y.chunk(2, dim=1)
        y = torch.cat([b, a], 1).mean((2, 3))
        return {'out': self.layers(y * self.scale + self.shift), 'size': x.shape[0]}


class Refused(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x
        return -x


def resident():
    with open('/proc/self/statm') as f:
        return int(f.read().split()[1]) * 4096


def traced():
    m = torch.fx.symbolic_trace(Net())
    return str(m.graph), m.code, m


def grown(work, first, then):
    """What memory, objects and references grow by over `then` calls, after `first` ones."""
    def state():
        gc.collect()
        return len(gc.get_objects()), sum(map(sys.getrefcount, (torch.relu, torch.Tensor, F.relu,
                                                                nn.Linear)))
    for _ in range(first):
        work()
    before, memory = state(), resident()
    for _ in range(then):
        work()
    after = state()
    return resident() - memory, after[0] - before[0], after[1] - before[1]


def test_a_thousand_traces():
    torch.fx.graph_module._SOURCES_KEPT = 20  # what tracebacks show of generated code
    expected = traced()[:2]

    def work():
        assert traced()[:2] == expected
    memory, objects, references = grown(work, 100, 1000)
    assert memory < 4_000_000 and abs(objects) < 50 and abs(references) < 20, \
        (memory, objects, references)


def test_traces_that_are_refused():
    def work():
        try:
            torch.fx.symbolic_trace(Refused())
        except torch.fx.proxy.TraceError:
            return
        raise AssertionError('a branch on a proxy was traced')
    memory, objects, references = grown(work, 50, 300)
    assert memory < 2_000_000 and abs(objects) < 50 and abs(references) < 20, \
        (memory, objects, references)


def test_runs_of_a_traced_module():
    m = traced()[2].eval()

    def work():
        out = m(torch.ones(2, 3, 8, 8))
        assert out['out'].shape == (2, 8) and out['size'] == 2
    memory, objects, references = grown(work, 50, 300)
    assert memory < 4_000_000 and abs(objects) < 50 and abs(references) < 20, \
        (memory, objects, references)


if __name__ == '__main__':
    sys.exit(main(globals()))
