"""A vision transformer as it is written today: flash attention is asked for, registers, LayerScale."""
from functools import partial
from typing import Callable, Optional

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel


class LayerScale(nn.Module):
    def __init__(self, dim: int, init: float = 1e-5) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.full((dim,), init))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.gamma


class Layer(nn.Module):
    def __init__(self, dim: int, heads: int, norm: Optional[Callable[[int], nn.Module]] = None) -> None:
        super().__init__()
        norm = norm or partial(nn.LayerNorm, eps=1e-6)
        self.heads = heads
        self.norm1, self.norm2 = norm(dim), norm(dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.scale1, self.scale2 = LayerScale(dim), LayerScale(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(approximate="tanh"), nn.Linear(4 * dim, dim))

    def attend(self, x):
        qkv = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):
            y = F.scaled_dot_product_attention(q, k, v)
        return self.proj(y.transpose(1, 2).flatten(2))

    def forward(self, x):
        x = x + self.scale1(self.attend(self.norm1(x)))
        return x + self.scale2(self.mlp(self.norm2(x)))


class ViT(nn.Module):
    def __init__(self, size=16, patch=8, dim=24, heads=3, depth=1, registers=2, classes=5):
        super().__init__()
        self.patches = nn.Conv2d(3, dim, patch, stride=patch)
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        self.registers = nn.Parameter(torch.zeros(1, registers, dim))
        self.position = nn.Parameter(torch.empty(1, (size // patch) ** 2, dim))
        nn.init.trunc_normal_(self.position, std=0.02)
        self.layers = nn.ModuleList([Layer(dim, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(dim, bias=False)
        self.head = nn.Linear(dim, classes)

    @torch.inference_mode()
    def forward(self, x):
        with torch.amp.autocast("cuda", dtype=torch.bfloat16, enabled=False):
            x = self.patches(x).flatten(2).mT + self.position
            b = x.shape[0]
            x = torch.cat([self.cls.expand(b, -1, -1), self.registers.expand(b, -1, -1), x], dim=1)
            for layer in self.layers:
                x = layer(x)
            return self.head(self.norm(x)[:, 0])
