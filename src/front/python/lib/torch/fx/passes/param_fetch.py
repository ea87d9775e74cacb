"""Attributes of layers by their names, for whoever lowers graphs."""
import torch
import torch.nn as nn

_LAYERS = {
    nn.Conv2d: 'weight bias kernel_size stride padding dilation groups padding_mode',
    nn.Linear: 'weight bias', nn.BatchNorm2d: 'weight bias running_mean running_var eps',
    nn.AdaptiveAvgPool2d: '', nn.MaxPool2d: 'kernel_size stride padding dilation return_indices '
                                            'ceil_mode',
    nn.modules.pooling.AvgPool2d: 'kernel_size stride padding count_include_pad ceil_mode',
    nn.ReLU: 'inplace', nn.Sigmoid: '', nn.Dropout: ''}


def default_matching(name, target_version):
    return name


def fetch_attr(target, mod):
    """The attribute of mod at a dotted path."""
    for atom in target.split('.'):
        if not hasattr(mod, atom):
            raise RuntimeError(f'Node referenced nonexistent target {target}')
        mod = getattr(mod, atom)
    return mod


def extract_attrs_for_lowering(mod):
    attrs = {'name': torch.typename(mod)}
    if type(mod) not in _LAYERS:
        return attrs
    for name in _LAYERS[type(mod)].split():
        attrs[name] = getattr(mod, name)
    return attrs


def lift_lowering_attrs_to_nodes(fx_module):
    """Keeps in node.attrs_for_lowering what a call_module's layer is made of."""
    modules = dict(fx_module.named_modules())
    for node in fx_module.graph.nodes:
        if node.op != 'call_module':
            continue
        if hasattr(modules[node.target], 'graph'):
            lift_lowering_attrs_to_nodes(modules[node.target])
        else:
            node.attrs_for_lowering = extract_attrs_for_lowering(modules[node.target])
