"""CSEPass: equal calls become one."""
from torch.fx.graph import Graph
from torch.fx.graph_module import GraphModule
from torch.fx.node import Node, map_arg
from torch.fx.passes.infra.pass_base import PassBase, PassResult

__all__ = ['get_CSE_banned_ops', 'CSEPass']


def get_CSE_banned_ops():
    """Functions whose calls are never equal."""
    import torch
    names = 'rand randn randint randperm bernoulli multinomial normal dropout empty'
    return {getattr(torch, n) for n in names.split() if hasattr(torch, n)}


def _key(value):
    """Hashable, and equal for equal arguments."""
    if isinstance(value, (list, tuple)):
        return (type(value).__name__ in ('tuple',), tuple(map(_key, value)))
    if isinstance(value, dict):
        return tuple((k, _key(v)) for k, v in value.items())
    if isinstance(value, slice):
        return ('slice', _key(value.start), _key(value.stop), _key(value.step))
    return type(value), value


class CSEPass(PassBase):
    def __init__(self, banned_ops=None):
        self.banned_ops = set() if banned_ops is None else banned_ops

    def call(self, graph_module):
        graph, env, known, modified = Graph(), {}, {}, False
        for node in graph_module.graph.nodes:
            args, kwargs = map_arg((node.args, node.kwargs), lambda n: env[n])
            key = None
            if node.op not in ('placeholder', 'output', 'get_attr') and \
                    node.target not in self.banned_ops:
                try:
                    key = node.op, node.target, _key(args), _key(kwargs)
                    hash(key)
                except TypeError:
                    key = None
            if key is not None and key in known:
                env[node] = known[key]
                modified = True
                continue
            env[node] = graph.node_copy(node, lambda n: env[n])
            if key is not None:
                known[key] = env[node]
        graph._codegen = graph_module.graph._codegen
        return PassResult(GraphModule(graph_module, graph), modified)
