"""Matching, comparing and cutting out of graphs."""
from torch.fx.passes.utils.common import compare_graphs, lift_subgraph_as_module
