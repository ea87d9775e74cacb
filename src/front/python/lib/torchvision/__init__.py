"""torchvision: its models and operators come from the user's own copy of its source, where one is
found (--path, or the system's); the rest is inert."""
import os
import sys

__version__ = '0.14.1'
# Only the folder is added: this file stays the package, since the real one loads compiled parts.
for _folder in list(sys.path):
    _inside = os.path.join(_folder, 'torchvision')
    if os.path.isdir(os.path.join(_inside, 'models')):
        __path__.append(_inside)
        from . import _models
        sys.meta_path.insert(0, _models.Finder())
        break


def set_image_backend(backend):
    pass


def get_image_backend():
    return 'PIL'


def _is_tracing():
    return None  # as torch._C._get_tracing_state() where torch.jit traces nothing


def disable_beta_transforms_warning():
    pass


def __getattr__(name):
    """Its parts are imported when they are asked for."""
    if name.startswith('_') or name not in ('models', 'ops', 'datasets', 'io', 'transforms',
                                            'utils', 'extension'):
        raise AttributeError(f"module 'torchvision' has no attribute {name!r}")
    import importlib
    try:
        return importlib.import_module(f'torchvision.{name}')
    except ModuleNotFoundError:
        from fxfront.missing import Missing, MissingPackage
        return Missing(f'torchvision.{name}', MissingPackage,
                       'the source of torchvision is not here; --path DIR says where it is')
