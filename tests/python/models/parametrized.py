"""Weights that are computed from others."""
import torch
import torch.nn as nn
import torch.nn.utils.parametrize as parametrize
from torch.nn.utils import spectral_norm, weight_norm


class Symmetric(nn.Module):
    def forward(self, X):
        return X.triu() + X.triu(1).transpose(-1, -2)


class Skew(nn.Module):
    def forward(self, X):
        A = X.triu(1)
        return A - A.transpose(-1, -2)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(4, 4)
        parametrize.register_parametrization(self.l, 'weight', Symmetric())
        self.w = weight_norm(nn.Linear(4, 6), name='weight')
        self.s = spectral_norm(nn.Conv2d(3, 4, 3))
        self.p = torch.nn.utils.parametrizations.spectral_norm(nn.Linear(6, 2))

    def forward(self, x, y):
        return (self.p(self.w(self.l(x))), self.s(y))
