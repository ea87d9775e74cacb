"""torch.nn.modules.pooling"""
from .. import functional as F
from ._define import layer
from .module import Module
from .utils import _pair, _single, _triple


class _AvgPoolNd(Module):
    pass


class _MaxPoolNd(Module):
    pass


class _AdaptiveAvgPoolNd(Module):
    pass


class _AdaptiveMaxPoolNd(Module):
    pass


class _LPPoolNd(Module):
    pass


class _MaxUnpoolNd(Module):
    pass


_WINDOW = 'kernel_size= stride= padding='


def _average(n):
    wrap = {1: '_single(%s)'}.get(n, '%s')
    more = '' if n == 1 else ', self.divisor_override'
    return layer(
        f'AvgPool{n}d(kernel_size, stride=None, padding=0, ceil_mode=False, '
        f'count_include_pad=True{"" if n == 1 else ", divisor_override=None"})', _WINDOW,
        f'F.avg_pool{n}d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, '
        f'self.count_include_pad{more})', base=_AvgPoolNd,
        keep={'kernel_size': wrap % 'kernel_size',
              'stride': (wrap % 'stride if stride is not None else kernel_size') if n == 1 else
              ('stride or kernel_size' if n == 2 else 'stride or kernel_size'),
              'padding': wrap % 'padding'})


def _maximum(n):
    return layer(
        f'MaxPool{n}d(kernel_size, stride=None, padding=0, dilation=1, return_indices=False, '
        'ceil_mode=False)', _WINDOW + ' dilation= ceil_mode=',
        f'F.max_pool{n}d(input, self.kernel_size, self.stride, self.padding, self.dilation, '
        'ceil_mode=self.ceil_mode, return_indices=self.return_indices)', base=_MaxPoolNd,
        keep={'stride': 'stride if stride is not None else kernel_size'})


def _adaptive(n):
    return (layer(f'AdaptiveAvgPool{n}d(output_size)', 'output_size=',
                  f'F.adaptive_avg_pool{n}d(input, self.output_size)', base=_AdaptiveAvgPoolNd),
            layer(f'AdaptiveMaxPool{n}d(output_size, return_indices=False)', 'output_size=',
                  f'F.adaptive_max_pool{n}d(input, self.output_size, self.return_indices)',
                  base=_AdaptiveMaxPoolNd))


def _unpool(n, tuple_of):
    return layer(
        f'MaxUnpool{n}d(kernel_size, stride=None, padding=0)', _WINDOW,
        f'F.max_unpool{n}d(input, indices, self.kernel_size, self.stride, self.padding, '
        'output_size)', forward='input, indices, output_size: Optional[List[int]] = None', base=_MaxUnpoolNd,
        keep={'kernel_size': f'{tuple_of}(kernel_size)',
              'stride': f'{tuple_of}(stride if stride is not None else kernel_size)',
              'padding': f'{tuple_of}(padding)'})


def _lp(n):
    return layer(
        f'LPPool{n}d(norm_type, kernel_size, stride=None, ceil_mode=False)',
        'norm_type= kernel_size= stride= ceil_mode=',
        f'F.lp_pool{n}d(input, float(self.norm_type), self.kernel_size, self.stride, '
        'self.ceil_mode)', base=_LPPoolNd)


def _fractional(n, tuple_of):
    return layer(
        f'FractionalMaxPool{n}d(kernel_size, output_size=None, output_ratio=None, '
        'return_indices=False, _random_samples=None)', '',
        f'F.fractional_max_pool{n}d(input, self.kernel_size, self.output_size, '
        'self.output_ratio, self.return_indices, _random_samples=self._random_samples)',
        keep={'kernel_size': f'{tuple_of}(kernel_size)', 'output_size':
              f'{tuple_of}(output_size) if output_size is not None else None', 'output_ratio':
              f'{tuple_of}(output_ratio) if output_ratio is not None else None'})


AvgPool1d, AvgPool2d, AvgPool3d = map(_average, (1, 2, 3))
MaxPool1d, MaxPool2d, MaxPool3d = map(_maximum, (1, 2, 3))
AdaptiveAvgPool1d, AdaptiveMaxPool1d = _adaptive(1)
AdaptiveAvgPool2d, AdaptiveMaxPool2d = _adaptive(2)
AdaptiveAvgPool3d, AdaptiveMaxPool3d = _adaptive(3)
MaxUnpool1d, MaxUnpool2d, MaxUnpool3d = (_unpool(1, '_single'), _unpool(2, '_pair'),
                                         _unpool(3, '_triple'))
LPPool1d, LPPool2d = _lp(1), _lp(2)
FractionalMaxPool2d, FractionalMaxPool3d = _fractional(2, '_pair'), _fractional(3, '_triple')
