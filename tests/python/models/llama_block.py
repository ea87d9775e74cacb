"""A decoder block of today's language models: RMSNorm, rotary positions, grouped heads, SwiGLU."""
from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    dim: int = 32
    heads: int = 4
    kv_heads: int = 2
    hidden: int = 48
    length: int = 16
    theta: float = 10_000.0
    eps: float = 1e-6


def rotary_table(cfg: Config) -> Tensor:
    half = cfg.dim // cfg.heads
    rates = 1.0 / (cfg.theta ** (torch.arange(0, half, 2).float() / half))
    angles = torch.outer(torch.arange(cfg.length).float(), rates)
    return torch.stack([angles.cos(), angles.sin()])


def rotate(x: Tensor, table: Tensor) -> Tensor:
    cos, sin = table[0, : x.shape[-2]], table[1, : x.shape[-2]]
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)


class Attention(nn.Module):
    def __init__(self, cfg: Config) -> None:
        super().__init__()
        self.heads, self.kv_heads = cfg.heads, cfg.kv_heads
        size = cfg.dim // cfg.heads
        self.q = nn.Linear(cfg.dim, cfg.heads * size, bias=False)
        self.kv = nn.Linear(cfg.dim, 2 * cfg.kv_heads * size, bias=False)
        self.out = nn.Linear(cfg.dim, cfg.dim, bias=False)

    def forward(self, x: Tensor, table: Tensor) -> Tensor:
        b, t, _ = x.shape
        q = self.q(x).view(b, t, self.heads, -1).transpose(1, 2)
        k, v = self.kv(x).view(b, t, 2 * self.kv_heads, -1).transpose(1, 2).chunk(2, dim=1)
        q, k = rotate(q, table), rotate(k, table)
        k, v = (y.repeat_interleave(self.heads // self.kv_heads, dim=1) for y in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(b, t, -1))


class SwiGLU(nn.Module):
    def __init__(self, cfg: Config) -> None:
        super().__init__()
        self.gate_up = nn.Linear(cfg.dim, 2 * cfg.hidden, bias=False)
        self.down = nn.Linear(cfg.hidden, cfg.dim, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        gate, up = self.gate_up(x).chunk(2, dim=-1)
        return self.down(F.silu(gate) * up)


class Block(nn.Module):
    def __init__(self, cfg: Config | None = None) -> None:
        super().__init__()
        cfg = cfg or Config()
        self.norm1, self.norm2 = (nn.RMSNorm(cfg.dim, eps=cfg.eps) for _ in range(2))
        self.attention, self.mlp = Attention(cfg), SwiGLU(cfg)
        self.register_buffer("table", rotary_table(cfg), persistent=False)

    @torch.compile
    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x), self.table)
        return x + self.mlp(self.norm2(x))
