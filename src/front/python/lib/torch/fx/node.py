"""Node: one step of a Graph. What is done for every node is in C (_fxscope._NodeBase)."""
import builtins
import types

import _fxscope
import torch
from _fxscope import _format_arg, map_aggregate, map_arg
from torch.fx._compatibility import compatibility

base_types = (str, int, float, bool, complex, torch.dtype, torch.Tensor, torch.device,
              torch.memory_format, torch.layout)

_legal_ops = ('placeholder', 'call_method', 'call_module', 'call_function', 'get_attr', 'output',
              'root')


class _SideEffects(set):
    """Functions that a graph keeps though nobody uses their results. torch.ops is filled when it
    is first asked."""
    def _fill(self):
        if not getattr(self, '_filled', False):
            self._filled = True
            self.add(torch._assert)
            profiler = torch.ops.profiler
            self.update((profiler._record_function_enter, profiler._record_function_enter_new,
                         profiler._record_function_exit))

    def __contains__(self, f):
        self._fill()
        return set.__contains__(self, f)

    def __iter__(self):
        self._fill()
        return set.__iter__(self)


_side_effectful_functions = _SideEffects()


def has_side_effect(fn):
    _side_effectful_functions.add(fn)
    return fn


def _find_module_of_method(fn):
    name = fn.__name__
    for guess in (torch, torch.nn.functional):
        if getattr(guess, name, None) is fn:
            return guess.__name__
    raise RuntimeError(f'cannot find module for {fn}')


def _get_qualified_name(func):
    """How a function is found: 'torch.relu', 'math.sqrt', 'len'."""
    name = getattr(func, '__name__', None)
    if isinstance(name, str) and getattr(builtins, name, None) is func:
        return name
    name = func.__name__
    module = func.__module__
    if module is None:
        module = _find_module_of_method(func)
    return f"{module.replace('torch._ops', 'torch.ops')}.{name}"


def _type_repr(obj):
    """A type as Node.format_node prints it."""
    if isinstance(obj, type):
        name = obj.__qualname__
        return name if obj.__module__ == 'builtins' else f'{obj.__module__}.{name}'
    if obj is ...:
        return '...'
    if isinstance(obj, types.FunctionType):
        return obj.__name__
    return repr(obj)


def _bad_target(graph, name, target, function):
    kind = 'Callable' if function else 'str'
    raise ValueError(f"Node [graph = {graph}, name = '{name}'] target {target} has type "
                     f'{torch.typename(target)} but a {kind} is expected')


def _format_odd_node(node):
    # somebody gave it an opcode that there is not
    typed = '' if node.type is None else f'{_type_repr(node.type)} '
    return (f'%{node.name} : {typed}[#users={len(node.users)}] = {node.op}'
            f'[target={node._pretty_print_target(node.target)}](args = {_format_arg(node.args)}, '
            f'kwargs = {_format_arg(node.kwargs)})')


class Node(_fxscope._NodeBase):
    """One step of a Graph: op, target, args, kwargs, and the nodes that use its result."""

    def _pretty_print_target(self, target):
        if isinstance(target, str):
            return target
        if hasattr(target, '__module__'):
            if not hasattr(target, '__name__'):
                return _get_qualified_name(target)
            if target.__module__ == 'builtins':
                return f'builtins.{target.__name__}'
            if target.__module__ == '_operator':
                return f'operator.{target.__name__}'
        return _get_qualified_name(target)

    def format_node(self, placeholder_names: 'Optional[List[str]]' = None,
                    maybe_return_typename: 'Optional[List[str]]' = None) -> 'Optional[str]':
        """The line that str(graph) has for this node. With lists: a placeholder appends its
        parameter to the first, and the output puts its type into the second."""
        if self.op == 'placeholder' and placeholder_names:
            typed = f': {_type_repr(self.type)}' if self.type else ''
            # the name twice where there is a type: that is what it is in 1.13
            placeholder_names.append(self.target + self.target + typed if typed else self.target)
            return None
        if self.op == 'output' and self.type and maybe_return_typename:
            maybe_return_typename[0] = f' -> {_type_repr(self.type)}'
        return self._format_line()

    def update_arg(self, idx, arg):
        """Puts arg in the place of the positional argument idx."""
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def update_kwarg(self, key, arg):
        """Puts arg in the place of the keyword argument, which need not be there yet."""
        kwargs = dict(self.kwargs)
        kwargs[key] = arg
        self.kwargs = kwargs

    def is_impure(self):
        """Whether the node has to stay though nobody uses its result."""
        if self.op in ('placeholder', 'output'):
            return True
        if self.op == 'call_function':
            return self.target in _side_effectful_functions
        if self.op == 'call_module':
            owner = self.graph.owning_module
            assert owner is not None, 'self.graph.owning_module not set for purity check'
            module = owner.get_submodule(self.target)
            assert module is not None, f'Did not find expected submodule target {self.target}'
            return getattr(module, '_is_impure', False)
        return False

    def normalized_arguments(self, root, arg_types=None, kwarg_types=None,
                             normalize_to_only_use_kwargs=False):
        """(args, kwargs) with as many positional arguments as there are, all others by name and
        defaults filled in; None where the target's parameters are not known."""
        from torch.fx.operator_schemas import normalize_function, normalize_module
        if self.op == 'call_function':
            return normalize_function(self.target, self.args, self.kwargs, arg_types, kwarg_types)
        if self.op == 'call_module':
            return normalize_module(root, self.target, self.args, self.kwargs)
        return None


_fxscope.fx_register(Node=Node, base_types=base_types, bad_target=_bad_target,
                     type_repr=_type_repr, format_odd_node=_format_odd_node)


def __getattr__(name):
    """The types of annotations: typing is read when one of them is asked for."""
    if name not in ('BaseArgumentTypes', 'Target', 'Argument'):
        raise AttributeError(f"module 'torch.fx' has no attribute '{name}'")
    import typing
    if name == 'BaseArgumentTypes':
        return typing.Union[base_types]
    return typing.Any if name == 'Argument' else \
        typing.Union[typing.Callable[..., typing.Any], str]
