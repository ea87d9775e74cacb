"""Proxy: what a traced function works with. Proxy, Attribute and the hot part of the tracers are in
C (_fxscope); here are what users derive from, and the rare paths."""
import operator
import sys

import _fxscope
import torch
from fxfront.later import Later
from _fxscope import Attribute, HintedAttribute, HintedProxy, Proxy
from torch.fx.graph import inplace_methods, magic_methods, reflectable_magic_methods
from torch.fx.node import Node, base_types, map_aggregate
from torch.fx.node import __getattr__  # noqa: F401 (Argument, Target: types for annotations)

__all__ = ['TracerBase', 'GraphAppendingTracer', 'TraceError', 'Proxy', 'Attribute',
           'ParameterProxy']


dis, inspect = Later('dis'), Later('inspect')


class TraceError(ValueError):
    pass


class TracerBase(_fxscope._TracerBase):
    """What records: create_node, create_proxy, create_arg and proxy may be overridden."""
    record_stack_traces = False
    check_mutable_operations = False
    trace_asserts = False
    proxy_buffer_attributes = False
    traced_func_name = 'forward'

    def to_bool(self, obj):
        """Called where a proxy decides what is done: if, while, and, or, not."""
        raise TraceError('symbolically traced variables cannot be used as inputs to control flow')

    def iter(self, obj):
        """Called where a proxy is iterated, but by a, b = proxy."""
        raise TraceError(
            'Proxy object cannot be iterated. This can be attempted when the Proxy is used in a '
            'loop or as a *args or **kwargs function argument. See the torch.fx docs on '
            'pytorch.org for a more detailed explanation of what types of control flow can be '
            'traced, and check out the Proxy docstring for help troubleshooting Proxy iteration '
            'errors')

    def keys(self, obj):
        """Called where a proxy is given as **proxy."""
        return Attribute(obj, 'keys')()


class GraphAppendingTracer(TracerBase):
    """Appends to a graph, and knows of no modules."""

    def __init__(self, graph):
        super().__init__()
        self.graph = graph


def assert_fn(x):
    assert x


class ParameterProxy(Proxy):
    """A parameter whose shape the trace may ask for: Tracer(param_shapes_constant=True)."""

    def __init__(self, tracer, node, name, param):
        super().__init__(node, tracer)
        assert isinstance(param, torch.nn.Parameter)
        self.param = param
        self.name = name

    def __repr__(self):
        return f'ParameterProxy({self.name})'

    @property
    def shape(self):
        return self.param.shape

    def size(self, *args):
        return self.param.size(*args)

    def dim(self):
        return self.param.dim()

    @property
    def ndim(self):
        return self.param.ndim

    def numel(self):
        return self.param.numel()

    def nelement(self):
        return self.param.nelement()


# ---- rare paths that C comes here for

def _record_stack_trace(node):
    """The stack from the user's frame on, innermost first, as torch.fx 1.13 has it."""
    import traceback
    if node.stack_trace:
        return
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith('<fxscope>'):
        frame = frame.f_back
    lines = []
    while frame is not None:
        if not frame.f_code.co_filename.startswith('<fxscope>'):
            summary = traceback.StackSummary.extract([(frame, frame.f_lineno)])
            # 1.13 on earlier Pythons has no marks below the line
            for s in summary:
                lines.append(f'  File "{s.filename}", line {s.lineno}, in {s.name}\n'
                             + (f'    {s.line}\n' if s.line else ''))
        frame = frame.f_back
    node.stack_trace = ''.join(lines)


def _trace_assert(proxy):
    """Records `assert proxy`, when that is what the frame that asks for its truth is at."""
    frame = sys._getframe(1)
    instructions = list(dis.get_instructions(frame.f_code))
    at = [k for k, i in enumerate(instructions) if i.offset == frame.f_lasti]
    if not at or not instructions[at[0]].opname.startswith('POP_JUMP') or \
            not instructions[at[0]].opname.endswith('IF_TRUE') or \
            instructions[at[0] + 1].opname != 'LOAD_ASSERTION_ERROR':
        return False
    end = [k for k, i in enumerate(instructions) if i.offset == instructions[at[0]].argval]
    if not end or instructions[end[0] - 1].opname != 'RAISE_VARARGS':
        return False
    proxy.tracer.create_proxy('call_function', assert_fn, (proxy,), {})
    return True


def _strict():
    return _fxscope.strict()


def _record_setitem(proxy, key, value):
    if _strict():
        raise TypeError(f"'{type(proxy).__name__}' object does not support item assignment")
    proxy.tracer.create_proxy('call_function', operator.setitem, (proxy, key, value), {})


def _refuse_delitem(proxy, key, value):
    raise TypeError(f"'{type(proxy).__name__}' object doesn't support item deletion")


def _check_for_mutable_operation(target, args, kwargs):
    from torch.fx.operator_schemas import check_for_mutable_operation
    check_for_mutable_operation(target, args, kwargs or {})


def _torch_function(function, args, kwargs):
    """Proxy.__torch_function__: a function of torch was called with a proxy."""
    args, kwargs = args or (), kwargs or {}
    tracers = {}

    def find(a):
        if isinstance(a, Proxy):
            tracers[a.tracer] = None
    map_aggregate(args, find)
    map_aggregate(kwargs, find)
    if len(tracers) > 1:
        raise RuntimeError(f'Found multiple different tracers {list(tracers)} while trying to '
                           f'trace operations {function}')
    tracer = next(iter(tracers))
    if _is_tensor_method(function):
        return tracer.create_proxy('call_method', function.__name__, args, kwargs)
    return tracer.create_proxy('call_function', function, args, kwargs,
                               name=tracer.graph._target_to_str(function.__name__))


def _is_tensor_method(function):
    return getattr(torch.Tensor, getattr(function, '__name__', ''), None) is function or \
        inspect.ismethoddescriptor(function)


_fxscope.fx_register(GraphAppendingTracer=GraphAppendingTracer,
                     record_stack_trace=_record_stack_trace, trace_assert=_trace_assert,
                     record_setitem=_record_setitem, refuse_delitem=_refuse_delitem,
                     check_for_mutable_operation=_check_for_mutable_operation,
                     torch_function=_torch_function, TraceError=TraceError)
