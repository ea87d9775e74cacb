"""torch.nn.functional: the library's functions, and those that are made of others."""
import warnings

from torch import _install

__path__ = []  # `from torch.nn.functional import X` asks the finders for an X that is not here
_install.fill(__name__, globals())


def _deprecated(name):
    warnings.warn(f'nn.functional.{name} is deprecated. Use torch.{name} instead.', stacklevel=3)


def sigmoid(input):
    _deprecated('sigmoid')
    return input.sigmoid()


def tanh(input):
    _deprecated('tanh')
    return input.tanh()


def upsample(input, size=None, scale_factor=None, mode='nearest', align_corners=None):
    warnings.warn('nn.functional.upsample is deprecated. Use nn.functional.interpolate instead.')
    return interpolate(input, size, scale_factor, mode, align_corners)  # noqa: F821


def upsample_nearest(input, size=None, scale_factor=None):
    return interpolate(input, size, scale_factor, mode='nearest')  # noqa: F821


def upsample_bilinear(input, size=None, scale_factor=None):
    return interpolate(input, size, scale_factor, mode='bilinear',  # noqa: F821
                       align_corners=True)


def assert_int_or_pair(arg, arg_name, message):
    assert isinstance(arg, int) or len(arg) == 2, message.format(arg_name)


def __getattr__(name):
    from torch import _inert
    return _inert.absent(__name__, name)
