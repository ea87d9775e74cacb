"""Tracer: runs a module's forward on proxies, and keeps what they record."""
import builtins
import contextlib
import functools
import gc
import math
import sys
import types
import warnings
import weakref

import _fxscope
import torch
from fxfront import signatures
from torch.fx import node as _node
from torch.fx._compatibility import compatibility
from torch.fx.graph import Graph, _PyTreeCodeGen, _PyTreeInfo
from torch.fx.graph_module import GraphModule
from torch.fx.node import Node, base_types, map_aggregate
from torch.fx.node import __getattr__  # noqa: F401 (Argument, Target: types for annotations)
from torch.fx.proxy import ParameterProxy, Proxy, TraceError, TracerBase
from torch.nn import Module, Parameter, Sequential
from torch.utils import _pytree as pytree

CO_VARARGS, CO_VARKEYWORDS = 0x04, 0x08  # of code's co_flags
HAS_VARSTUFF = CO_VARARGS | CO_VARKEYWORDS
_is_fx_tracing_flag = False


def is_fx_tracing():
    return _is_fx_tracing_flag


# ---- classes whose making is recorded

_proxyable_classes = {}


class ProxyableClassMeta(type):
    """Metaclass: making an object from a proxy is recorded as a call of the class."""

    def __init__(cls, name, bases, attrs):
        _proxyable_classes.setdefault(cls)
        super().__init__(name, bases, attrs)

    def __call__(cls, *args, **kwargs):
        proxy = _find_proxy(args, kwargs)
        if proxy is not None:
            return proxy.tracer.create_proxy('call_function', cls, args, kwargs)
        return super().__call__(*args, **kwargs)


def _find_proxy(*objects):
    """The proxy that was met last in them, or None."""
    found = None

    def look(x):
        nonlocal found
        if isinstance(x, Proxy):
            found = x
    for o in objects:
        map_aggregate(o, look)
    return found


# ---- functions that are recorded where a proxy is given to them

_wrapped_fns_to_patch = []      # (globals, or a weak reference to them; name)
_wrapped_methods_to_patch = []  # (class, name)


def wrap(fn_or_name):
    """Makes the function of that name, of the caller's module, a call_function node instead of
    tracing through it. At the top level of a module only."""
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError('Unsupported type for global function! Must be either a callable or '
                           'string name')
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    frame = sys._getframe(1)
    if frame.f_code.co_name != '<module>':
        raise NotImplementedError('wrap must be called at the top level of a module')
    module = frame.f_globals
    try:
        module = weakref.ref(module)  # of generated code, which must not outlive its GraphModule
    except TypeError:
        pass
    _wrapped_fns_to_patch.append((module, name))
    return fn_or_name


def _wrapped_globals():
    """The registered (globals, name) whose module is still there."""
    alive = []
    for entry in _wrapped_fns_to_patch:
        module, name = entry
        if isinstance(module, weakref.ref):
            module = module()
        if module is not None:
            alive.append(entry)
            yield module, name
    _wrapped_fns_to_patch[:] = alive


def _create_wrapped_func(orig_fn):
    @functools.wraps(orig_fn)
    def wrapped(*args, **kwargs):
        proxy = _find_proxy(args, kwargs)
        if proxy is None:
            return orig_fn(*args, **kwargs)
        made = proxy.tracer.create_proxy('call_function', orig_fn, args, kwargs)
        made.node.meta['is_wrapped'] = True
        return made
    return wrapped


def _create_wrapped_method(cls, name):
    orig_fn = getattr(cls, name)

    @functools.wraps(orig_fn)
    def wrapped(*args, **kwargs):
        proxy = _find_proxy(args, kwargs)
        if proxy is None:
            return orig_fn(*args, **kwargs)
        return proxy.tracer.create_proxy('call_method', name, args, kwargs)
    return wrapped


class _Patcher:
    """Attributes that are other ones until the end of a trace."""

    def __init__(self):
        self.undo, self.visited = [], set()

    def patch(self, frame_dict, name, new_fn, deduplicate=True):
        if deduplicate and getattr(frame_dict.get(name), '__fx_already_patched', False):
            return
        with contextlib.suppress(AttributeError):
            setattr(new_fn, '__fx_already_patched', deduplicate)
        before = frame_dict.get(name, self)
        frame_dict[name] = new_fn

        def undo():
            if before is self:
                del frame_dict[name]
            else:
                frame_dict[name] = before
        self.undo.append(undo)

    def patch_method(self, cls, name, new_fn, deduplicate=True):
        before = vars(cls).get(name, self)
        if deduplicate and getattr(before, '__fx_already_patched', False):
            return
        setattr(new_fn, '__fx_already_patched', deduplicate)
        setattr(cls, name, new_fn)
        self.undo.append(lambda: delattr(cls, name) if before is self
                         else setattr(cls, name, before))

    def visit_once(self, thing):
        known = id(thing) in self.visited
        self.visited.add(id(thing))
        return not known

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        while self.undo:
            self.undo.pop()()


def _patch_wrapped_functions(patcher):
    for frame_dict, name in _wrapped_globals():
        if name not in frame_dict and hasattr(builtins, name):
            patcher.patch(frame_dict, name, _create_wrapped_func(getattr(builtins, name)))
        else:
            patcher.patch(frame_dict, name, _create_wrapped_func(frame_dict[name]))
    for cls, name in _wrapped_methods_to_patch:
        patcher.patch_method(cls, name, _create_wrapped_method(cls, name))


def _autowrap_check(patcher, frame_dict, function_ids):
    if not patcher.visit_once(frame_dict):
        return
    found = [(name, value) for name, value in frame_dict.items()
             if id(value) in function_ids and name[0] != '_' and callable(value)]
    for name, value in found:
        patcher.patch(frame_dict, name, _create_wrapped_func(value))


def _patch_function(fn, nargs):
    """fn with its * and ** and keyword-only parameters as ordinary ones: nargs in all."""
    code = fn.__code__.replace(co_argcount=nargs, co_posonlyargcount=0, co_kwonlyargcount=0,
                               co_flags=fn.__code__.co_flags & ~HAS_VARSTUFF)
    return types.FunctionType(code, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)


# ---- concrete arguments

class PHBase:
    """Stands in concrete_args for what stays a placeholder."""

    def __repr__(self):
        return 'PH'


PH = PHBase()


def _assert_is_none(value, msg):
    assert value is None, msg


def _default(defaults, name):
    return (defaults[name],) if name in defaults else ()


_NO_TENSOR = frozenset((bool, int, str, float, type(None), tuple, list, dict, types.FunctionType))


class Tracer(TracerBase):
    """Traces modules and functions. Methods may be overridden; see each."""
    _paused = False  # modules that are called just compute
    _root_function = None  # in the place of the root's forward

    def __init__(self, autowrap_modules=(math,), autowrap_functions=(),
                 param_shapes_constant=False):
        super().__init__()
        self._autowrap_function_ids = _ids_of(autowrap_modules) | {id(f) for f in
                                                                   autowrap_functions}
        self._autowrap_search = list(autowrap_modules)
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths = None
        self.root_module_name = ''

    # ---- what a module is

    def is_leaf_module(self, m, module_qualified_name):
        """Whether m becomes one call_module node; otherwise its forward is traced."""
        return m.__module__.startswith(('torch.nn', 'torch.ao.nn')) and \
            not isinstance(m, Sequential)

    def path_of_module(self, mod):
        """mod's dotted path from the root; NameError when it is not below it."""
        if self.submodule_paths:
            path = self.submodule_paths.get(mod)
            if path is None:
                raise NameError('module is not installed as a submodule')
            assert isinstance(path, str)
            return path
        for name, module in self.root.named_modules():
            if module is mod:
                return name
        raise NameError('module is not installed as a submodule')

    def call_module(self, m, forward, args, kwargs):
        """Called where a module is called; forward(*args, **kwargs) is what it would do."""
        path = self.path_of_module(m)
        if self.is_leaf_module(m, path):
            return self.create_proxy('call_module', path, args, kwargs)
        outer = self._scope
        self._scope = (outer, path, type(m).__name__)
        try:
            return forward(*args, **kwargs)
        finally:
            self._scope = outer

    def getattr(self, attr, attr_val, parameter_proxy_cache):
        """Called where an attribute of a module is read that Module.__getattr__ finds."""
        if isinstance(attr_val, Parameter):
            proxy = self._proxy_of(attr_val, self._parameter_names, self.root.named_parameters,
                                   parameter_proxy_cache)
            if proxy is not None:
                return proxy
        elif self.proxy_buffer_attributes and isinstance(attr_val, torch.Tensor):
            proxy = self._proxy_of(attr_val, self._buffer_names, self.root.named_buffers,
                                   parameter_proxy_cache)
            if proxy is not None:
                return proxy
        return attr_val

    def _module_getattr(self, attr, attr_val, parameter_proxy_cache):
        return self.getattr(attr, attr_val, parameter_proxy_cache)

    def _proxy_of(self, tensor, names, search, cache):
        name = _name_of(tensor, names, search)
        if name is None:
            return None
        if name not in cache:
            if self.param_shapes_constant:
                cache[name] = self.create_proxy(
                    'get_attr', name, (), {},
                    proxy_factory_fn=lambda node: ParameterProxy(self, node, name, tensor))
            else:
                cache[name] = self.create_proxy('get_attr', name, (), {})
        return cache[name]

    # ---- arguments (the ordinary ones are made in C)

    def _create_special(self, a):
        """Parameters, tensors, modules and the like as arguments; NotImplemented for others."""
        if isinstance(a, torch.Tensor):
            return self._tensor_arg(a)
        if isinstance(a, Module):
            for name, module in self.root.named_modules():
                if a is module:
                    if not name and not _fxscope.strict():
                        raise NotImplementedError('the network itself is no value of its graph')
                    return self.create_node('get_attr', name, (), {})
        if isinstance(a, tuple) and hasattr(a, '_fields'):
            args = tuple(self.create_arg(x) for x in a)
            return self.create_node('call_function', type(a), args, {})
        if type(a) in _proxyable_classes:
            return self._stored(a, f'_{type(a).__name__}_constant_')
        if hasattr(type(a), '__dataclass_fields__') and not _fxscope.strict() and \
                not isinstance(a, (tuple, list, dict)):
            return self._dataclass_arg(a)
        return NotImplemented

    def _dataclass_arg(self, a):
        """A call of its class, as torch.fx 2 has it; 1.13 refuses dataclasses."""
        kwargs = {name: self.create_arg(getattr(a, name))
                  for name, field in type(a).__dataclass_fields__.items() if field.init}
        return self.create_node('call_function', type(a), (), kwargs)

    def _tensor_arg(self, a):
        if isinstance(a, Parameter):
            name = _name_of(a, self._parameter_names, self.root.named_parameters)
            if name is None:
                raise NameError('parameter is not a member of this module')
            return self.create_node('get_attr', name, (), {})
        name = _name_of(a, self._buffer_names, self.root.named_buffers)
        if name is not None:
            return self.create_node('get_attr', name, (), {})
        return self._stored(a, '_tensor_constant')

    def _stored(self, a, prefix):
        """A get_attr of an attribute of the root that holds a."""
        known = self.tensor_attrs.get(id(a))
        if known is None:
            i = 0
            while hasattr(self.root, f'{prefix}{i}'):
                i += 1
            known = self.tensor_attrs[id(a)] = f'{prefix}{i}', a
            setattr(self.root, known[0], a)
        return self.create_node('get_attr', known[0], (), {})

    # ---- the trace

    def create_args_for_root(self, root_fn, is_module, concrete_args=None):
        """Makes the placeholders from root_fn's signature: the function to call, and its
        arguments."""
        fn = signatures.unwrapped(root_fn)
        code = fn.__code__
        total = code.co_argcount + code.co_kwonlyargcount
        names = list(code.co_varnames)
        args = []
        if is_module:
            if total == 0:
                raise RuntimeError('``self`` argument cannot be part of *args expansion!')
            args.append(self.root)
        defaults = signatures.defaults(fn)
        params = names[len(args):total]
        if isinstance(concrete_args, tuple):
            if len(params) != len(concrete_args):
                raise RuntimeError(f'Tracing expected {len(params)} arguments but got '
                                   f'{len(concrete_args)} concrete arguments')
            concrete_args = dict(zip(params, concrete_args))
        for name in params:
            args.append(self._argument(fn, defaults, name, concrete_args or {}))
        if code.co_kwonlyargcount > 0 or code.co_flags & HAS_VARSTUFF:
            stars = iter(names[total:])
            if code.co_flags & CO_VARARGS:
                args.append(self.create_proxy('placeholder', '*' + next(stars), (), {}))
            if code.co_flags & CO_VARKEYWORDS:
                args.append(self.create_proxy('placeholder', '**' + next(stars), (), {}))
            root_fn = _patch_function(root_fn, len(args))
        flat, in_spec = pytree.tree_flatten(tuple(args))
        if all(isinstance(s, pytree.LeafSpec) for s in in_spec.children_specs):
            return root_fn, args
        return self._over_leaves(root_fn, names[:total], in_spec), flat

    def _over_leaves(self, root_fn, params, in_spec):
        """root_fn as a function of the leaves of its arguments, giving the leaves of its result."""
        codegen = self.graph._codegen = _PyTreeCodeGen(_PyTreeInfo(params, in_spec, None))

        def flatten_fn(*leaves):
            out = root_fn(*pytree.tree_unflatten(list(leaves), in_spec))
            flat, out_spec = pytree.tree_flatten(out)
            codegen.pytree_info = codegen.pytree_info._replace(out_spec=out_spec)
            return flat
        return flatten_fn

    def _argument(self, fn, defaults, name, concrete_args):
        if name not in concrete_args:
            return self.create_proxy('placeholder', name, _default(defaults, name), {},
                                     type_expr=fn.__annotations__.get(name))
        count = 0

        def leaf(x):
            nonlocal count
            count += 1
            out = self.create_proxy('placeholder', f'{name}_{count}', _default(defaults, name), {})
            if isinstance(x, PHBase):
                return out
            said = f'{name} has been specialized to have value {x} but got another value'
            if x is None:
                self.create_proxy('call_function', _assert_is_none, (out, said), {})
            elif type(x) is bool or type(x) in base_types and type(x) is not torch.Tensor:
                self.create_proxy('call_function', torch._assert, (out == x, said), {})
            else:
                warnings.warn(f'Was not able to add assertion to guarantee correct input {name} '
                              'to specialized function. It is up to the user to make sure that '
                              'your inputs match the inputs you specialized the function with.')
            return x
        return pytree.tree_map(leaf, concrete_args[name])

    def _collect_tensor_attrs(self, module, path):
        """Tensors that are plain attributes of modules: id -> (dotted name, the tensor)."""
        for name, value in module.__dict__.items():
            if type(value) not in _NO_TENSOR and isinstance(value, torch.Tensor):
                self.tensor_attrs[id(value)] = path + name, value
        for name, child in module._modules.items():
            if child is not None:
                self._collect_tensor_attrs(child, f'{path}{name}.')

    def trace(self, root, concrete_args=None):
        """The Graph of a module's forward, or of a function."""
        if isinstance(root, Module):
            self.root = root
            assert hasattr(type(root), self.traced_func_name), (
                f"traced_func_name={self.traced_func_name} doesn't exist in {type(root).__name__}")
            fn = self._root_function or getattr(type(root), self.traced_func_name)
            self.root_module_name = root._get_name()
            self.submodule_paths = {m: n for n, m in root.named_modules()}
        else:
            self.root = Module()
            fn = root
        self.graph = Graph(tracer_cls=getattr(self, '__class__', None))
        self._parameter_names, self._buffer_names = {}, {}
        self.tensor_attrs = {}
        self._collect_tensor_attrs(self.root, '')
        assert isinstance(fn, types.FunctionType)
        self._scope = (None, '', type(self.root).__name__)
        fn, args = self.create_args_for_root(fn, isinstance(root, Module), concrete_args)
        self._run(fn, args)
        self.submodule_paths = None
        return self.graph

    def _run(self, fn, args):
        global _is_fx_tracing_flag
        before, _is_fx_tracing_flag = _is_fx_tracing_flag, True
        collecting = gc.isenabled()
        gc.disable()  # what a trace makes stays: looking for garbage in it takes most of its time
        try:
            with _Patcher() as patcher:
                self._patch_modules(patcher)
                _patch_wrapped_functions(patcher)
                _autowrap_check(patcher, fn.__globals__, self._autowrap_function_ids)
                for module in self._autowrap_search:
                    _autowrap_check(patcher, module.__dict__, self._autowrap_function_ids)
                self.create_node('output', 'output', (self.create_arg(fn(*args)),), {},
                                 type_expr=fn.__annotations__.get('return', None))
        finally:
            _is_fx_tracing_flag = before
            self._scope = None
            if collecting:
                gc.enable()

    def _patch_modules(self, patcher):
        cache = {}
        orig_call, orig_getattr = Module.__call__, Module.__getattr__

        @functools.wraps(orig_getattr)
        def module_getattr(mod, attr):
            value = orig_getattr(mod, attr)
            return value if self._paused else self.getattr(attr, value, cache)

        @functools.wraps(orig_call)
        def module_call(mod, *args, **kwargs):
            if self._paused:
                return orig_call(mod, *args, **kwargs)

            def forward(*args, **kwargs):
                return orig_call(mod, *args, **kwargs)
            _autowrap_check(patcher, getattr(getattr(mod, 'forward', mod), '__globals__', {}),
                            self._autowrap_function_ids)
            return self.call_module(mod, forward, args, kwargs)

        patcher.patch_method(Module, '__getattr__', module_getattr, deduplicate=False)
        patcher.patch_method(Module, '__call__', module_call, deduplicate=False)


def _name_of(tensor, names, search):
    """The name under which search() finds it; names remembers (id -> name, tensor)."""
    known = names.get(id(tensor))
    if known is None:
        for name, t in search():
            names.setdefault(id(t), (name, t))
        known = names.get(id(tensor))
        if known is None:
            return None
    return known[0] if known[1] is tensor else None


@functools.lru_cache(maxsize=8)
def _ids_of(modules):
    return frozenset(id(value) for module in modules for name, value in module.__dict__.items()
                     if not name.startswith('_') and callable(value))


def symbolic_trace(root, concrete_args=None):
    """root (a module or function) as a GraphModule."""
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = root.__class__.__name__ if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, name)
