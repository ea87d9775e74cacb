"""SubgraphMatcher: finds the places in a graph where a pattern stands. The walk is torch.fx 1.13's,
with its limits: bindings of a failed branch stay until the next candidate of an anchor."""
import copy
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any, Dict, List

from torch.fx._compatibility import compatibility
from torch.fx.graph import Graph
from torch.fx.node import Node
from torch.fx.passes.utils.fuser_utils import validate_partition

__all__ = ['SubgraphMatcher', 'InternalMatch']


@dataclass
class InternalMatch:
    """Nodes of the pattern that the match began at; pattern node -> node or literal; the nodes for
    the pattern's placeholders, and for what it returns."""
    anchors: List[Node]
    nodes_map: Dict[Node, Node] = field(default_factory=dict)
    placeholder_nodes: List[Node] = field(default_factory=list)
    returning_nodes: List[Node] = field(default_factory=list)

    def __copy__(self):
        return InternalMatch(self.anchors, self.nodes_map.copy(), self.placeholder_nodes.copy(),
                             self.returning_nodes.copy())


def _flat(args):
    out = []
    for a in args:
        if isinstance(a, (list, tuple)):
            out += _flat(a)
        elif isinstance(a, dict):
            out += _flat(a.values())
        else:
            out.append(a)
    return out


class SubgraphMatcher:
    def __init__(self, pattern, match_output=False, match_placeholder=False,
                 remove_overlapping_matches=True):
        self.pattern = pattern
        self.match_output = match_output
        self.match_placeholder = match_placeholder
        self.remove_overlapping_matches = remove_overlapping_matches
        if len(pattern.nodes) == 0:
            raise ValueError('SubgraphMatcher cannot be initialized with an empty pattern')
        for node in pattern.nodes:
            assert node.op == 'output' or len(node.users) > 0, \
                'SubgraphMatcher cannot be initialized with an pattern with dead code'
        self.pattern_placeholder_nodes = [n for n in pattern.nodes if n.op == 'placeholder']
        output = next(iter(reversed(pattern.nodes)))
        self.pattern_returning_nodes = output.all_input_nodes
        self.pattern_anchors = [output] if match_output else \
            [n for n in output.all_input_nodes if len(n.users) == 1]

    def _nodes_are_equal(self, pn, gn):
        if pn.op == 'placeholder' and not self.match_placeholder:
            return True
        return pn.op == gn.op and (pn.op in ('placeholder', 'output') or pn.target == gn.target)

    def _match_literals(self, pn, gn, match):
        if isinstance(pn, Node):
            if pn.op != 'placeholder':
                return False
            return match.nodes_map.setdefault(pn, gn) == gn
        return not isinstance(gn, Node) and type(gn) == type(pn) and gn == pn

    def _match_args(self, pn_args, gn_args, match):
        if len(pn_args) != len(gn_args):
            return False
        for a, b in zip(pn_args, gn_args):
            both = isinstance(a, Node) and isinstance(b, Node)
            if not (self._match_nodes if both else self._match_literals)(a, b, match):
                return False
        return True

    def _match_nodes(self, pn, gn, match):
        if pn in match.nodes_map:
            return match.nodes_map[pn] == gn
        if gn in match.nodes_map.values() or not self._nodes_are_equal(pn, gn):
            return False
        match.nodes_map[pn] = gn
        if pn.op == 'placeholder':
            return True
        if pn.kwargs.keys() != gn.kwargs.keys():
            return False
        return self._match_args(_flat(pn.args) + list(pn.kwargs.values()),
                                _flat(gn.args) + [gn.kwargs[k] for k in pn.kwargs], match)

    def _is_contained(self, nodes_map):
        """What the match computes inside must not be used outside."""
        inside = {gn: pn for pn, gn in nodes_map.items()
                  if isinstance(gn, Node) and pn.op != 'placeholder'}
        return all(user in inside for gn, pn in inside.items()
                   if pn not in self.pattern_returning_nodes for user in gn.users)

    @staticmethod
    def _computed(match):
        return [gn for pn, gn in match.nodes_map.items() if pn.op not in ('placeholder', 'output')]

    def _without_overlaps(self, matches):
        kept, taken = [], set()
        for match in matches:
            nodes = self._computed(match)
            if taken.isdisjoint(nodes):
                kept.append(match)
                taken.update(nodes)
        return kept

    def match(self, graph):
        """The list of InternalMatch, in the order of the graph's nodes."""
        candidates = defaultdict(list)
        for anchor in self.pattern_anchors:
            for node in graph.nodes:
                if self._nodes_are_equal(anchor, node):
                    candidates[anchor].append(node)
        candidates = list(candidates.items())
        matches = []

        def search(i, match):
            if i == len(candidates):
                match.placeholder_nodes = [match.nodes_map[n]
                                           for n in self.pattern_placeholder_nodes]
                match.returning_nodes = [match.nodes_map[n] for n in self.pattern_returning_nodes]
                matches.append(match)
                return
            anchor, nodes = candidates[i]
            before = copy.copy(match)
            for node in nodes:
                if self._match_nodes(anchor, node, match):
                    search(i + 1, match)
                match = copy.copy(before)
        search(0, InternalMatch(self.pattern_anchors))
        matches = [m for m in matches if self._is_contained(m.nodes_map)
                   and validate_partition(self._computed(m))]
        return self._without_overlaps(matches) if self.remove_overlapping_matches else matches
