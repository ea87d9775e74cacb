"""Inference graphs made smaller: batch norms folded into convolutions, dropouts taken out."""
import copy

import torch
import torch.fx as fx
import torch.nn as nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

__all__ = ['matches_module_pattern', 'replace_node_module', 'fuse', 'remove_dropout',
           'extract_subgraph']


def _parent_name(target):
    parent, _, name = target.rpartition('.')
    return parent, name


def matches_module_pattern(pattern, node, modules):
    """Does node call pattern[1], on the result of a call of pattern[0]?"""
    if not node.args:
        return False
    for n, kind in zip((node.args[0], node), pattern):
        if not isinstance(n, fx.Node) or n.op != 'call_module' or \
                type(modules.get(n.target)) is not kind:
            return False
    return True


def replace_node_module(node, modules, new_module):
    parent, name = _parent_name(node.target)
    modules[node.target] = new_module
    setattr(modules[parent], name, new_module)


def fuse(model, inplace=False, no_trace=False):
    """The model with every batch norm behind a convolution folded into it."""
    patterns = [(nn.Conv1d, nn.BatchNorm1d), (nn.Conv2d, nn.BatchNorm2d),
                (nn.Conv3d, nn.BatchNorm3d)]
    if not inplace:
        model = copy.deepcopy(model)
    fx_model = model if no_trace and isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)
    modules = dict(fx_model.named_modules())
    graph = copy.deepcopy(fx_model.graph)
    for pattern in patterns:
        for node in graph.nodes:
            if not matches_module_pattern(pattern, node, modules) or len(node.args[0].users) > 1:
                continue
            conv, bn = modules[node.args[0].target], modules[node.target]
            if not bn.track_running_stats:
                continue
            replace_node_module(node.args[0], modules, fuse_conv_bn_eval(conv, bn))
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
    return fx.GraphModule(fx_model, graph)


def remove_dropout(model):
    """The model without its dropouts."""
    class DropoutRemover(fx.Transformer):
        def call_module(self, target, args, kwargs):
            if isinstance(self.submodules[target], nn.Dropout):
                assert len(args) == 1
                return args[0]
            return super().call_module(target, args, kwargs)
    return DropoutRemover(fx.symbolic_trace(model)).transform()


def extract_subgraph(orig_module, nodes, inputs, outputs):
    """A GraphModule of the nodes, as a function of inputs."""
    graph, env = fx.Graph(), {}
    for node in inputs:
        env[node] = graph.placeholder(node.name)
    for node in nodes:
        env[node] = graph.node_copy(node, lambda x: env[x])
    graph.output([env[n] for n in outputs])
    graph.lint()
    return fx.GraphModule(orig_module, graph)
