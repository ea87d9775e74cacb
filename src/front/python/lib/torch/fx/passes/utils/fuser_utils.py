"""Cutting groups of nodes out of a graph into submodules."""
import copy

from torch.fx.graph import Graph
from torch.fx.graph_module import GraphModule
from torch.fx.node import Node, map_arg
from torch.fx.passes.tools_common import legalize_graph


def topo_sort(nodes):
    """The nodes in an order in which each comes behind what it uses of them."""
    inside = set(nodes)
    open_inputs = {n: sum(i in inside for i in n.all_input_nodes) for n in nodes}
    ready = [n for n in nodes if open_inputs[n] == 0]
    order = []
    for node in ready:
        order.append(node)
        for user in node.users:
            if user in inside:
                open_inputs[user] -= 1
                if open_inputs[user] == 0:
                    ready.append(user)
    assert len(order) == len(nodes), "topological sorted nodes doesn't have same length as input nodes"
    return order


def validate_partition(partition):
    """False when one node in the place of these would be in a cycle."""
    inside = set(partition)
    stack = [u for n in partition if isinstance(n, Node) for u in n.users if u not in inside]
    seen = set()
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node in inside:
            return False
        stack.extend(node.users)
    return True


def fuse_as_graphmodule(gm, nodes, module_name):
    """(GraphModule of the nodes, its inputs in gm's graph, its outputs in gm's graph)."""
    for node in nodes:
        assert node.graph.owning_module is gm, \
            f"{node} doesn't belong to passed in graph module {gm._get_name()}"
        assert not node._erased, f'{node} has been removed from owning graph'
        assert node in gm.graph.nodes, \
            f"{node} is not found in graph module {gm._get_name()}"
    assert validate_partition(nodes), 'Invalid partition, found dependency cycles'
    inside = set(nodes)
    subgraph = Graph()
    inputs, copies, outputs = {}, {}, []

    def remap(x):
        if x.op == 'get_attr':
            pass
        if x in inside:
            return copies[x]
        if x not in inputs:
            made = subgraph.placeholder(x.name, type_expr=x.type)
            made.meta = copy.copy(x.meta)
            inputs[x] = made
        return inputs[x]
    for node in nodes:
        copies[node] = subgraph.node_copy(node, remap)
    for node in nodes:
        if any(user not in inside for user in node.users):
            outputs.append(node)
    results = tuple(copies[n] for n in outputs)
    subgraph.output(results[0] if len(results) == 1 else results)
    subgraph.lint()
    return GraphModule(gm, subgraph, class_name=module_name), tuple(inputs), tuple(outputs)


def insert_subgm(gm, sub_gm, orig_inputs, orig_outputs):
    """Calls sub_gm in gm's graph, and lets its results stand for orig_outputs."""
    name = sub_gm.__class__.__name__
    gm.add_submodule(name, sub_gm)
    call = gm.graph.call_module(name, args=orig_inputs, kwargs=None)
    if len(orig_outputs) == 1:
        orig_outputs[0].replace_all_uses_with(call)
        return gm
    for i, old in enumerate(orig_outputs):
        from torch.fx import Proxy
        old.replace_all_uses_with(Proxy(call)[i].node)
    return gm


def erase_nodes(gm, nodes):
    for node in reversed(nodes):
        gm.graph.erase_node(node)


def fuse_by_partitions(gm, partitions):
    """Each list of nodes becomes one call of a submodule fused_0, fused_1, ..."""
    for i, nodes in enumerate(partitions):
        nodes = topo_sort(nodes)
        sub, inputs, outputs = fuse_as_graphmodule(gm, nodes, f'fused_{i}')
        insert_subgm(gm, sub, inputs, outputs)
        erase_nodes(gm, nodes)
    legalize_graph(gm)
    gm.recompile()
    return gm
