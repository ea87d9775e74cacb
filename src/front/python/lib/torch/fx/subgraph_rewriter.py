"""replace_pattern: puts a graph in the place of every match of another."""
import copy
from collections import namedtuple

import torch
from torch.fx._compatibility import compatibility
from torch.fx._symbolic_trace import symbolic_trace
from torch.fx.graph import Graph
from torch.fx.graph_module import GraphModule
from torch.fx.node import Node

__all__ = ['Match', 'replace_pattern']

Match = namedtuple('Match', ('anchor', 'nodes_map'))
Match.__doc__ = 'A place that was replaced: a node of the pattern, and pattern node -> node.'


def _submodule(module, path):
    try:
        return module.get_submodule(path)
    except AttributeError:
        return None


def _replace_submodules(gm, replacement):
    """Puts in what the new graph needs of the replacement's modules; gm's own go first."""
    gm.delete_all_unused_submodules()
    if isinstance(replacement, GraphModule):
        replacement.graph.lint()
    for node in gm.graph.nodes:
        if node.op not in ('call_module', 'get_attr') or _submodule(gm, node.target) is not None:
            continue
        module = _submodule(replacement, node.target)
        if module is None:
            raise RuntimeError('Attempted to create a "', node.op, '" node during subgraph '
                               f'rewriting with target {node.target}, but the referenced submodule '
                               'does not exist in either the original GraphModule `gm` or the '
                               'replacement GraphModule `replacement`')
        gm.add_submodule(node.target, copy.deepcopy(module))
    gm.graph.lint()


def _first_user(graph, nodes):
    users = {user for n in nodes for user in n.users}
    assert users, 'The returning_nodes should have at least one user node'
    return next(iter(users)) if len(users) == 1 else next(n for n in graph.nodes if n in users)


def replace_pattern(gm, pattern, replacement):
    """Replaces all matches of pattern (a function or module) in gm; gives the list of Match."""
    from torch.fx.passes.utils.matcher_utils import SubgraphMatcher  # takes a while to read
    graph = gm.graph
    pattern_graph = symbolic_trace(pattern).graph
    new_graph = symbolic_trace(replacement).graph
    matches = SubgraphMatcher(pattern_graph, match_output=False, match_placeholder=False,
                              remove_overlapping_matches=True).match(graph)
    parameters = [n for n in new_graph.nodes if n.op == 'placeholder']
    replaced = {}  # node -> what stands for it since an earlier match
    for match in matches:
        assert len(match.placeholder_nodes) == len(parameters)
        val_map = {p: replaced.get(n, n) if isinstance(n, Node) else n
                   for p, n in zip(parameters, match.placeholder_nodes)}
        with graph.inserting_before(_first_user(graph, match.returning_nodes)):
            made = graph.graph_copy(new_graph, val_map)
        if isinstance(made, Node):
            made = (made,)
        assert len(match.returning_nodes) == len(made)
        for node, new in zip(match.returning_nodes, made):
            node.replace_all_uses_with(new)
            replaced[node] = new
        for node in reversed(pattern_graph.nodes):
            if node.op not in ('placeholder', 'output'):
                graph.erase_node(match.nodes_map[node])
    gm.recompile()
    if isinstance(replacement, torch.nn.Module):
        _replace_submodules(gm, replacement)
    return [Match(anchor=m.anchors[0], nodes_map=m.nodes_map) for m in matches]
