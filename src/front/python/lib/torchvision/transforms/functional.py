"""torchvision.transforms.functional: names that models import."""
import enum


class InterpolationMode(enum.Enum):
    NEAREST = 'nearest'
    BILINEAR = 'bilinear'
    BICUBIC = 'bicubic'
    BOX = 'box'
    HAMMING = 'hamming'
    LANCZOS = 'lanczos'


def __getattr__(name):
    if name.startswith('_'):
        raise AttributeError(name)
    from fxfront.missing import Missing, Unsupported
    return Missing(f'torchvision.transforms.functional.{name}', Unsupported,
                   'fxscope prepares no images')
