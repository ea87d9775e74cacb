"""torch.nn.utils.spectral_norm: a weight divided by its largest singular value, which a power
iteration finds."""
import torch

from .. import functional as F
from ..parameter import Parameter


class SpectralNorm:
    def __init__(self, name='weight', n_power_iterations=1, dim=0, eps=1e-12):
        if n_power_iterations <= 0:
            raise ValueError('Expected n_power_iterations to be positive, but got '
                             f'n_power_iterations={n_power_iterations}')
        self.name, self.n_power_iterations = name, n_power_iterations
        self.dim, self.eps = dim, eps

    def reshape_weight_to_matrix(self, weight):
        if self.dim != 0:
            others = [d for d in range(weight.dim()) if d != self.dim]
            weight = weight.permute(self.dim, *others)
        return weight.reshape(weight.size(0), -1)

    def compute_weight(self, module, do_power_iteration):
        weight = getattr(module, self.name + '_orig')
        u, v = getattr(module, self.name + '_u'), getattr(module, self.name + '_v')
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with torch.no_grad():
                for _ in range(self.n_power_iterations):
                    v = F.normalize(torch.mv(matrix.t(), u), dim=0, eps=self.eps)
                    u = F.normalize(torch.mv(matrix, v), dim=0, eps=self.eps)
        sigma = torch.dot(u, torch.mv(matrix, v))
        return weight / sigma

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module, module.training))


def spectral_norm(module, name='weight', n_power_iterations=1, eps=1e-12, dim=None):
    if dim is None:
        dim = 1 if type(module).__name__.startswith('ConvTranspose') else 0
    made = SpectralNorm(name, n_power_iterations, dim, eps)
    weight = module._parameters.pop(name)
    rows = weight.size(dim)
    cols = weight.numel() // rows if rows else 0
    module.register_parameter(name + '_orig', weight)
    setattr(module, name, weight.data)
    for suffix, size in (('_u', rows), ('_v', cols)):
        module.register_buffer(name + suffix,
                               F.normalize(torch.randn(size), dim=0, eps=eps))
    module.register_forward_pre_hook(made)
    return module


def remove_spectral_norm(module, name='weight'):
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            weight = hook.compute_weight(module, False)
            delattr(module, name)
            del module._parameters[name + '_orig']
            del module._buffers[name + '_u'], module._buffers[name + '_v']
            module.register_parameter(name, Parameter(weight.detach()))
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"spectral_norm of '{name}' not found in {module}")
