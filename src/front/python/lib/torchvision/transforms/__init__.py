"""torchvision.transforms: can be constructed, since scripts do; never run."""
from . import functional  # noqa: F401
from .functional import InterpolationMode  # noqa: F401


class _Transform:
    def __init__(self, *args, **kwargs):
        self.args, self.kwargs = args, kwargs

    def __call__(self, *args, **kwargs):
        from fxfront.missing import Unsupported
        raise Unsupported(f'torchvision.transforms.{type(self).__name__} is not supported (since '
                          'fxscope draws models and prepares no images)')


def __getattr__(name):
    if name.startswith('_'):
        raise AttributeError(name)
    made = globals()[name] = type(name, (_Transform,), {})
    return made
