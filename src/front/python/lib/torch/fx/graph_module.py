"""GraphModule: a module whose forward is the code of a Graph."""
import collections
import copy
import itertools
import sys
import warnings

import torch
from fxfront.later import Later
from torch.fx._compatibility import compatibility
from torch.fx.graph import (Graph, PythonCode, _custom_builtins, _is_from_torch, _PyTreeCodeGen)
from torch.nn import Module

# ---- running code

linecache = Later('linecache')
_eval_count = itertools.count()
_SOURCES_KEPT = 512


class _Globals(dict):
    """The globals of generated code; torch.fx.wrap holds them weakly."""
    __slots__ = ('__weakref__',)


_sources = collections.OrderedDict()


def _remember_source(name, src):
    """Lets tracebacks show generated code, the latest at least."""
    _sources[name] = src
    linecache.cache[name] = len(src), None, (src + '\n').splitlines(True), name
    while len(_sources) > _SOURCES_KEPT:
        linecache.cache.pop(_sources.popitem(last=False)[0], None)


def _exec_with_source(src, globals):
    name = f'<eval_with_key>.{next(_eval_count)}'
    globals['__name__'] = globals.get('__name__', name)
    _remember_source(name, src)
    exec(compile(src, name, 'exec'), globals)


def _forward_from_source(src, globals):
    scope = _Globals(globals)
    _exec_with_source(src, scope)
    return scope['forward']


# ---- imports

def _format_import_statement(name, obj, importer):
    if name in _custom_builtins:
        return _custom_builtins[name].import_str
    if _is_from_torch(obj):
        return 'import torch'
    module, attr = importer.get_name(obj)
    return f'from {module} import {attr} as {name}'


def _format_import_block(globals, importer):
    return '\n'.join({_format_import_statement(name, obj, importer)
                      for name, obj in globals.items()})


# ---- attributes by dotted names

def _copy_attr(from_module, to_module, target):
    """The same attribute in to_module; modules on the way are made where they lack."""
    *prefix, name = target.split('.')
    for item in prefix:
        source, there = getattr(from_module, item), getattr(to_module, item, None)
        if source is there:
            return  # it is all there
        if there is None:
            there = Module()
            setattr(to_module, item, there)
        from_module, to_module = source, there
    value = getattr(from_module, name)
    if isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter):
        to_module.register_buffer(name, value)
    else:
        setattr(to_module, name, value)


def _assign_attr(value, to_module, target):
    *prefix, name = target.split('.')
    for item in prefix:
        there = getattr(to_module, item, None)
        if there is None:
            there = Module()
            setattr(to_module, item, there)
        to_module = there
    if isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter):
        to_module.register_buffer(name, value)
    else:
        setattr(to_module, name, value)


class _WrappedCall:
    """GraphModule.__call__: an exception in the generated code is shown where it is."""

    def __init__(self, cls, cls_call):
        self.cls, self.cls_call = cls, cls_call

    def _said(self, summary):
        import traceback
        lines = linecache.getlines(summary.filename)
        return '\n'.join((
            traceback.format_exc(),
            f"Call using an FX-traced Module, line {summary.lineno} of the traced Module's "
            'generated forward function:',
            ''.join(lines[summary.lineno - 2:summary.lineno]),
            f"{'~' * len(summary.line)}~~~ <--- HERE",
            '\n'.join(lines[summary.lineno:summary.lineno + 2])))

    def __call__(self, obj, *args, **kwargs):
        try:
            if self.cls_call is not None:
                return self.cls_call(obj, *args, **kwargs)
            return super(self.cls, obj).__call__(*args, **kwargs)
        except Exception as e:
            assert e.__traceback__
            import traceback
            top = traceback.StackSummary.extract(traceback.walk_tb(e.__traceback__))[-1]
            if 'eval_with_key' not in top.filename:
                raise
            print(self._said(top), file=sys.stderr)
            raise e.with_traceback(None)


class GraphModule(Module):
    """A module made from a Graph, and from what that refers to."""

    def __new__(cls, *args, **kwargs):
        # each has a class of its own, for its forward; classes of other instances are left out
        base = next((c for c in cls.__mro__ if c.__qualname__ ==
                     'GraphModule.__new__.<locals>.GraphModuleImpl'), None)
        if base is not None:
            cls = base.__bases__[0]

        class GraphModuleImpl(cls):
            pass
        return super().__new__(GraphModuleImpl)

    def __init__(self, root, graph, class_name='GraphModule'):
        self.__class__.__name__ = class_name
        super().__init__()
        if isinstance(root, Module):
            if hasattr(root, 'training'):
                self.training = root.training
            for node in graph.nodes:
                if node.op in ('get_attr', 'call_module'):
                    assert isinstance(node.target, str)
                    _copy_attr(root, self, node.target)
        elif isinstance(root, dict):
            self._from_dict(root, graph)
        else:
            raise RuntimeError(f'Unsupported type {root} passed for root!')
        self.graph = graph
        self._tracer_cls = None
        if self.graph._tracer_cls and '<locals>' not in self.graph._tracer_cls.__qualname__:
            self._tracer_cls = self.graph._tracer_cls
        self._tracer_extras = self.graph._tracer_extras or {}
        self.meta = {}

    def _from_dict(self, root, graph):
        targets = []
        for node in graph.nodes:
            if node.op in ('get_attr', 'call_module'):
                if node.target not in root:
                    raise RuntimeError(f'Node {node} referenced target {node.target} but that '
                                       'target was not provided in ``root``!')
                targets.append(node.target)
        for target in sorted(targets, key=lambda t: t.count('.')):
            _assign_attr(root[target], self, target)

    # ---- graph and code

    @property
    def graph(self):
        """The Graph; assigning one recompiles."""
        return self._graph

    @graph.setter
    def graph(self, g):
        assert isinstance(g, Graph), f'Expected a Graph instance, but got {type(g)}'
        self._graph = g
        g.owning_module = self
        self.recompile()

    @property
    def code(self):
        """The source of forward, as of the last recompile."""
        if not hasattr(self, '_code'):
            raise RuntimeError('Code has not been generated! Please report a bug to PyTorch')
        return self._code

    def _forward_of(self, code):
        return _forward_from_source(code.src, code.globals)

    def recompile(self):
        """Makes forward from the graph, after it was edited."""
        if isinstance(self._graph._codegen, _PyTreeCodeGen):
            self._in_spec = self._graph._codegen.pytree_info.in_spec
            self._out_spec = self._graph._codegen.pytree_info.out_spec
        code = self._graph.python_code(root_module='self')
        self._code = code.src
        cls = type(self)
        cls.forward = self._forward_of(code)
        if '_wrapped_call' not in vars(cls):
            cls._wrapped_call = _WrappedCall(cls, vars(cls).get('__call__'))

            def call_wrapped(self, *args, **kwargs):
                return self._wrapped_call(self, *args, **kwargs)
            cls.__call__ = call_wrapped
        return code

    def __str__(self):
        return '\n'.join([super().__str__(), self._code,
                          '# To see more debug info, please use `graph_module.print_readable()`'])

    def print_readable(self):
        """Prints a class with this module's code, and where each part of it comes from."""
        print(self._readable())

    def _readable(self, name=None):
        code = self._graph.python_code(root_module='self', verbose=True).src.lstrip('\n')
        text = f'class {name or self._get_name()}(torch.nn.Module):\n' + \
            '\n'.join('    ' + line for line in code.split('\n'))
        inner = [m._readable(n) for n, m in self.named_children() if isinstance(m, GraphModule)]
        return '\n'.join([text] + ['\n'.join('    ' + line for line in i.split('\n'))
                                   for i in inner])

    # ---- submodules

    def add_submodule(self, target, m):
        """Puts m at a dotted path, with bare modules on the way; False when something else is in
        the way."""
        *prefix, name = target.split('.')
        at = self
        for item in prefix:
            there = getattr(at, item, None)
            if there is None:
                there = Module()
                setattr(at, item, there)
            if not isinstance(there, Module):
                return False
            at = there
        at.add_module(name, m)
        return True

    def delete_submodule(self, target):
        """False unless the path leads to a submodule."""
        *prefix, name = target.split('.')
        at = self
        for item in prefix:
            at = getattr(at, item, None)
            if not isinstance(at, Module):
                return False
        if not isinstance(getattr(at, name, None), Module):
            return False
        delattr(at, name)
        return True

    def delete_all_unused_submodules(self):
        """Keeps what the graph gets or calls, what is on the way there, and all below."""
        used = set()
        for node in self.graph.nodes:
            if node.op not in ('call_module', 'get_attr'):
                continue
            atoms = node.target.split('.')
            used.update('.'.join(atoms[:i + 1]) for i in range(len(atoms)))
            if node.op == 'call_module':
                try:
                    module = self.get_submodule(node.target)
                except AttributeError:
                    continue
                used.update(f'{node.target}.{n}' if n else node.target
                            for n, _ in module.named_modules())
        for name in [n for n, _ in self.named_modules() if n and n not in used]:
            self.delete_submodule(name)

    # ---- saving and copying

    def to_folder(self, folder, module_name='FxModule'):
        """Writes module_name's source and its state_dict into a folder, which becomes a package."""
        from pathlib import Path  # takes longer to import than a network to trace
        folder = Path(folder)
        folder.mkdir(exist_ok=True)
        torch.save(self.state_dict(), folder / 'state_dict.pt')
        presets = '\n'.join(v.import_str for v in _custom_builtins.values())
        lines = [f'\nimport torch\n{presets}\n\nfrom torch.nn import *\n'
                 f'class {module_name}(torch.nn.Module):\n    def __init__(self):\n'
                 '        super().__init__()\n']
        pickled = []
        for name, module in self.named_children():
            text = self._constructor(module)
            if text is None:
                pickled.append(name)
                path = folder / f'{name}.pt'
                torch.save(module, path)
                shown = module.__repr__().replace('\r', ' ').replace('\n', ' ')
                text = f"torch.load(r'{path}') # {shown}"
            lines.append(f'        self.{name} = {text}\n')
        for name, buffer in self._buffers.items():
            if buffer is not None:
                lines.append(f"        self.register_buffer('{name}', torch.empty("
                             f'{list(buffer.shape)}, dtype={buffer.dtype}))\n')
        for name, param in self._parameters.items():
            if param is not None:
                lines.append(f'        self.{name} = torch.nn.Parameter(torch.empty('
                             f'{list(param.shape)}, dtype={param.dtype}))\n')
        lines.append(f"        self.load_state_dict(torch.load(r'{folder}/state_dict.pt'))\n")
        code = '\n'.join('    ' + line for line in self.code.split('\n')[1:])
        (folder / 'module.py').write_text(''.join(lines) + '\n' + code + '\n')
        (folder / '__init__.py').write_text('from .module import *')
        if pickled:
            warnings.warn('Was not able to save the following children modules as reprs -'
                          f'saved as pickled files instead: {pickled}')

    @staticmethod
    def _constructor(module):
        nn = torch.nn
        simple = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.BatchNorm1d, nn.BatchNorm2d,
                  nn.BatchNorm3d)
        return module.__repr__() if type(module) in simple else None

    def __reduce__(self):
        state = self.__dict__.copy()
        del state['_graph']
        from torch.package import sys_importer
        code = self.recompile()
        return reduce_graph_module, (state, _format_import_block(code.globals, sys_importer))

    def __deepcopy__(self, memo):
        bare = torch.nn.Module()
        bare.__dict__ = copy.deepcopy({k: v for k, v in self.__dict__.items() if k != '_graph'},
                                      memo)
        made = GraphModule(bare, copy.deepcopy(self.graph, memo))
        made.meta = dict(getattr(self, 'meta', {}))
        return made

    def __copy__(self):
        return GraphModule(self, self.graph)


class _CodeOnlyModule(Module):
    def __init__(self, body):
        super().__init__()
        self.__dict__ = body


def reduce_graph_module(body, import_block):
    """What pickle calls: traces the code anew, every module a leaf."""
    source = body.get('_code') or body.get('code')
    forward = _forward_from_source(import_block + source, {})
    return _deserialize_graph_module(forward, body)


def _deserialize_graph_module(forward, body):
    _CodeOnlyModule.forward = forward
    cls = body.get('_tracer_cls')
    if cls is None:
        from torch.fx._symbolic_trace import Tracer
        cls = Tracer
    name = body.get('_graphmodule_cls_name', 'GraphModule')

    class KeepModules(cls):
        def is_leaf_module(self, m, module_qualified_name):
            return True
    root = _CodeOnlyModule(body)
    tracer = KeepModules()
    graph = tracer.trace(root, **body.get('_tracer_extras', {}))
    graph._tracer_cls = cls
    made = GraphModule(root, graph, name)
    for k, v in body.items():
        if not hasattr(made, k):
            setattr(made, k, v)
    return made
