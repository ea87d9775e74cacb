import torch
from torch import nn


class InPlace(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(4))
        self.register_buffer('shift', torch.zeros(4))

    def forward(self, x):
        y = x * self.scale
        y += self.shift
        y.clamp_(min=0)
        y = y.add_(1).mul_(2)
        return y.sqrt_()
