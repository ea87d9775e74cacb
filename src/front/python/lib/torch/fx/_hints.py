"""HintedTracer: a trace that knows, for the example inputs, what every node computes. So int(),
len(), bool() and loops over proxies have answers, which a plain trace refuses. A concrete one also
gives sizes, rank, dtype as plain Python values, so that they leave no nodes.

Results are inferred without their values where possible (shapes, and small integers); what depends
on data is computed when it is asked for."""
import contextlib
import operator

import _fxscope
import torch
from fxfront import roots
from torch.fx._symbolic_trace import Tracer
from torch.fx.graph_module import GraphModule
from torch.fx.node import map_aggregate, map_arg
from torch.fx.proxy import Attribute, HintedAttribute, HintedProxy, Proxy, TraceError
from torch.nn import Module, Sequential

_PLAIN_ATTRIBUTES = frozenset('shape ndim dtype device layout is_cuda is_quantized'.split())
_PLAIN_METHODS = frozenset('size dim numel nelement ndimension stride element_size get_device '
                           'is_floating_point is_complex is_contiguous'.split())


class _Unknown(Exception):
    """Why a node has no value."""


def _made(value, name):
    return value.value(name) if hasattr(value, 'star') else value


def _of_example(value):
    """A tensor without data says 'meta' where the example's says 'cpu'."""
    return torch.device('cpu') if isinstance(value, torch.device) and value.type == 'meta' else value


def _is_plain(value):
    return isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter)


def _of_its_own(value):
    return value.detach() if _is_plain(value) else value


def _copied(value):
    return value.clone() if _is_plain(value) else value


def _after(node):
    node = node.next
    while node.op != 'root':
        yield node
        node = node.next


_WRITES = frozenset((operator.setitem, operator.delitem, operator.iadd, operator.isub, operator.imul,
                     operator.itruediv, operator.ifloordiv, operator.imod, operator.ipow,
                     operator.iand, operator.ior, operator.ixor, operator.ilshift,
                     operator.irshift, operator.imatmul))


def _is_write(node, root):
    """May it change a tensor that there was before?"""
    if node.op == 'call_module':
        try:
            return bool(getattr(root.get_submodule(node.target), 'inplace', False))
        except AttributeError:
            return False
    if node.op not in ('call_method', 'call_function'):
        return False
    name = node.target if node.op == 'call_method' else getattr(node.target, '__name__', '')
    return node.target in _WRITES or name == '__setitem__' or \
        (name.endswith('_') and not name.endswith('__')) or \
        (name.startswith('__i') and name[2:] in ('iadd__', 'isub__', 'imul__', 'itruediv__')) or \
        node.kwargs.get('inplace') is True or node.kwargs.get('out') is not None


def _reads(node):
    """Is its result, which is no tensor, made of a tensor's elements?"""
    return node.op in ('call_method', 'call_function') and \
        getattr(node.target, '__name__', node.target) in ('item', 'tolist', 'equal', 'allclose',
                                                          'is_nonzero', 'numpy')


class HintedTracer(Tracer):
    """inputs: example values by the names of the parameters (a dict), in their order, or both (a
    pair). A parameter that is not given and has a default takes it, and becomes no placeholder. A
    value may be an object that makes it: value(name), star()."""

    def __init__(self, inputs=(), concrete=False, **options):
        super().__init__(**options)
        self.inputs, self.concrete = inputs, concrete
        self._errors, self._examples, self._real, self._copies = {}, {}, {}, {}
        self._writes, self._reached = False, None

    # ---- modules that are none of the root's

    def call_module(self, m, forward, args, kwargs):
        """A part of a Sequential, and what forward makes for itself, is called too."""
        try:
            self.path_of_module(m)
        except NameError:
            if not self.is_leaf_module(m, ''):
                return forward(*args, **kwargs)
            self._adopt(m)
        return super().call_module(m, forward, args, kwargs)

    def _adopt(self, m):
        count = 0
        while hasattr(self.root, f'_{type(m).__name__.lower()}_{count}'):
            count += 1
        name = f'_{type(m).__name__.lower()}_{count}'
        self.root.add_module(name, m)
        if self.submodule_paths is not None:
            self.submodule_paths[m] = name

    # ---- placeholders

    def create_args_for_root(self, root_fn, is_module, concrete_args=None):
        if isinstance(self.inputs, dict):
            self._by_name, self._left = dict(self.inputs), []
        elif len(self.inputs) == 2 and isinstance(self.inputs[0], dict) and \
                isinstance(self.inputs[1], list):
            self._by_name, self._left = dict(self.inputs[0]), list(self.inputs[1])
        else:
            self._by_name, self._left = {}, list(self.inputs)
        return super().create_args_for_root(root_fn, is_module, concrete_args)

    def _argument(self, fn, defaults, name, concrete_args):
        given = name in self._by_name or self._left
        if not given and name not in concrete_args and name in defaults:
            return defaults[name]
        return super()._argument(fn, defaults, name, concrete_args)

    def _example(self, node):
        name = node.target
        bare = name.lstrip('*')
        if bare in self._by_name:
            return _made(self._by_name[bare], name)
        if name.startswith('**'):
            return {}
        if name.startswith('*'):
            left, self._left = [v.star() if hasattr(v, 'star') else v for v in self._left], []
            return tuple(left)
        if self._left:
            return _made(self._left.pop(0), name)
        if node.args:
            return node.args[0]
        raise _Unknown(f'there is no example input for {name}')

    # ---- nodes

    def proxy(self, node):
        return HintedProxy(node, self)

    def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
        node = super().create_node(kind, target, args, kwargs, name, type_expr)
        if kind == 'output':
            return node
        self._writes = self._writes or _is_write(node, self.root)
        if self._writes and _reads(node):
            self._errors[node] = _Unknown('it was written in place')
            return node
        try:
            node._hint = self._first_hint(node) if kind in ('placeholder', 'get_attr') else \
                self._compute(node, self._hint_of, meta=True)
        except Exception as e:  # whatever it is: only who asks for the value has to know
            self._errors[node] = e
        return node

    def _first_hint(self, node):
        """A tensor of its own: where something unknown is written into it, it alone has no data any
        more, and not the example or the module."""
        if node.op == 'get_attr':
            value = self._compute(node, self._hint_of, meta=True)
        else:
            value = self._examples[node] = self._example(node)
        with self._computing(meta=True):
            return map_aggregate(value, _of_its_own)

    def _hint_of(self, node):
        if node in self._errors:
            raise _Unknown(f'{node} is not known: {self._errors[node]}')
        return node._hint

    @contextlib.contextmanager
    def _computing(self, meta):
        """While this is running, modules and functions compute, and record nothing."""
        before, self._paused = self._paused, True
        meta_before = _fxscope.set_meta_mode(meta)
        try:
            yield
        finally:
            self._paused = before
            _fxscope.set_meta_mode(meta_before)

    def _compute(self, node, value_of, meta):
        args, kwargs = map_arg(node.args, value_of), map_arg(node.kwargs, value_of)
        with self._computing(meta):
            if node.op == 'get_attr':
                return operator.attrgetter(node.target)(self.root)
            if node.op == 'call_module':
                return self.root.get_submodule(node.target)(*args, **kwargs)
            if node.op == 'call_method':
                return getattr(args[0], node.target)(*args[1:], **kwargs)
            return _of_example(node.target(*args, **kwargs))

    # ---- values

    def value_of(self, proxy):
        """The value of a proxy for the example inputs, with its data."""
        node = proxy.node
        try:
            value = self._known(node)
            if isinstance(value, torch.Tensor) and (self._writes or value.device.type == 'meta'):
                value = self._real_value(node)
        except Exception as e:
            raise TraceError(f'the value of {node} is needed here, and is not known: {e}') from e
        return value

    def _known(self, node):
        """The hint, or where it could not be told without data (numpy's arrays), what data give."""
        if node in self._errors:
            value = self._real_value(node)
            del self._errors[node]
            node._hint = value
        return self._hint_of(node)

    def _real_value(self, node):
        """Computes a node with data, and what it needs. Once something was written in place, all
        nodes in their order: what is read depends on what was written before."""
        if self._writes:
            self._compute_all()
        wanted = [node]
        while wanted:
            n = wanted[-1]
            missing = [i for i in n.all_input_nodes if i not in self._real]
            if missing and n not in self._real:
                wanted += missing
                continue
            wanted.pop()
            if n not in self._real:
                self._compute_real(n)
        return self._real[node]

    def _compute_all(self):
        nodes = self.graph.nodes if self._reached is None else _after(self._reached)
        for n in nodes:
            with contextlib.suppress(Exception):  # told to who needs its value, when it is asked for
                if n not in self._real:
                    self._compute_real(n)
            self._reached = n

    def _compute_real(self, n):
        if n.op == 'placeholder':
            self._hint_of(n)  # or why there is none
            value = map_aggregate(self._examples[n], _copied)
        elif n.op == 'get_attr':  # the same one each time: it may be written into
            value = self._copies.get(n.target)
            if value is None:
                value = self._copies[n.target] = \
                    _copied(self._compute(n, self._hint_of, meta=False))
        else:
            value = self._compute(n, self._real.__getitem__, meta=False)
        self._real[n] = value

    def to_bool(self, obj):
        return bool(self.value_of(obj))

    def iter(self, obj):
        hint = self._known(obj.node)
        if isinstance(hint, dict):
            return iter(list(hint))
        return iter([obj[i] for i in range(len(hint))])

    def keys(self, obj):
        return list(self._known(obj.node))

    def concrete_attribute(self, proxy, name):
        if not self.concrete or name not in _PLAIN_ATTRIBUTES:
            return NotImplemented
        hint = self._errors.get(proxy.node) or proxy.node._hint
        return _of_example(getattr(hint, name)) if isinstance(hint, torch.Tensor) else NotImplemented

    def concrete_call(self, attribute, args, kwargs):
        name, root = attribute.attr, attribute.root
        if root.node in self._errors:
            return NotImplemented
        hint = root.node._hint
        if isinstance(hint, torch.Tensor):
            if self.concrete and name in _PLAIN_METHODS:
                return getattr(hint, name)(*args, **kwargs)
        elif isinstance(hint, dict):
            if name == 'items':
                return [(k, root[k]) for k in hint]
            if name == 'values':
                return [root[k] for k in hint]
            if name == 'get':
                return root[args[0]] if args[0] in hint else (args[1] if len(args) > 1 else None)
        return NotImplemented

    # ---- the trace

    def _run(self, fn, args):
        before = _fxscope._set_proxies_are_tensors(True)
        try:
            super()._run(fn, args)
        finally:
            _fxscope._set_proxies_are_tensors(before)


class _Kept:
    """The tensors of a module and what is below it: forward may put proxies in their places."""

    def __init__(self, root):
        self.kept = []
        for module in root.modules() if isinstance(root, Module) else ():
            for values in (module.__dict__, module._buffers, module._parameters):
                self.kept += [(values, name, value) for name, value in values.items()
                              if isinstance(value, torch.Tensor)]

    def restore(self):
        for values, name, value in self.kept:
            if isinstance(values.get(name), Proxy):
                values[name] = value


def _rebuilt(build, root):
    """A fresh root; the one that there is where it can't be built again."""
    try:
        return build()
    except Exception:
        return root


def _class_name(root):
    """Of the root's class; a layer's own name would promise the layer's arguments."""
    if not isinstance(root, Module):
        return getattr(root, '__name__', 'GraphModule')
    layer = type(root).__module__.startswith('torch.nn') and not isinstance(root, Sequential)
    return 'GraphModule' if layer else type(root).__name__


class TracedModule(GraphModule):
    """Its code is compiled when it is run: a graph may be drawn whose code is none, since names of
    its modules are no words of Python."""

    def _forward_of(self, code):
        def forward(self, *args, **kwargs):
            cls = type(self)
            cls.forward = GraphModule._forward_of(self, code)
            return cls.forward(self, *args, **kwargs)
        return forward


def trace(root, inputs=(), tier=None, build=None, tracers=None):
    """(GraphModule, the tier's name, why the tiers before it failed). tier None: 'plain', 'hinted',
    'concrete' in turn; build() gives a fresh root for each."""
    reasons = []
    tiers = ('plain', 'hinted', 'concrete') if tier is None else (tier,)
    for i, name in enumerate(tiers):
        if i and build is not None:
            root = _rebuilt(build, root)
        module, function = (root, None) if _fxscope.strict() else roots.begin(root)
        kept = _Kept(module)
        tracer = Tracer() if name == 'plain' else HintedTracer(inputs, name == 'concrete')
        tracer._root_function = function
        try:
            graph = tracer.trace(module)
        except Exception as e:
            reasons.append((name, e))
            if i + 1 == len(tiers):
                raise
            continue
        finally:
            kept.restore()
        cls = _class_name(module)
        return TracedModule(tracer.root, graph, cls), name, reasons


# ---- what C asks

def _hint_value(proxy):
    return proxy.tracer.value_of(proxy)


def _concrete_attribute(proxy, name):
    return proxy.tracer.concrete_attribute(proxy, name)


def _concrete_call(attribute, args, kwargs):
    return attribute.tracer.concrete_call(attribute, args, kwargs or {})


_fxscope.fx_register(hint_value=_hint_value, concrete_attribute=_concrete_attribute,
                     concrete_call=_concrete_call)
