"""NormalizeArgs: all arguments by their names."""
import torch
from torch.fx import Transformer
from torch.fx.node import map_aggregate
from torch.fx.operator_schemas import normalize_function, normalize_module
from torch.fx.proxy import Proxy

__all__ = ['NormalizeArgs']


class NormalizeArgs(Transformer):
    """NormalizeArgs(gm).transform(): the graph with normalized arguments."""

    def __init__(self, module, normalize_to_only_use_kwargs=True):
        super().__init__(module)
        self.node_map = {}
        self.normalize_to_only_use_kwargs = normalize_to_only_use_kwargs

    def run_node(self, n):
        result = super().run_node(n)
        if isinstance(result, Proxy):
            self.node_map[result] = n
        return result

    def call_function(self, target, args, kwargs):
        pair = normalize_function(target, args, kwargs,
                                  normalize_to_only_use_kwargs=self.normalize_to_only_use_kwargs)
        if pair is not None:
            args, kwargs = pair
        return super().call_function(target, args, kwargs)

    def call_module(self, target, args, kwargs):
        pair = normalize_module(self.module, target, args, kwargs,
                                normalize_to_only_use_kwargs=self.normalize_to_only_use_kwargs)
        if pair is not None:
            args, kwargs = pair
        return super().call_module(target, args, kwargs)
