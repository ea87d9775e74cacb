"""torch.utils"""
from . import _pytree, checkpoint, data, model_zoo  # noqa: F401


def __getattr__(name):
    from torch import _inert
    return _inert.absent(__name__, name)
