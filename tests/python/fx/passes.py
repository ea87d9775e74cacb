"""Tests of the passes of torch.fx, and of what keeps GraphModules. Prints TAP."""
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..'))

import torch
import torch.nn as nn
import torch.nn.functional as F
from tap import main, raises
from torch.fx import GraphModule, Interpreter, Proxy, Tracer, Transformer, symbolic_trace
from torch.fx.experimental.normalize import NormalizeArgs
from torch.fx.experimental.optimization import extract_subgraph, fuse, remove_dropout
from torch.fx.operator_schemas import normalize_function
from torch.fx.passes.dialect.common.cse_pass import CSEPass
from torch.fx.passes.graph_drawer import FxGraphDrawer
from torch.fx.passes.graph_manipulation import get_size_of_all_nodes, replace_target_nodes_with
from torch.fx.passes.infra.pass_base import PassBase, PassResult
from torch.fx.passes.infra.pass_manager import (PassManager, pass_result_wrapper,
                                                this_before_that_pass_constraint)
from torch.fx.passes.shape_prop import ShapeProp
from torch.fx.passes.split_utils import split_by_tags
from torch.fx.passes.utils.fuser_utils import fuse_by_partitions


class Drawn(nn.Module):
    def __init__(s):
        super().__init__()
        s.conv = nn.Conv2d(1, 2, 3, padding=1)
        s.bn = nn.BatchNorm2d(2)
        s.w = nn.Parameter(torch.ones(1))

    def forward(s, x):
        a = F.interpolate(s.bn(s.conv(x)) * s.w, scale_factor=2)
        b, c = torch.max(a, 1)
        return {'o': b.view(1, -1), 'k': c}


def test_the_drawer_writes_the_dot_of_torch():
    gm = symbolic_trace(Drawn())
    have = [FxGraphDrawer(gm, 'm').get_dot_graph().to_string()]
    ShapeProp(gm).propagate(torch.ones(1, 1, 4, 4))
    drawer = FxGraphDrawer(gm, 'mm', ignore_getattr=True, ignore_parameters_and_buffers=True,
                           skip_node_names_in_args=False)
    have += [drawer.get_dot_graph().to_string(), str(list(drawer.get_all_dot_graphs())), '']
    with open(f'{HERE}/drawer.txt', encoding='utf-8') as f:
        assert '\n'.join(have) == f.read()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.bn = nn.BatchNorm2d(4)
        self.drop = nn.Dropout()
        self.fc = nn.Linear(144, 2)

    def forward(self, x):
        y = self.drop(F.relu(self.bn(self.conv(x))))
        return self.fc(y.flatten(1)) + y.sum() + y.sum()


def close(a, b):
    return bool(((a - b).abs() < 1e-5).all())


def names(gm):
    return [n.name for n in gm.graph.nodes]


def test_batch_norms_and_dropouts_go():
    model, x = Net().eval(), torch.rand(2, 3, 8, 8)
    smaller = remove_dropout(fuse(model))
    assert 'bn' not in names(smaller) and 'drop' not in names(smaller)
    assert close(smaller(x), model(x))


def test_equal_calls_become_one():
    gm, x = symbolic_trace(Net().eval()), torch.rand(2, 3, 8, 8)
    result = CSEPass()(gm)
    assert result.modified and len(names(gm)) - len(names(result.graph_module)) == 1
    assert close(result.graph_module(x), gm(x))


def test_partitions_become_submodules():
    gm, x = symbolic_trace(Net().eval()), torch.rand(2, 3, 8, 8)
    expected = gm(x)
    by_name = {n.name: n for n in gm.graph.nodes}
    fused = fuse_by_partitions(gm, [[by_name['conv'], by_name['bn']], [by_name['sum_1']]])
    assert [n for n, _ in fused.named_children()][-2:] == ['fused_0', 'fused_1']
    assert close(fused(x), expected)


def test_tags_become_submodules():
    gm, x = symbolic_trace(Net().eval()), torch.rand(2, 3, 8, 8)
    for n in gm.graph.nodes:
        if n.op not in ('placeholder', 'output'):
            n.tag = 'first' if n.name in ('conv', 'bn', 'relu') else 'second'
    split = split_by_tags(gm, ['first', 'second'])
    assert [n for n, _ in split.named_children()] == ['first', 'second']
    assert close(split(x), gm(x))


def test_passes_run_in_the_order_that_constraints_want():
    ran = []

    class First(PassBase):
        def call(self, gm):
            ran.append('first')
            return PassResult(gm, False)

    @pass_result_wrapper
    def second(gm):
        ran.append('second')
        return PassResult(gm, False)
    first = First()
    manager = PassManager([second, first],
                          constraints=[this_before_that_pass_constraint(first, second)])
    manager(symbolic_trace(nn.ReLU()))
    assert ran == ['first', 'second'], ran


def test_sizes_of_nodes():
    gm = symbolic_trace(nn.Sequential(nn.Linear(3, 5)))
    get_size_of_all_nodes(gm, [torch.ones(2, 3)])
    node = [n for n in gm.graph.nodes if n.op == 'call_module'][0]
    assert tuple(node.size_bytes) == (40, 120), node.size_bytes
    replace_target_nodes_with(gm, 'call_module', '0', 'call_method', 'relu')
    assert 'input_1.relu()' in gm.code, gm.code


def test_arguments_by_name():
    assert normalize_function(torch.flatten, (1, 1), normalize_to_only_use_kwargs=True).kwargs == \
        {'input': 1, 'start_dim': 1, 'end_dim': -1}
    shown = str(NormalizeArgs(symbolic_trace(lambda x: torch.transpose(x, 0, 1))).transform().graph)
    assert 'kwargs = {input: %x, dim0: 0, dim1: 1}' in shown, shown


def test_a_part_of_a_graph():
    gm, x = symbolic_trace(Net().eval()), torch.rand(2, 3, 8, 8)
    nodes = list(gm.graph.nodes)
    part = extract_subgraph(gm, nodes[1:4], nodes[:1], nodes[3:4])
    assert close(part(x)[0], F.relu(gm.bn(gm.conv(x))))


def test_folders_and_files_keep_graph_modules():
    gm, x = symbolic_trace(Net().eval()), torch.rand(2, 3, 8, 8)
    with tempfile.TemporaryDirectory() as place:
        gm.to_folder(f'{place}/kept', 'Kept')
        sys.path.insert(0, place)
        from kept import Kept
        sys.path.pop(0)
        back = Kept().eval()
        assert close(back(x), gm(x))
        torch.save(gm, f'{place}/gm.pt')
        assert close(torch.load(f'{place}/gm.pt')(x), gm(x))
        with open(f'{place}/evil.pt', 'wb') as f:
            f.write(b"fxscope pickle 1\ncos\nsystem\n(S'true'\ntR.")
        raises(Exception, torch.load, f'{place}/evil.pt', text='is not loaded from files')


def test_an_interpreter_of_the_users_own():
    class Probe(Interpreter):
        def run_node(self, n):
            result = super().run_node(n)
            n.meta['result'] = result
            return result
    gm = symbolic_trace(Net().eval())
    Probe(gm).run(torch.rand(2, 3, 8, 8))
    assert [tuple(n.meta['result'].shape) for n in gm.graph.nodes][-1] == (2, 2)

    class Swap(Transformer):
        def call_function(self, target, args, kwargs):
            return super().call_function(torch.neg if target is F.relu else target, args,
                                         {} if target is F.relu else kwargs)
    assert 'torch.neg(' in Swap(gm).transform().code


def test_own_tracers():
    class Whole(Tracer):
        def is_leaf_module(self, m, name):
            return False

        def create_arg(self, a):
            return 7 if isinstance(a, range) else super().create_arg(a)

        def proxy(self, node):
            made = super().proxy(node)
            self.made = getattr(self, 'made', 0) + 1
            return made
    tracer = Whole()
    graph = tracer.trace(nn.Sequential(nn.ReLU()))
    assert [n.op for n in graph.nodes] == ['placeholder', 'call_function', 'output']
    assert tracer.made == 2
    assert 'args = (%x, 7)' in str(Whole().trace(lambda x: x.foo(range(3))))


main(globals())
