"""A block of a diffusion UNet: the time is embedded, and shifts and scales what the convolutions give."""
import math

import torch
from torch import nn
from torch.nn import functional as F


def timestep_embedding(t: torch.Tensor, dim: int, max_period: float = 10000.0) -> torch.Tensor:
    half = dim // 2
    rates = torch.exp(-math.log(max_period) * torch.arange(half, dtype=torch.float32, device=t.device) / half)
    args = t[:, None].float() * rates[None]
    return torch.cat([torch.cos(args), torch.sin(args)], dim=-1)


class TimeBlock(nn.Module):
    def __init__(self, cin: int, cout: int, time: int):
        super().__init__()
        self.inputs = nn.Sequential(nn.GroupNorm(4, cin), nn.SiLU(), nn.Conv2d(cin, cout, 3, padding="same"))
        self.time = nn.Linear(time, 2 * cout)
        self.norm = nn.GroupNorm(4, cout)
        self.outputs = nn.Sequential(nn.SiLU(), nn.Dropout(0.1), nn.Conv2d(cout, cout, 3, padding=1))
        nn.init.zeros_(self.outputs[-1].weight)
        self.skip = nn.Conv2d(cin, cout, 1) if cin != cout else nn.Identity()

    def forward(self, x, emb):
        h = self.inputs(x)
        scale, shift = self.time(F.silu(emb))[..., None, None].chunk(2, dim=1)
        return self.skip(x) + self.outputs(self.norm(h) * (1 + scale) + shift)


class SmallUNet(nn.Module):
    def __init__(self, channels: int = 3, width: int = 8, time: int = 16):
        super().__init__()
        self.width = width
        self.pad = nn.CircularPad2d(1)
        self.first = nn.Conv2d(channels, width, 3)
        self.embed = nn.Sequential(nn.Linear(width, time), nn.SiLU(), nn.Linear(time, time))
        self.down = nn.ModuleList([TimeBlock(width, width, time), TimeBlock(width, 2 * width, time)])
        self.up = TimeBlock(3 * width, width, time)
        self.last = nn.Conv2d(width, channels, 3, padding=1)

    def forward(self, x: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        emb = self.embed(timestep_embedding(t, self.width))
        h, skips = self.first(self.pad(x)), []
        for block in self.down:
            h = block(h, emb)
            skips.append(h)
            h = F.avg_pool2d(h, 2) if block is self.down[0] else h
        h = F.interpolate(skips.pop(), scale_factor=2.0, mode="nearest")
        h = self.up(torch.cat([h, skips.pop()], dim=1), emb)
        return self.last(h)
