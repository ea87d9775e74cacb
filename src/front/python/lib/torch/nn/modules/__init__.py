"""torch.nn.modules: every layer class, under the module that PyTorch keeps it in."""
from .module import Module
from . import (activation, adaptive, batchnorm, channelshuffle, container, conv, distance, dropout,
               flatten, fold, instancenorm, linear, loss, module, normalization, padding,
               pixelshuffle, pooling, rnn, sparse, transformer, upsampling, utils)

__all__ = []
for _place in (activation, adaptive, batchnorm, channelshuffle, container, conv, distance, dropout,
               flatten, fold, instancenorm, linear, loss, module, normalization, padding,
               pixelshuffle, pooling, rnn, sparse, transformer, upsampling):
    for _name, _value in list(vars(_place).items()):
        if isinstance(_value, type) and issubclass(_value, Module) and not _name.startswith('_') \
                and _value.__module__ == _place.__name__:
            globals()[_name] = _value
            if _name != 'NonDynamicallyQuantizableLinear':
                __all__.append(_name)


def _annotate():
    """Layers of one input say what it is, as a trace of them shows it."""
    from _fxscope import Tensor
    for cls in list(globals().values()):
        forward = vars(cls).get('forward') if isinstance(cls, type) else None
        code = getattr(forward, '__code__', None)
        if code is None or code.co_varnames[1:code.co_argcount] != ('input',) or \
                cls.__name__ == 'Sequential':
            continue
        forward.__annotations__['input'] = Tensor
        if 'MaxPool' not in cls.__name__:
            forward.__annotations__['return'] = Tensor


_annotate()
