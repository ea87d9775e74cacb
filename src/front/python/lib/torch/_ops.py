"""torch.ops: operators by the names that PyTorch has for them inside. They can be put into graphs; to
run one, the function or method of the same name is called."""
import sys
import types

import torch

from . import _install


class _Operator:
    def __init__(self, namespace, name, overload=None):
        self._name = name
        self.__name__ = f'{name}.{overload}' if overload else name
        self.__qualname__ = self.__name__
        self.__module__ = f'torch._ops.{namespace}'

    def __call__(self, *args, **kwargs):
        function = getattr(torch, self._name, None) or getattr(torch.nn.functional, self._name,
                                                               None)
        if function is not None:
            return function(*args, **kwargs)
        if self.__module__ == 'torch._ops.torchvision':
            from fxfront.missing import Unsupported
            raise Unsupported(f'torch.ops.torchvision.{self._name} is not supported: fxscope has no '
                              'operator of that name')
        return getattr(args[0], self._name)(*args[1:], **kwargs)


class OpOverload(_Operator):
    """torch.ops.aten.add.Tensor"""

    def __repr__(self):
        namespace = self.__module__.rpartition('.')[2]
        return f"<OpOverload(op='{namespace}.{self._name}', overload='{self._overload}')>"


class OpOverloadPacket(_Operator):
    """torch.ops.aten.add"""

    def __repr__(self):
        return f"<OpOverloadPacket(op='{self.__module__.rpartition('.')[2]}.{self._name}')>"

    def __getattr__(self, overload):
        if overload.startswith('__'):
            raise AttributeError(overload)
        made = OpOverload(self.__module__.rpartition('.')[2], self._name, overload)
        made._overload = overload
        setattr(self, overload, made)
        return made


class _Namespace(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        made = _install.find(self.__name__, name) or \
            OpOverloadPacket(self.__name__.rpartition('.')[2], name)
        setattr(self, name, made)
        return made


class _Ops(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        made = sys.modules[f'torch.ops.{name}'] = _Namespace(f'torch.ops.{name}')
        setattr(self, name, made)
        return made


ops = sys.modules['torch.ops'] = _Ops('torch.ops')
