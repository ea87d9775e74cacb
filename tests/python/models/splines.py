"""Layers of splines whose coefficients are fitted in the constructor."""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class KANLinear(nn.Module):
    def __init__(self, i, o, grid_size=5, spline_order=3, base_activation=nn.SiLU, grid_range=[-1, 1]):
        super().__init__()
        self.in_features, self.out_features, self.grid_size, self.spline_order = (i, o, grid_size, spline_order)
        h = (grid_range[1] - grid_range[0]) / grid_size
        grid = (torch.arange(-spline_order, grid_size + spline_order + 1) * h + grid_range[0]).expand(i, -1).contiguous()
        self.register_buffer('grid', grid)
        self.base_weight = nn.Parameter(torch.Tensor(o, i))
        self.spline_weight = nn.Parameter(torch.Tensor(o, i, grid_size + spline_order))
        self.spline_scaler = nn.Parameter(torch.Tensor(o, i))
        self.base_activation = base_activation()
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.kaiming_uniform_(self.base_weight, a=math.sqrt(5))
        with torch.no_grad():
            noise = (torch.rand(self.grid_size + 1, self.in_features, self.out_features) - 1 / 2) * 0.1 / self.grid_size
            self.spline_weight.data.copy_(self.curve2coeff(self.grid.T[self.spline_order:-self.spline_order], noise))
            nn.init.kaiming_uniform_(self.spline_scaler, a=math.sqrt(5))

    def b_splines(self, x):
        assert x.dim() == 2 and x.size(1) == self.in_features
        grid = self.grid
        x = x.unsqueeze(-1)
        bases = ((x >= grid[:, :-1]) & (x < grid[:, 1:])).to(x.dtype)
        for k in range(1, self.spline_order + 1):
            bases = (x - grid[:, :-(k + 1)]) / (grid[:, k:-1] - grid[:, :-(k + 1)]) * bases[:, :, :-1] + (grid[:, k + 1:] - x) / (grid[:, k + 1:] - grid[:, 1:-k]) * bases[:, :, 1:]
        assert bases.size() == (x.size(0), self.in_features, self.grid_size + self.spline_order)
        return bases.contiguous()

    def curve2coeff(self, x, y):
        A = self.b_splines(x).transpose(0, 1)
        B = y.transpose(0, 1)
        solution = torch.linalg.lstsq(A, B).solution
        return solution.permute(2, 0, 1).contiguous()

    @property
    def scaled_spline_weight(self):
        return self.spline_weight * self.spline_scaler.unsqueeze(-1)

    def forward(self, x):
        assert x.size(-1) == self.in_features
        s = x.shape
        x = x.reshape(-1, self.in_features)
        base = F.linear(self.base_activation(x), self.base_weight)
        spline = F.linear(self.b_splines(x).view(x.size(0), -1), self.scaled_spline_weight.view(self.out_features, -1))
        return (base + spline).reshape(*s[:-1], self.out_features)


class KAN(nn.Module):
    def __init__(self, sizes=(4, 3, 2)):
        super().__init__()
        self.layers = nn.ModuleList((KANLinear(a, b) for a, b in zip(sizes, sizes[1:])))

    def forward(self, x, update_grid=False):
        for l in self.layers:
            if update_grid:
                l.update_grid(x)
            x = l(x)
        return x
