"""Comparing graphs, and lifting a part of one out."""
from torch.fx.graph import Graph
from torch.fx.graph_module import GraphModule
from torch.fx.passes.utils.matcher_utils import SubgraphMatcher
from torch.nn import Module


class HolderModule(Module):
    """A bare module with the given children."""

    def __init__(self, d):
        super().__init__()
        for name, child in d.items():
            self.add_module(name, child)


def lift_subgraph_as_module(gm, subgraph, class_name='GraphModule'):
    """A GraphModule of the subgraph, over a copy of the part of gm's module tree that it needs."""
    root = HolderModule({})
    for node in subgraph.nodes:
        if node.op not in ('call_module', 'get_attr'):
            continue
        *prefix, name = node.target.split('.')
        source, at = gm, root
        for item in prefix:
            source = getattr(source, item)
            if not hasattr(at, item):
                at.add_module(item, HolderModule({}))
            at = getattr(at, item)
        value = getattr(source, name)
        if name in source._buffers:
            at.register_buffer(name, value)
        else:
            setattr(at, name, value)
    return GraphModule(root, subgraph, class_name)


def compare_graphs(left, right):
    """Do both compute the same, up to names?"""
    matches = SubgraphMatcher(left, match_output=True, match_placeholder=True).match(right)
    return len(matches) > 0
