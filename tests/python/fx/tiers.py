"""Tests of traces that know what every node computes for example inputs, and of the way from
Python's graphs to the library's. Prints TAP."""
import gc
import os
import resource
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))

import _fxscope
import torch
import torch.nn as nn
import torch.nn.functional as F
from tap import main, raises
from torch.fx import Tracer, symbolic_trace
from torch.fx._hints import HintedTracer, trace
from torch.fx.proxy import TraceError


class Attention(nn.Module):
    """Loops over a proxy, unpacks a shape, decides by a size."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(8, 24)

    def forward(self, x, mask=None):
        b, n, c = x.shape
        q, k, v = map(lambda t: t * 2, self.qkv(x).reshape(b, n, 3, c).permute(2, 0, 1, 3))
        if n > 4:
            v = v + 1
        if mask is not None:
            v = v * mask
        return (q @ k.transpose(-2, -1)).softmax(-1) @ v


def lines(graph):
    return [line.strip() for line in str(graph).split('\n')[1:]]


def test_a_plain_trace_refuses_what_a_hinted_one_answers():
    raises(TraceError, symbolic_trace, Attention(), text='control flow')
    gm, tier, why = trace(Attention(), (torch.rand(2, 5, 8),), build=Attention)
    assert tier == 'hinted' and why[0][0] == 'plain'
    names = [n.name for n in gm.graph.nodes if n.op == 'placeholder']
    assert names == ['x'], names  # the default of mask is used
    x = torch.rand(2, 5, 8)
    assert gm(x).equal(Attention.forward(gm, x))  # gm has the layer that forward calls


def test_a_hinted_trace_is_the_plain_one_where_that_succeeds():
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 2))
    plain = str(Tracer().trace(model))
    assert plain == str(HintedTracer((torch.rand(1, 3, 8, 8),)).trace(model))


def test_sizes_leave_no_nodes_in_a_concrete_trace():
    gm, tier, _ = trace(Attention(), (torch.rand(2, 5, 8),), tier='concrete')
    shown = lines(gm.graph)
    assert tier == 'concrete' and not any('getattr' in line for line in shown), shown
    assert any('reshape' in line and '2, 5, 3, 8' in line for line in shown), shown


def test_weights_are_not_read_for_shapes():
    class Wide(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(20000, 20000)

        def forward(self, x):
            y = self.a(x)
            return y * y.shape[1] if len(y) == 1 else y
    model = Wide()
    gm, tier, _ = trace(model, (torch.rand(1, 20000),), build=lambda: model)
    assert tier == 'hinted' and [n for n in gm.graph.nodes if n.name == 'a'][0]._hint.shape == (
        1, 20000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 800_000  # KiB; the weight has 1.6 GB


def test_data_decides_where_it_is_asked():
    def f(x):
        return x + 1 if x.sum() > 0 else x - 1
    names = [[n.name for n in HintedTracer((value,)).trace(f).nodes][3]
             for value in (torch.ones(3), -torch.ones(3))]
    assert names == ['add', 'sub'], names


def test_trees_of_inputs():
    def f(d, *xs):
        for _, v in d.items():
            xs = xs + (v,)
        return torch.cat(list(xs))
    graph = HintedTracer(({'a': torch.ones(2), 'b': torch.ones(3)}, torch.ones(4))).trace(f)
    assert lines(graph)[-1] == 'return cat'
    assert [n for n in graph.nodes if n.name == 'cat'][0]._hint.shape == (9,)


def test_what_is_not_known_is_said():
    def f(x, y):
        return x if y > 0 else -x
    raises(TraceError, HintedTracer((torch.ones(1),)).trace, f, text='no example input for y')


def test_proxies_in_factories_are_recorded():
    def f(x):
        y = torch.zeros(x.size(0), 2)
        x[0] = 1
        return torch.arange(x.shape[1]) + F.pad(x, [x.dim(), 1]), y[:x.size(0)]
    shown = lines(symbolic_trace(f).graph)
    for piece in ('torch.zeros](args = (%size, 2)', 'operator.setitem](args = (%x, 0, 1)',
                  'torch.arange](args = (%getitem,)', 'pad](args = (%x, [%dim, 1])'):
        assert any(piece in line for line in shown), (piece, shown)
    before = _fxscope.set_strict(True)
    try:
        raises(TypeError, symbolic_trace, f, text='zeros()')
        raises(TypeError, symbolic_trace, lambda x: torch.add(x, print),
               text="argument 'other' (position 2) must be Tensor, not builtin_function_or_method")
    finally:
        _fxscope.set_strict(before)


def test_modules_that_forward_makes_or_slices():
    class Parts(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2))

        def forward(self, x):
            first, rest = self.body[0], self.body[1:]
            return nn.ReLU()(rest(first(x)) + nn.Softmax(-1)(x)[:, :2])
    x = torch.rand(3, 4)
    raises(NameError, symbolic_trace, Parts(), text='not installed as a submodule')
    root = Parts()
    gm, tier, _ = trace(root, (x,))
    assert tier == 'hinted' and gm(x).equal(root(x))
    targets = [n.target for n in gm.graph.nodes if n.op == 'call_module']
    assert targets == ['body.0', 'body.1', 'body.2', '_softmax_0', '_relu_0'], targets


def test_what_forward_puts_into_attributes():
    class Cache(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.arange(4.)
            self.register_buffer('seen', torch.zeros(4))

        def forward(self, x):
            self.table = self.table.to(x)
            self.seen = self.seen + x.sum(0)
            return x * self.table + self.seen
    root, x = Cache(), torch.rand(2, 4)
    gm, _, _ = trace(root, (x,), tier='hinted')
    assert isinstance(root.table, torch.Tensor) and not root.seen.any()
    assert gm(x).allclose(x * torch.arange(4.) + x.sum(0))


def test_a_root_that_can_be_built_once():
    rows = [[4, 4]]

    class Once(nn.Module):
        def __init__(self):
            super().__init__()
            rows[0].append('used')
            self.layer = nn.Linear(*rows[0][:2], bias=len(rows[0]) < 4 or 1 / 0)

        def forward(self, x):
            return self.layer(x) if x.shape[0] > 1 else x
    root = Once()
    gm, tier, _ = trace(root, (torch.rand(2, 4),), build=Once)
    assert tier == 'hinted' and len(gm.graph.nodes) > 2


def test_the_library_prints_the_same_graph():
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 3, 3, padding=1)
            self.scale = nn.Parameter(torch.ones(1))

        def forward(self, x: torch.Tensor, *rest, k=2.5):
            y = self.conv(x) * self.scale
            return {'a': F.relu(y)[..., 1:], 'b': [y.to(torch.float64), (None, 'text', k, 1e-05)]}

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.ModuleList([Block(), Block()])

        def forward(self, x):
            for block in self.blocks:
                x = block(x)['b'][0].float()
            return torch.max(x, 1)[0].size()
    for model in (Block(), Net()):
        gm = symbolic_trace(model)
        assert _fxscope.core_graph(gm.graph).rstrip('\n') == str(gm.graph)
        text = _fxscope.core_file(gm)
        bare = '\n'.join(line for line in text.split('\n') if not line.lstrip().startswith('#'))
        assert str(gm.graph) in bare and 'Conv2d(3, 3' in text, text


def test_nodes_know_where_they_come_from():
    graph = symbolic_trace(nn.Sequential(nn.Sequential(nn.ReLU()))).graph
    relu = [n for n in graph.nodes if n.op == 'call_module'][0]
    assert [relu._scope[1], relu._scope[2]] == ['0', 'Sequential'], relu._scope

    def f(x):
        return x + 1
    file, line = [n for n in symbolic_trace(f).graph.nodes if n.name == 'add'][0]._place
    assert file.endswith('tiers.py') and line == f.__code__.co_firstlineno + 1


def test_a_thousand_traces_need_no_more_memory():
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())

    def many(n):
        for _ in range(n):
            symbolic_trace(model)
        gc.collect()
        return len(gc.get_objects())
    objects = many(600)  # the code of so many is kept for tracebacks
    more = many(400)
    assert more - objects < 200, (objects, more)


main(globals())
