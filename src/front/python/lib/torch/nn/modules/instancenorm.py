"""torch.nn.modules.instancenorm"""
from torch import Tensor

from .. import functional as F
from .batchnorm import _LazyNormBase, _NormBase, _wants


class _InstanceNorm(_NormBase):
    _batchless = None  # the rank of an input without batch

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=False,
                 track_running_stats=False, device=None, dtype=None):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype=dtype)

    def _apply_instance_norm(self, input):
        return F.instance_norm(input, self.running_mean, self.running_var, self.weight, self.bias,
                               self.training or not self.track_running_stats, self.momentum,
                               self.eps)

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        if input.dim() == self._batchless:
            return self._apply_instance_norm(input.unsqueeze(0)).squeeze(0)
        return self._apply_instance_norm(input)


class InstanceNorm1d(_InstanceNorm):
    _batchless = 2
    _check_input_dim = _wants(2, 3)


class InstanceNorm2d(_InstanceNorm):
    _batchless = 3
    _check_input_dim = _wants(3, 4)


class InstanceNorm3d(_InstanceNorm):
    _batchless = 4
    _check_input_dim = _wants(4, 5)


class LazyInstanceNorm1d(_LazyNormBase, _InstanceNorm):
    cls_to_become = InstanceNorm1d
    _batchless = 2
    _check_input_dim = _wants(2, 3)


class LazyInstanceNorm2d(_LazyNormBase, _InstanceNorm):
    cls_to_become = InstanceNorm2d
    _batchless = 3
    _check_input_dim = _wants(3, 4)


class LazyInstanceNorm3d(_LazyNormBase, _InstanceNorm):
    cls_to_become = InstanceNorm3d
    _batchless = 4
    _check_input_dim = _wants(4, 5)
