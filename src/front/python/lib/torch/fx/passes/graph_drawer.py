"""FxGraphDrawer: a graph as DOT, a record for each node; with pydot's interface as far as it is
used, written as a picture by fxscope's renderer."""
import hashlib
import re

import torch
import torch.fx
from torch.fx.node import _format_arg, _get_qualified_name
from torch.fx.passes.shape_prop import TensorMetadata

__all__ = ['FxGraphDrawer']

_COLORS = {'placeholder': '"AliceBlue"', 'call_module': 'LemonChiffon1', 'get_param': 'Yellow2',
           'get_attr': 'LightGrey', 'output': 'PowderBlue'}
_HASH_COLORS = ('CadetBlue1 Coral DarkOliveGreen1 DarkSeaGreen1 GhostWhite Khaki1 LavenderBlush1 '
                'LightSkyBlue MistyRose1 MistyRose2 PaleTurquoise2 PeachPuff1 Salmon Thistle1 '
                'Thistle3 Wheat1').split()
_ID = re.compile(r'[A-Za-z_][A-Za-z0-9_]*|-?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)')


def _quoted(text):
    """As pydot writes it: identifiers and what is quoted already stay."""
    text = str(text)
    if _ID.fullmatch(text) or text.startswith('"') and text.endswith('"'):
        return text
    text = text.replace('"', '\\"').replace('\n', '\\n').replace('\r', '\\r')
    return f'"{text}"'


class Node:
    def __init__(self, name, **attributes):
        self.name, self.attributes = name, attributes

    def to_string(self):
        inside = ', '.join(f'{k}={_quoted(v)}' for k, v in sorted(self.attributes.items()))
        return f'{_quoted(self.name)} [{inside}];'


class Edge:
    def __init__(self, source, target):
        self.source, self.target = source, target

    def to_string(self):
        return f'{_quoted(self.source)} -> {_quoted(self.target)};'


class Dot:
    """A directed graph: to_string(), write(path, format=...), create(format=...), and write_svg,
    create_png and so on."""

    def __init__(self, name, **attributes):
        self.name, self.attributes, self.items = name, attributes, []

    def add_node(self, node):
        self.items.append(node)

    def add_edge(self, edge):
        self.items.append(edge)

    def to_string(self):
        lines = [f'digraph {_quoted(self.name)} {{']
        lines += [f'{k}={_quoted(v)};' for k, v in self.attributes.items()]
        lines += [item.to_string() for item in self.items]
        return '\n'.join(lines + ['}', ''])

    __str__ = to_string

    def create(self, prog=None, format='ps', encoding=None):
        """The picture as bytes."""
        import graphviz
        if format in ('raw', 'dot', 'gv'):
            return self.to_string().encode()
        return graphviz.Source(self.to_string()).pipe(format=format)

    def write(self, path, prog=None, format='raw', encoding=None):
        with open(path, 'wb') as out:
            out.write(self.create(prog, format))
        return True

    def __getattr__(self, name):
        verb, _, format = name.partition('_')
        if verb == 'create' and format:
            return lambda prog=None, **kw: self.create(prog, format)
        if verb == 'write' and format:
            return lambda path, prog=None, **kw: self.write(path, prog, format)
        raise AttributeError(name)

    def _repr_svg_(self):
        return self.create(format='svg').decode()


class FxGraphDrawer:
    """FxGraphDrawer(gm, name).get_dot_graph(): the Dot of gm's graph."""

    def __init__(self, graph_module, name, ignore_getattr=False,
                 ignore_parameters_and_buffers=False, skip_node_names_in_args=True):
        self._name = name
        self.ignore_parameters_and_buffers = ignore_parameters_and_buffers
        self._dot_graphs = {name: self._to_dot(graph_module, name, ignore_getattr,
                                               skip_node_names_in_args)}
        for node in graph_module.graph.nodes:
            if node.op != 'call_module':
                continue
            leaf = self._get_leaf_node(graph_module, node)
            if isinstance(leaf, torch.fx.GraphModule):
                inner = f'{name}_{node.target}'
                self._dot_graphs[inner] = self._to_dot(leaf, inner, ignore_getattr,
                                                       skip_node_names_in_args)

    def get_dot_graph(self, submod_name=None):
        return self.get_main_dot_graph() if submod_name is None else \
            self.get_submod_dot_graph(submod_name)

    def get_main_dot_graph(self):
        return self._dot_graphs[self._name]

    def get_submod_dot_graph(self, submod_name):
        return self._dot_graphs[f'{self._name}_{submod_name}']

    def get_all_dot_graphs(self):
        return self._dot_graphs

    def _get_node_style(self, node):
        style = {'shape': 'record', 'fillcolor': '#CAFFE3', 'style': '"filled,rounded"',
                 'fontcolor': '#000000'}
        if node.op in _COLORS:
            style['fillcolor'] = _COLORS[node.op]
        else:
            target = node._pretty_print_target(node.target)
            number = int(hashlib.md5(target.encode()).hexdigest()[:8], 16)
            style['fillcolor'] = _HASH_COLORS[number % len(_HASH_COLORS)]
        return style

    @staticmethod
    def _target(node):
        return node.target if isinstance(node.target, str) else _get_qualified_name(node.target)

    @staticmethod
    def _get_leaf_node(module, node):
        at = module
        for atom in node.target.split('.'):
            if not hasattr(at, atom):
                raise RuntimeError(f'{at} has not attribute {atom}')
            at = getattr(at, atom)
        return at

    @staticmethod
    def _arguments(args, skip_names):
        """The arguments that a label shows, one a line, and their brackets."""
        if isinstance(args, dict):
            shown = [f'{k}: {_format_arg(v, max_list_len=8)}' for k, v in args.items()]
            opening, closing = '|kwargs=\\{\\l', ',\\n\\}\\l'
        else:
            shown = [_format_arg(v, max_list_len=8) for v in args]
            opening, closing = '|args=(\\l', ',\\n)\\l'
        if skip_names:
            shown = [s for s in shown if '%' not in s]
        if not shown:
            return ''
        inside = ',\\n'.join(shown).replace('{', r'\{').replace('}', r'\}')
        return f'{opening}{inside}{closing}'

    def _get_node_label(self, module, node, skip_node_names_in_args):
        label = f'{{name=%{node.name}|op_code={node.op}\\n'
        if node.op == 'call_module':
            leaf = self._get_leaf_node(module, node)
            label += f'\\n{_class_name(leaf)}\\n|'
            constants = getattr(leaf, '__constants__', ())
            label += '\\n'.join(f'{c}: {getattr(leaf, c)}' for c in constants
                                if hasattr(leaf, c))
            label += '\\n' if constants else ''
        else:
            label += f'|target={self._target(node)}\\n'
            if node.args:
                label += self._arguments(node.args, skip_node_names_in_args)
            if node.kwargs:
                label += self._arguments(node.kwargs, skip_node_names_in_args)
            label += f'|num_users={len(node.users)}\\n'
        label += self._meta_label(node.meta.get('tensor_meta'))
        return label + '}'

    def _meta_label(self, meta):
        if meta is None:
            return ''
        if isinstance(meta, TensorMetadata):
            return self._one_meta(meta)
        if isinstance(meta, dict):
            meta = list(meta.values())
        if isinstance(meta, (list, tuple)):
            return ''.join(self._meta_label(m) for m in meta
                           if isinstance(m, (TensorMetadata, list, tuple, dict)))
        return ''

    @staticmethod
    def _one_meta(meta):
        text = (f'|dtype={meta.dtype}\\n|shape={tuple(meta.shape)}\\n'
                f'|requires_grad={meta.requires_grad}\\n|stride={meta.stride}\\n')
        if meta.is_quantized:
            assert meta.qparams is not None and 'qscheme' in meta.qparams
            qscheme = meta.qparams['qscheme']
            if qscheme in (torch.per_tensor_affine, torch.per_tensor_symmetric):
                text += (f"|q_scale={meta.qparams['scale']}\\n"
                         f"|q_zero_point={meta.qparams['zero_point']}\\n")
            text += f'|qscheme={qscheme}\\n'
        return text

    def _tensor_nodes(self, dot, node, leaf):
        """Parameters and buffers of a called module, as nodes of their own."""
        style = {'shape': 'record', 'style': '"filled,rounded"', 'fillcolor': 'Salmon',
                 'fontcolor': '#000000'}
        kinds = [(n, p, f'{node.target}.{n}|op_code=get_parameter') for n, p in
                 leaf.named_parameters()]
        kinds += [(n, b, 'buffer\\l') for n, b in leaf.named_buffers()]
        for name, tensor, head in kinds:
            full = f'{node.target}.{name}'
            label = f'{{{head}{tensor.dtype}{list(tensor.shape)}\\n}}'
            dot.add_node(Node(full, label=label, **style))
            dot.add_edge(Edge(full, node.name))

    def _to_dot(self, graph_module, name, ignore_getattr, skip_node_names_in_args):
        dot = Dot(name, rankdir='TB')
        for node in graph_module.graph.nodes:
            if ignore_getattr and node.op == 'get_attr':
                continue
            dot.add_node(Node(node.name, label=self._get_node_label(
                graph_module, node, skip_node_names_in_args), **self._get_node_style(node)))
            if node.op == 'call_module' and not self.ignore_parameters_and_buffers:
                leaf = self._get_leaf_node(graph_module, node)
                if not isinstance(leaf, torch.fx.GraphModule):
                    self._tensor_nodes(dot, node, leaf)
        for node in graph_module.graph.nodes:
            if ignore_getattr and node.op == 'get_attr':
                continue
            for user in node.users:
                dot.add_edge(Edge(node.name, user.name))
        return dot


def _class_name(module):
    cls = type(module)
    return f'{cls.__module__}.{cls.__qualname__}'
