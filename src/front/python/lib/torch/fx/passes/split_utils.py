"""split_by_tags: groups of nodes that carry a tag become submodules."""
from dataclasses import dataclass, field
from typing import Dict, List, Optional

import torch.fx
from torch.fx.graph import map_arg
from torch.fx.passes.utils.common import HolderModule, lift_subgraph_as_module

__all__ = ['getattr_recursive', 'setattr_recursive', 'Component', 'split_by_tags']


def getattr_recursive(obj, name):
    for layer in name.split('.'):
        if not hasattr(obj, layer):
            return None
        obj = getattr(obj, layer)
    return obj


def setattr_recursive(obj, attr, value):
    *prefix, name = attr.split('.')
    for layer in prefix:
        obj = getattr(obj, layer)
    setattr(obj, name, value)


@dataclass
class Component:
    graph: torch.fx.Graph
    order: int
    name: str
    input_placeholders: List = field(default_factory=list)
    orig_inputs: List = field(default_factory=list)
    orig_outputs: List = field(default_factory=list)
    getattr_maps: Dict[torch.fx.Node, torch.fx.Node] = field(default_factory=dict)
    constructor_args: List[str] = field(default_factory=list)
    gm: Optional[torch.fx.GraphModule] = None


def split_by_tags(gm, tags):
    """A GraphModule that calls one submodule for each tag, in their order; node.tag says where a
    node belongs. Nodes without a tag may be placeholders and outputs only."""
    components = {tag: Component(torch.fx.Graph(), i, tag) for i, tag in enumerate(tags)}
    place, remapped, outputs = {}, {}, None
    main = torch.fx.Graph()
    main_remap, users = {}, {}
    for node in gm.graph.nodes:
        if node.op == 'placeholder':
            main_remap[node] = main.node_copy(node)
        elif node.op == 'output':
            outputs = node
        elif node.op != 'get_attr':
            assert hasattr(node, 'tag') and node.tag in components, f'{node} has no known tag'
            _add(components[node.tag], node, place, remapped, components)
    for value in outputs.all_input_nodes if outputs is not None else ():
        if value in place and value not in place[value].orig_outputs:
            place[value].orig_outputs.append(value)
    made = {}
    for tag in tags:
        _call(components[tag], gm, main, main_remap, made, remapped)
    main.output(map_arg(outputs.args[0], lambda n: main_remap[n]))
    root = HolderModule(made)
    return torch.fx.GraphModule(root, main)


def _add(component, node, place, remapped, components):
    def remap(x):
        if x.op == 'get_attr':
            if x not in component.getattr_maps:
                component.getattr_maps[x] = component.graph.get_attr(x.target, type_expr=x.type)
            return component.getattr_maps[x]
        if x in place and place[x] is component:
            return remapped[x]
        if x not in component.orig_inputs:
            if x in place:
                assert place[x].order < component.order, \
                    f'{node} of {component.name} needs {x} of a later component'
                if x not in place[x].orig_outputs:
                    place[x].orig_outputs.append(x)
            component.orig_inputs.append(x)
            component.input_placeholders.append(
                component.graph.placeholder(x.name, type_expr=x.type))
        return component.input_placeholders[component.orig_inputs.index(x)]
    place[node] = component
    made = component.graph.node_copy(node, remap)
    remapped[node] = made


def _call(component, gm, main, main_remap, made, remapped):
    results = tuple(remapped[n] for n in component.orig_outputs)
    component.graph.output(results[0] if len(results) == 1 else results)
    component.gm = lift_subgraph_as_module(gm, component.graph)
    made[component.name] = component.gm
    call = main.call_module(component.name, tuple(main_remap[n] for n in component.orig_inputs))
    if len(results) == 1:
        main_remap[component.orig_outputs[0]] = call
        return
    proxy = torch.fx.Proxy(call)
    for i, n in enumerate(component.orig_outputs):
        main_remap[n] = proxy[i].node
