"""Graph: a list of Nodes, its editing, and its Python code. The list itself and the making of nodes
are in C (_fxscope._GraphBase)."""
import contextlib
import copy
import math
import warnings
from collections import namedtuple

import _fxscope
import torch
from _fxscope import _Namespace, _snake_case
from fxfront.later import Later
from torch.fx import _pytree as fx_pytree
from torch.fx._compatibility import compatibility
from torch.fx.node import (Node, _get_qualified_name, _type_repr, map_arg)
from torch.fx.node import __getattr__  # noqa: F401 (Argument, Target: types for annotations)
from torch.utils import _pytree as pytree

re, typing = Later('re'), Later('typing')
_CustomBuiltin = namedtuple('_CustomBuiltin', ('import_str', 'obj'))
PythonCode = namedtuple('PythonCode', ('src', 'globals'))
_PyTreeInfo = namedtuple('_PyTreeInfo', ('orig_args', 'in_spec', 'out_spec'))
_custom_builtins = {}


def _register_custom_builtin(name, import_str, obj):
    """A name that generated code may always use."""
    _custom_builtins[name] = _CustomBuiltin(import_str, obj)
    _fxscope.fx_register(custom_builtins={k: v.obj for k, v in _custom_builtins.items()})


_register_custom_builtin('inf', 'from math import inf', math.inf)
_register_custom_builtin('nan', 'from math import nan', math.nan)
_register_custom_builtin('NoneType', 'NoneType = type(None)', type(None))
_register_custom_builtin('torch', 'import torch', torch)
_register_custom_builtin('device', 'from torch import device', torch.device)
_register_custom_builtin('fx_pytree', 'import torch.fx._pytree as fx_pytree', fx_pytree)
_register_custom_builtin('pytree', 'import torch.utils._pytree as pytree', pytree)

_binary = {'add': '+', 'sub': '-', 'mul': '*', 'floordiv': '//', 'truediv': '/', 'mod': '%',
           'pow': '**', 'lshift': '<<', 'rshift': '>>', 'and_': '&', 'or_': '|', 'xor': '^',
           'matmul': '@'}
reflectable_magic_methods = {**{k: f'{{}} {v} {{}}' for k, v in _binary.items()},
                             'getitem': '{}[{}]'}
magic_methods = {**reflectable_magic_methods, 'eq': '{} == {}', 'ne': '{} != {}', 'lt': '{} < {}',
                 'gt': '{} > {}', 'le': '{} <= {}', 'ge': '{} >= {}', 'pos': '+{}', 'neg': '-{}',
                 'invert': '~{}'}
inplace_methods = {**{f"i{k.rstrip('_')}": f'{{}} {v}= {{}}' for k, v in _binary.items()},
                   'setitem': '{}[{}] = {}'}


def _is_from_torch(obj):
    """Is it written as torch.something, so that code needs no global for it?"""
    module = getattr(obj, '__module__', None)
    if module is not None:
        return module.partition('.')[0] == 'torch'
    name = getattr(obj, '__name__', None)
    return name is not None and name != 'torch' and any(
        getattr(guess, name, None) is obj for guess in (torch, torch.nn.functional))


def _format_target(base, target):
    for atom in target.split('.'):
        base = f'{base}.{atom}' if atom.isidentifier() else f'getattr({base}, "{atom}")'
    return base


_generics = {list: 'List', dict: 'Dict', set: 'Set', frozenset: 'FrozenSet', tuple: 'Tuple'}


class _CodeWriter:
    """One run of a CodeGen over a graph: what was written so far, and the names that were given."""

    def __init__(self, codegen, root_module, namespace, verbose):
        self.codegen, self.root, self.names, self.verbose = codegen, root_module, namespace, verbose
        self.parameters, self.body, self.globals, self.wrapped = [], [], {}, {}
        self.returns = ''
        self.trace_before = None
        for name, builtin in _custom_builtins.items():
            self.add_global(name, builtin.obj)

    def add_global(self, hint, obj):
        if _is_from_torch(obj) and obj != torch.device:
            return _get_qualified_name(obj)
        name = self.names.create_name(hint, obj)
        if name in self.globals:
            assert self.globals[name] is obj
        else:
            self.globals[name] = obj
        return name

    def type_text(self, t):
        if t == ():
            return '()'
        origin = getattr(t, '__origin__', None)
        if origin is None:
            return self.add_global(_type_repr(t), t)
        origin = getattr(typing, _generics[origin]) if origin in _generics else origin
        name = self.add_global(_type_repr(origin), origin)
        args = [self.type_text(a) for a in getattr(t, '__args__', ())]
        return f"{name}[{','.join(args)}]" if args else name

    def argument(self, a):
        if isinstance(a, tuple) and hasattr(a, '_fields'):
            cls = type(a)
            return f'{self.add_global(_get_qualified_name(cls), cls)}{tuple(a)!r}'
        return repr(a)

    def arguments(self, args, kwargs):
        return ', '.join([self.argument(a) for a in args] +
                         [f'{k} = {self.argument(v)}' for k, v in kwargs.items()])

    def source_comment(self, node):
        """Where the node comes from, unless that was said for the one before."""
        if node.op in ('placeholder', 'output'):
            return
        trace = node.stack_trace
        if not trace:
            if self.trace_before != '':
                self.trace_before = ''
                self.body.append('\n# No stacktrace found for following nodes \n')
        elif trace != self.trace_before:
            self.trace_before = trace
            self.body.append(f'\n# {_trace_summary(trace)}\n')

    def node(self, node):
        write = getattr(self, '_' + node.op, None) if node.op != 'root' else None
        if write is None:
            raise NotImplementedError(f'node: {node.op} {node.target}')
        write(node, '' if node.type is None else f' : {self.type_text(node.type)}')

    def _placeholder(self, node, typed):
        assert isinstance(node.target, str)
        default = f' = {node.args[0]!r}' if node.args else ''
        self.parameters.append(f'{node.target}{typed}{default}')
        name = node.target.replace('*', '')
        if name != repr(node):
            self.body.append(f'{node!r} = {name}\n')

    def _call_method(self, node, typed):
        assert isinstance(node.target, str)
        self.body.append(f'{node!r}{typed} = {_format_target(repr(node.args[0]), node.target)}'
                         f'({self.arguments(node.args[1:], node.kwargs)})')

    def _call_function(self, node, typed):
        target, args = node.target, node.args
        assert callable(target)
        if target.__module__ == '_operator' and target.__name__ in magic_methods:
            assert isinstance(args, tuple)
            text = magic_methods[target.__name__].format(*map(repr, args))
        elif target.__module__ == '_operator' and target.__name__ in inplace_methods:
            text = inplace_methods[target.__name__].format(*map(repr, args))
            self.body.append(f'{text};  {node!r}{typed} = {args[0]!r}')
            return
        else:
            name = self.add_global(_get_qualified_name(target), target)
            if name == 'getattr' and isinstance(args, tuple) and len(args) == 2 and \
                    isinstance(args[1], str) and args[1].isidentifier():
                text = _format_target(repr(args[0]), args[1])
            else:
                text = f'{name}({self.arguments(args, node.kwargs)})'
                if node.meta.get('is_wrapped', False):
                    self.wrapped[name] = None
        self.body.append(f'{node!r}{typed} = {text}')

    def _call_module(self, node, typed):
        assert isinstance(node.target, str)
        self.body.append(f'{node!r}{typed} = {_format_target(self.root, node.target)}'
                         f'({self.arguments(node.args, node.kwargs)})')

    def _get_attr(self, node, typed):
        assert isinstance(node.target, str)
        self.body.append(f'{node!r}{typed} = {_format_target(self.root, node.target)}')

    def _output(self, node, typed):
        if node.type is not None:
            self.returns = f' -> {self.type_text(node.type)}'
        self.body.append(self.codegen.generate_output(node.args[0]))

    def write(self, nodes):
        dying = last_uses(nodes)
        for node in nodes:
            if self.verbose:
                self.source_comment(node)
            self.node(node)
            if node.op == 'placeholder':
                continue
            dead = dying.get(node, ()) if node.op != 'output' else ()
            names = ' = '.join([repr(n) for n in dead] + ['None'])
            self.body.append(f';  {names}\n' if dead else '\n')
        if not self.body:
            self.body.append('pass\n')
        wraps = ''
        if self.wrapped:
            wrap = self.add_global('wrap', torch.fx.wrap)
            wraps = '\n'.join(f'{wrap}("{name}")' for name in self.wrapped)
        if self.codegen._body_transformer:
            self.body = self.codegen._body_transformer(self.body)
        for name, value in self.codegen.additional_globals():
            self.add_global(name, value)
        head = self.codegen.gen_fn_def(self.parameters, self.returns)
        body = '\n'.join('    ' + line for line in ''.join(self.body).split('\n'))
        return PythonCode(f'\n{wraps}\n\n{head}\n{body}', self.globals)


def last_uses(nodes):
    """Node -> the nodes whose values are needed for the last time there, in argument order."""
    user_of, dying = {}, {}
    for node in reversed(nodes):
        def use(n):
            if n not in user_of:
                user_of[n] = node
                dying.setdefault(node, []).append(n)
            return n
        map_arg(node.args, use)
        map_arg(node.kwargs, use)
    return dying


def _trace_summary(trace):
    lines = [line.strip() for line in trace.strip().split('\n')]
    first = next((i for i, line in enumerate(lines) if line.startswith('File ')), len(lines))
    parts = [', '.join(lines[:first])] if first else []
    if first + 1 < len(lines):
        place = re.match(r'File "(.+)", line (\d+), in (.+)$', lines[first])
        if place:
            parts.append(f'File: {place[1]}:{place[2]}, code: {lines[first + 1]}')
    return ', '.join(parts)


class CodeGen:
    """How a graph becomes Python code; methods may be overridden (Graph.set_codegen)."""

    def __init__(self):
        self._body_transformer = None

    def gen_fn_def(self, free_vars, maybe_return_annotation):
        """The line of the def; free_vars are its parameters as they are written."""
        if not free_vars or free_vars[0] != 'self':
            free_vars.insert(0, 'self')
        return f"def forward({', '.join(free_vars)}){maybe_return_annotation}:"

    def generate_output(self, output_args):
        return f'return {output_args!r}'

    def process_inputs(self, *args):
        """The caller's arguments as the placeholders expect them."""
        return args

    def process_outputs(self, outputs):
        """What the graph returns, as the caller expects it."""
        return outputs

    def additional_globals(self):
        """(name, object) pairs that the code needs beside those of its nodes."""
        return []

    def _gen_python_code(self, nodes, root_module, namespace, verbose=False):
        return _CodeWriter(self, root_module, namespace, verbose).write(nodes)


class _PyTreeCodeGen(CodeGen):
    """For graphs whose placeholders are the leaves of trees."""

    def __init__(self, pytree_info):
        super().__init__()
        self.pytree_info = pytree_info

    def process_inputs(self, *inputs):
        return pytree.tree_flatten(inputs)[0]

    def process_outputs(self, out):
        if self.pytree_info is None or self.pytree_info.out_spec is None:
            return out
        if not isinstance(out, (list, tuple)):
            out = [out]
        return pytree.tree_unflatten(out, self.pytree_info.out_spec)

    def gen_fn_def(self, free_vars, maybe_return_annotation):
        if self.pytree_info is None:
            return super().gen_fn_def(free_vars, maybe_return_annotation)
        params = self.pytree_info.orig_args
        if params and params[0] == 'self':
            free_vars.insert(0, 'self')
        head = super().gen_fn_def(params[:], maybe_return_annotation)
        if free_vars:
            leaves = ''.join(f'{v}, ' for v in free_vars)
            head += (f"\n    {leaves}= fx_pytree.tree_flatten_spec([{', '.join(params)}], "
                     'self._in_spec)')
        return head

    def generate_output(self, output_args):
        if self.pytree_info and self.pytree_info.out_spec:
            return f'return pytree.tree_unflatten({output_args!r}, self._out_spec)'
        return super().generate_output(output_args)


class _node_list:
    """The nodes of a graph in order. The graph may be changed while it is walked."""

    def __init__(self, graph, direction='_next'):
        self.graph, self.direction = graph, direction

    def __len__(self):
        return self.graph._len

    def __iter__(self):
        root, forward = self.graph._root, self.direction == '_next'
        node = root.next if forward else root.prev
        while node is not root:
            if not node._erased:
                yield node
            node = node.next if forward else node.prev

    def __reversed__(self):
        return _node_list(self.graph, '_prev' if self.direction == '_next' else '_next')


class _InsertPoint:
    def __init__(self, graph, node, after):
        self.graph, self.before = graph, graph._set_insert(node, after)

    def __enter__(self):
        pass

    def __exit__(self, *exc):
        self.graph._set_insert(*self.before)


_NOT_GIVEN = object()


def _is_empty(default):
    """Is it no default value: none given, or inspect.Signature.empty?"""
    return default is _NOT_GIVEN or \
        isinstance(default, type) and default.__module__ == 'inspect' and \
        default.__name__ == '_empty'


class Graph(_fxscope._GraphBase):
    """Nodes in order; the code of a function."""

    def __init__(self, owning_module=None, tracer_cls=None, tracer_extras=None):
        self._owners = 0
        self._owning_module = owning_module
        self._tracer_cls = tracer_cls
        self._tracer_extras = tracer_extras
        self._codegen = CodeGen()

    @property
    def owning_module(self):
        return self._owning_module

    @owning_module.setter
    def owning_module(self, module):
        if module:
            # 1.13: whoever adopts it second makes it nobody's
            self._owning_module = None if self._owners else module
            self._owners += 1

    @property
    def nodes(self):
        return _node_list(self)

    # ---- making nodes

    def placeholder(self, name, type_expr=None, default_value=_NOT_GIVEN):
        """A parameter. Without a default_value it has none; None is one."""
        args = () if _is_empty(default_value) else (default_value,)
        return self.create_node('placeholder', name, args, type_expr=type_expr)

    def get_attr(self, qualified_name, type_expr=None):
        if self.owning_module and not self._is_reachable(qualified_name):
            warnings.warn(
                'Attempted to insert a get_attr Node with no underlying reference in the owning '
                'GraphModule! Call GraphModule.add_submodule to add the necessary submodule, '
                'GraphModule.add_parameter to add the necessary Parameter, or '
                'nn.Module.register_buffer to add the necessary buffer', stacklevel=2)
        return self.create_node('get_attr', qualified_name, type_expr=type_expr)

    def _is_reachable(self, path):
        parent, _, name = path.rpartition('.')
        try:
            module = self.owning_module.get_submodule(parent)
        except AttributeError:
            warnings.warn(f'Failed to fetch module {parent}!')
            return False
        value = getattr(module, name, None)
        return value is not None and (
            isinstance(value, (torch.nn.Module, torch.nn.Parameter)) or name in module._buffers)

    def call_module(self, module_name, args=None, kwargs=None, type_expr=None):
        if self.owning_module and self.owning_module.get_submodule(module_name) is None:
            warnings.warn('Attempted to insert a call_module Node with no underlying reference in '
                          'the owning GraphModule! Call GraphModule.add_submodule to add the '
                          'necessary submodule')
        return self.create_node('call_module', module_name, args, kwargs, type_expr=type_expr)

    def call_method(self, method_name, args=None, kwargs=None, type_expr=None):
        return self.create_node('call_method', method_name, args, kwargs, type_expr=type_expr)

    def call_function(self, the_function, args=None, kwargs=None, type_expr=None):
        return self.create_node('call_function', the_function, args, kwargs, type_expr=type_expr)

    def output(self, result, type_expr=None):
        return self.create_node('output', 'output', (result,), type_expr=type_expr)

    def inserting_before(self, n=None):
        """From now on new nodes go before n (None: to the beginning); as a context manager, until
        its end."""
        if n is None:
            return self.inserting_after(self._root)
        assert n.graph == self, 'Node to insert before is not in graph.'
        return _InsertPoint(self, n, False)

    def inserting_after(self, n=None):
        """From now on new nodes go directly behind n (None: to the end)."""
        if n is None:
            return self.inserting_before(self._root)
        assert n.graph == self, 'Node to insert after is not in graph.'
        return _InsertPoint(self, n, True)

    # ---- editing

    def erase_node(self, to_erase):
        if len(to_erase.users) > 0:
            raise RuntimeError(f'Tried to erase Node {to_erase} but it still had '
                               f'{len(to_erase.users)} users in the graph: {to_erase.users}!')
        to_erase._remove_from_list()
        to_erase._erased = True
        self._len -= 1
        to_erase.args = map_arg(to_erase.args, lambda n: None)
        to_erase.kwargs = map_arg(to_erase.kwargs, lambda n: None)

    def node_copy(self, node, arg_transform=lambda x: x):
        """A node like it, whose arguments' nodes go through arg_transform."""
        args = map_arg(node.args, arg_transform)
        kwargs = map_arg(node.kwargs, arg_transform)
        assert isinstance(args, tuple)
        assert isinstance(kwargs, dict)
        made = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        made.meta = copy.copy(node.meta)
        return made

    def graph_copy(self, g, val_map, return_output_node=False):
        """Copies the nodes of g that val_map does not have; gives what its output returns."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == 'output':
                value = map_arg(node.args[0], lambda n: val_map[n])
                return (value, node) if return_output_node else value
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def __deepcopy__(self, memo=None):
        g = Graph(tracer_cls=self._tracer_cls)
        outcome = g.graph_copy(self, {}, return_output_node=True)
        g._codegen = copy.deepcopy(self._codegen)
        assert isinstance(outcome, tuple)
        value, output = outcome
        g.output(value, type_expr=output.type)
        return g

    def eliminate_dead_code(self):
        """Erases, from the end, what nobody uses and nobody would miss. Was there anything?"""
        self.lint()
        changed = False
        for node in reversed(self.nodes):
            if not node.is_impure() and len(node.users) == 0:
                self.erase_node(node)
                changed = True
        return changed

    def lint(self):
        """Raises where the graph is not well-formed."""
        seen, names = set(), set()
        for node in self.nodes:
            if node.op not in ('placeholder', 'call_method', 'call_module', 'call_function',
                               'get_attr', 'output'):
                raise RuntimeError(f'Node {node} had unknown opcode {node.op}!')
            if node.graph is not self:
                raise RuntimeError(f"Node '{node}' does not belong to this Graph!")

            def check(arg):
                if arg.graph is not self:
                    raise RuntimeError(
                        f"Argument '{arg}' of Node '{node}' does not belong to this Graph, but was "
                        'used as an argument! If you are copying nodes from another graph, make '
                        f'sure to use ``arg_transform`` on node_copy() to remap values\n{self}')
                if arg not in seen:
                    raise RuntimeError(
                        f"Argument '{arg}' of Node '{node}' was used before it has been defined! "
                        f'Please check that Nodes in the graph are topologically ordered\n{self}')
            map_arg(node.args, check)
            map_arg(node.kwargs, check)
            seen.add(node)
            if node.name in names:
                raise RuntimeError(f'Node redefined name {node.name}!')
            names.add(node.name)
        if self.owning_module:
            for node in self.nodes:
                self._lint_target(node)

    def _lint_target(self, node):
        what = f'Node {node} target {node.target}'
        if node.op == 'call_function':
            if not callable(node.target):
                raise ValueError(f'{what} has type {torch.typename(node.target)} but a Callable is '
                                 'expected')
            return
        if not isinstance(node.target, str):
            raise ValueError(f'{what} has type {torch.typename(node.target)} but a str is expected')
        if node.op not in ('get_attr', 'call_module'):
            return
        at, path = self.owning_module, ''
        for atom in node.target.split('.'):
            value = getattr(at, atom, None)
            if value is None:
                raise RuntimeError(f'{what} references nonexistent attribute {atom} of {path}')
            module = isinstance(value, torch.nn.Module)
            if node.op == 'call_module' and not module:
                raise RuntimeError(f'{what} {atom} of {path} does not reference an nn.Module')
            if not module and not isinstance(value, torch.nn.Parameter) and \
                    atom not in at._buffers:
                warnings.warn(f'{what} {atom} of {path} does not reference an nn.Module, '
                              "nn.Parameter, or buffer, which is what 'get_attr' Nodes typically "
                              'target')
            if not module:
                return
            at, path = value, f'{path}.{atom}' if path else atom

    # ---- text and code

    def __str__(self):
        return 'graph():' + ''.join(f'\n    {node.format_node()}' for node in self.nodes)

    def print_tabular(self):
        """Prints the nodes as a table."""
        from torch.fx._tabulate import tabulate
        print(tabulate([[n.op, n.name, n.target, n.args, n.kwargs] for n in self.nodes],
                       headers=['opcode', 'name', 'target', 'args', 'kwargs']))

    def python_code(self, root_module, verbose=False):
        """The source of forward, and the globals that it needs. root_module: how it calls self."""
        names = _Namespace()

        def node_repr(node):
            return names.create_name(node.name, node)
        before = [(node, node._repr_fn) for node in self.nodes]
        try:
            for node, _ in before:
                node._repr_fn = node_repr
            return self._codegen._gen_python_code(self.nodes, root_module, names, verbose=verbose)
        finally:
            for node, repr_fn in before:
                node._repr_fn = repr_fn

    def set_codegen(self, codegen):
        self._codegen = codegen

    def process_inputs(self, *args):
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out):
        return self._codegen.process_outputs(out)

    flatten_inps, unflatten_outs = process_inputs, process_outputs

    def on_generate_code(self, make_transformer):
        """make_transformer(current) gives the function that the body's lines go through; as a
        context manager, until its end."""
        codegen, before = self._codegen, self._codegen._body_transformer
        codegen._body_transformer = make_transformer(before)

        @contextlib.contextmanager
        def undo():
            try:
                yield
            finally:
                codegen._body_transformer = before
        return undo()

    # ---- for drawing

    def _repr_svg_(self):
        return _fxscope.draw_graph(self, 'svg') if hasattr(_fxscope, 'draw_graph') else None
