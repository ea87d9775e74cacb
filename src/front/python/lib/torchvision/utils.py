"""torchvision.utils: what models use of it."""


def _log_api_usage_once(obj):
    pass


def _make_ntuple(x, n):
    from collections.abc import Iterable
    return tuple(x) if isinstance(x, Iterable) else (x,) * n


def save_image(*args, **kwargs):
    from fxfront.missing import Unsupported
    raise Unsupported('torchvision.utils.save_image is not supported')


make_grid = save_image
