"""Sizes of nodes, and replacing targets."""
from collections import namedtuple

from torch.fx.graph import Graph
from torch.fx.graph_module import GraphModule
from torch.fx.node import Node, map_aggregate
from torch.fx.passes.shape_prop import ShapeProp, TensorMetadata

__all__ = ['replace_target_nodes_with', 'size_bytes', 'get_size_of_all_nodes', 'get_tensor_meta',
           'get_size_of_node']

size_bytes = namedtuple('size_bytes', ('output_size', 'total_size'))


def replace_target_nodes_with(fx_module, old_op, old_target, new_op, new_target):
    """Every node of that op and target gets the new ones; the graph is assigned anew."""
    graph, copies = Graph(), {}
    for node in fx_module.graph.nodes:
        made = graph.node_copy(node, lambda n: copies[n])
        if node.op == old_op and node.target == old_target:
            made.op, made.target = new_op, new_target
        copies[node] = made
    fx_module.graph = graph


def get_tensor_meta(node):
    meta = node.meta.get('tensor_meta')
    if not meta:
        raise RuntimeError(f'Node {node} has no tensor metadata associated with it! Check that '
                           'shape propagation has run.')
    return meta


def get_size_of_node(fx_module, node):
    """Bytes of the result, and of that with a called module's parameters."""
    elements = 0
    if node.op == 'call_module':
        module = dict(fx_module.named_modules())[node.target]
        elements = sum(p.nelement() for _, p in module.named_parameters())
    meta = get_tensor_meta(node)
    output = meta.shape.numel()
    import torch
    each = torch.tensor([], dtype=meta.dtype).element_size()
    return size_bytes(each * output, each * (elements + output))


def get_size_of_all_nodes(fx_module, args=None):
    """Gives every node its size_bytes."""
    if args is not None:
        ShapeProp(fx_module).propagate(*args)
    for node in fx_module.graph.nodes:
        if node.op == 'output':
            break
        node.size_bytes = get_size_of_node(fx_module, node)
