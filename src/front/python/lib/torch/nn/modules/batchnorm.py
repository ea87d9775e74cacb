"""torch.nn.modules.batchnorm"""
import torch
from torch import Tensor

from .. import functional as F
from .. import init
from ..parameter import Parameter, UninitializedBuffer, UninitializedParameter
from .lazy import LazyModuleMixin
from .module import Module


class _NormBase(Module):
    """What batch and instance normalisation share: statistics and an affine part."""
    _version = 2
    __constants__ = ['track_running_stats', 'momentum', 'eps', 'num_features', 'affine']

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True,
                 track_running_stats=True, device=None, dtype=None):
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        for name in ('weight', 'bias'):
            self.register_parameter(
                name, Parameter(torch.empty(num_features, dtype=dtype)) if affine else None)
        tracked = track_running_stats
        self.register_buffer('running_mean',
                             torch.zeros(num_features, dtype=dtype) if tracked else None)
        self.register_buffer('running_var',
                             torch.ones(num_features, dtype=dtype) if tracked else None)
        self.register_buffer('num_batches_tracked',
                             torch.tensor(0, dtype=torch.long) if tracked else None)
        self.reset_parameters()

    def reset_running_stats(self):
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self):
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            init.zeros_(self.bias)

    def _check_input_dim(self, input):
        raise NotImplementedError

    def extra_repr(self):
        return (f'{self.num_features}, eps={self.eps}, momentum={self.momentum}, '
                f'affine={self.affine}, track_running_stats={self.track_running_stats}')

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest):
        version = local_metadata.get('version', None)
        key = prefix + 'num_batches_tracked'
        if (version is None or version < 2) and self.track_running_stats \
                and key not in state_dict:
            state_dict[key] = torch.tensor(0, dtype=torch.long)  # older files lack it
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


class _BatchNorm(_NormBase):
    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        average = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats:
            if self.num_batches_tracked is not None:
                self.num_batches_tracked.add_(1)
                if self.momentum is None:
                    average = 1.0 / float(self.num_batches_tracked)
        tracked = not self.training or self.track_running_stats
        of_batch = self.training or (self.running_mean is None and self.running_var is None)
        return F.batch_norm(input, self.running_mean if tracked else None,
                            self.running_var if tracked else None, self.weight, self.bias,
                            of_batch, average, self.eps)


def _wants(*ranks):
    words = ' or '.join(f'{n}D' for n in ranks)

    def _check_input_dim(self, input):
        if all(input.dim() != n for n in ranks):
            raise ValueError(f'expected {words} input (got {input.dim()}D input)')
    return _check_input_dim


class BatchNorm1d(_BatchNorm):
    _check_input_dim = _wants(2, 3)


class BatchNorm2d(_BatchNorm):
    _check_input_dim = _wants(4)


class BatchNorm3d(_BatchNorm):
    _check_input_dim = _wants(5)


class SyncBatchNorm(_BatchNorm):
    """One process: the same as batch normalisation."""
    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True,
                 track_running_stats=True, process_group=None, device=None, dtype=None):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype=dtype)
        self.process_group = process_group

    def _check_input_dim(self, input):
        if input.dim() < 2:
            raise ValueError(f'expected at least 2D input (got {input.dim()}D input)')

    @classmethod
    def convert_sync_batchnorm(cls, module, process_group=None):
        made = module
        if isinstance(module, _BatchNorm):
            made = cls(module.num_features, module.eps, module.momentum, module.affine,
                       module.track_running_stats, process_group)
            made._parameters, made._buffers = module._parameters, module._buffers
            made.training = module.training
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made


class _LazyNormBase(LazyModuleMixin):
    def __init__(self, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None,
                 dtype=None):
        super().__init__(0, eps, momentum, False, False, dtype=dtype)
        self.affine = affine
        self.track_running_stats = track_running_stats
        if affine:
            self.weight = UninitializedParameter(dtype=dtype)
            self.bias = UninitializedParameter(dtype=dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(dtype=dtype)
            self.running_var = UninitializedBuffer(dtype=dtype)
            self.num_batches_tracked = torch.tensor(0, dtype=torch.long)

    def reset_parameters(self):
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input):
        self.num_features = input.shape[1]
        for name in ('weight', 'bias', 'running_mean', 'running_var'):
            value = getattr(self, name)
            if value is not None:
                value.materialize((self.num_features,))
        self.reset_parameters()


class LazyBatchNorm1d(_LazyNormBase, _BatchNorm):
    cls_to_become = BatchNorm1d
    _check_input_dim = _wants(2, 3)


class LazyBatchNorm2d(_LazyNormBase, _BatchNorm):
    cls_to_become = BatchNorm2d
    _check_input_dim = _wants(4)


class LazyBatchNorm3d(_LazyNormBase, _BatchNorm):
    cls_to_become = BatchNorm3d
    _check_input_dim = _wants(5)
