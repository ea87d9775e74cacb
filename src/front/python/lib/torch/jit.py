"""torch.jit: nothing is compiled; what marks code for it leaves the code as it is."""
from torch import _install
from torch.nn import Module

__path__ = []  # its submodules are found like a package's


def _identity(obj=None, *args, **kwargs):
    """Works as @mark and as @mark(...)."""
    if obj is None or isinstance(obj, (str, bool)):
        return lambda function: function
    return obj


script = _script_if_tracing = script_method = ignore = unused = export = interface = script_if_tracing = _identity
_overload = _overload_method = optimize_for_inference = freeze = _identity


def is_scripting():
    return False


def is_tracing():
    return False


def annotate(the_type, the_value):
    return the_value


def Attribute(value, type):
    return value


def isinstance(obj, target):
    import builtins
    return builtins.isinstance(obj, target)


class ScriptModule(Module):
    """A module like any other here."""


ScriptModule.__module__ = 'torch.jit._script'
RecursiveScriptModule = ScriptFunction = ScriptModule


def trace(func, example_inputs=None, **kwargs):
    return func


trace_module = trace


class _BroadcastingList:
    """BroadcastingList2[int]: an annotation."""
    def __getitem__(self, item):
        return list


_install.module('torch.jit.annotations', **{
    f'BroadcastingList{n}': _BroadcastingList() for n in range(1, 7)})
_install.module('torch.jit._script', ScriptModule=ScriptModule)


def __getattr__(name):
    if name == 'Final':
        from typing import Final
        return Final
    from torch import _inert
    return _inert.absent(__name__, name)
