"""torch.nn.utils.parametrizations: parametrizations that come with torch."""
import torch

from .. import functional as F
from ..modules.module import Module
from . import parametrize
from .weight_norm import weight_norm  # noqa: F401


class _SpectralNorm(Module):
    """A weight divided by its largest singular value, which a power iteration finds."""

    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        if not -weight.ndim <= dim < weight.ndim:
            raise IndexError('Dimension out of range (expected to be in range of '
                             f'[-{weight.ndim}, {weight.ndim - 1}] but got {dim})')
        if n_power_iterations <= 0:
            raise ValueError('Expected n_power_iterations to be positive, but got '
                             f'n_power_iterations={n_power_iterations}')
        self.dim = dim if dim >= 0 else dim + weight.ndim
        self.eps, self.n_power_iterations, self._started = eps, n_power_iterations, False
        if weight.ndim > 1:
            matrix = self._matrix(weight)
            for name, size in zip(('_u', '_v'), matrix.size()):
                self.register_buffer(name, F.normalize(torch.randn(size), dim=0, eps=eps))

    def _matrix(self, weight):
        if self.dim != 0:
            weight = weight.permute(self.dim, *(d for d in range(weight.dim()) if d != self.dim))
        return weight.flatten(1) if weight.ndim > 1 else weight

    def forward(self, weight):
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if matrix.device.type != 'meta':
            self._iterate(matrix)
        return weight / torch.dot(self._u, torch.mv(matrix, self._v))

    @torch.no_grad()
    def _iterate(self, matrix):
        """torch does the first ones in the constructor, which would read every weight."""
        count = 0 if self._started else 15
        count += self.n_power_iterations if self.training else 0
        self._started = True
        for _ in range(count):
            u = F.normalize(torch.mv(matrix, self._v), dim=0, eps=self.eps)
            self._u.copy_(u)
            self._v.copy_(F.normalize(torch.mv(matrix.t(), u), dim=0, eps=self.eps))

    def right_inverse(self, value):
        return value


def spectral_norm(module, name='weight', n_power_iterations=1, eps=1e-12, dim=None):
    if dim is None:
        dim = 1 if type(module).__name__.startswith('ConvTranspose') else 0
    weight = getattr(module, name)
    parametrize.register_parametrization(
        module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module
