import torch
from torch import nn
import torch.nn.functional as F


class Resize(nn.Module):
    """What it does depends on the shape of its input."""
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(3, 4, 3, stride=2, padding=1)
        self.up = nn.ConvTranspose2d(4, 3, 2, stride=2)

    def forward(self, x):
        h, w = x.shape[-2:]
        if h % 2 or w % 2:
            x = F.pad(x, [0, w % 2, 0, h % 2])
        y = self.up(self.down(x))
        if y.shape != x.shape:
            y = F.interpolate(y, x.shape[-2:])
        assert y.dim() == 4, 'a batch of images'
        return y[..., :h, :w]
