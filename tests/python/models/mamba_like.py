"""A selective state space block: the scan is written as cumulative sums and einsum."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class SelectiveScan(nn.Module):
    def __init__(self, dim: int, state: int = 4, rank: int | None = None):
        super().__init__()
        self.state, self.rank = state, rank or math.ceil(dim / 16)
        self.project = nn.Linear(dim, self.rank + 2 * state, bias=False)
        self.dt = nn.Linear(self.rank, dim)
        self.A_log = nn.Parameter(torch.log(torch.arange(1, state + 1, dtype=torch.float32).repeat(dim, 1)))
        self.D = nn.Parameter(torch.ones(dim))

    def forward(self, u):
        dt, B, C = self.project(u).split([self.rank, self.state, self.state], dim=-1)
        dt = F.softplus(self.dt(dt))
        A = -self.A_log.float().exp()
        dA = torch.einsum("bld,dn->bldn", dt, A)
        dBu = torch.einsum("bld,bln,bld->bldn", dt, B, u)
        total = dA.cumsum(dim=1)
        x = (dBu * (-total).exp().clamp(max=1e6)).cumsum(1) * total.exp()
        return torch.einsum("bldn,bln->bld", x, C) + u * self.D


class MambaBlock(nn.Module):
    def __init__(self, dim: int = 8, expand: int = 2, kernel: int = 4):
        super().__init__()
        inner = expand * dim
        self.norm = nn.RMSNorm(dim)
        self.inputs = nn.Linear(dim, 2 * inner, bias=False)
        self.conv = nn.Conv1d(inner, inner, kernel, groups=inner, padding=kernel - 1)
        self.scan = SelectiveScan(inner)
        self.out = nn.Linear(inner, dim, bias=False)

    def forward(self, x):
        u, gate = self.inputs(self.norm(x)).chunk(2, dim=-1)
        u = F.silu(self.conv(u.mT)[..., : x.size(1)].mT)
        return x + self.out(self.scan(u) * F.silu(gate))
