"""Helpers of passes: legalize_graph, get_node_target, ..."""
import collections

import torch
from torch.fx._compatibility import compatibility
from torch.fx.graph import Graph
from torch.fx.graph_module import GraphModule
from torch.fx.node import Node, _get_qualified_name

Tensors = None
NodeList = list
NodeSet = set
Names = list
CALLABLE_NODE_OPS = {'call_module', 'call_function', 'call_method'}


def get_node_target(submodules, node):
    """What a call_* node calls, as text: a class for call_module."""
    assert node.op in CALLABLE_NODE_OPS, \
        'Expect op types of ' + ', '.join(CALLABLE_NODE_OPS) + f', but found {node.op}'
    if node.op == 'call_module':
        module = submodules[node.target]
        module = getattr(module, '_base_class_origin', type(module))
        return torch.typename(module)
    if node.op == 'call_function':
        f = node.target
        return f'acc_ops.{f.__name__}' if f.__module__ is not None and 'acc_ops' in f.__module__ \
            else _get_qualified_name(f)
    assert isinstance(node.target, str)
    return node.target


def is_node_output_tensor(node):
    result_type = node.meta.get('type', None)
    return result_type is not None and issubclass(result_type, torch.Tensor)


def legalize_graph(gm):
    """Brings the nodes into topological order."""
    waiting = {n: len(n.all_input_nodes) for n in gm.graph.nodes}
    queue = collections.deque(n for n in gm.graph.nodes if waiting[n] == 0)
    graph, env = Graph(), {}
    while queue:
        node = queue.popleft()
        env[node] = graph.node_copy(node, lambda x: env[x])
        for user in node.users:
            waiting[user] -= 1
            if waiting[user] == 0:
                queue.append(user)
    if len(graph.nodes) < len(gm.graph.nodes):
        raise RuntimeError('Input graph has cycles, unable to add '
                           f'{[n for n in waiting if waiting[n] != 0]}')
    graph._codegen = gm.graph._codegen
    gm.graph = graph
    return gm
