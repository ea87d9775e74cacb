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
