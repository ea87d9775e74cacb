"""ConvNeXt V2's block: depthwise convolution, LayerNorm in channels last, global response norm."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class GRN(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gamma = nn.Parameter(torch.zeros(1, 1, 1, dim))
        self.beta = nn.Parameter(torch.zeros(1, 1, 1, dim))

    def forward(self, x):
        gx = torch.linalg.vector_norm(x, ord=2, dim=(1, 2), keepdim=True)
        nx = gx / (gx.mean(dim=-1, keepdim=True) + 1e-6)
        return self.gamma * (x * nx) + self.beta + x


class LayerNorm2d(nn.LayerNorm):
    def forward(self, x):
        x = x.permute(0, 2, 3, 1)
        x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        return x.permute(0, 3, 1, 2)


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dwconv = nn.Conv2d(dim, dim, kernel_size=7, padding=3, groups=dim)
        self.norm = nn.LayerNorm(dim, eps=1e-6)
        self.pwconv1, self.act = nn.Linear(dim, 4 * dim), nn.GELU()
        self.grn, self.pwconv2 = GRN(4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        x = self.dwconv(input).movedim(1, -1)
        x = self.pwconv2(self.grn(self.act(self.pwconv1(self.norm(x)))))
        return input + x.movedim(-1, 1)


class ConvNeXtV2(nn.Module):
    def __init__(self, chans=3, classes=4, depths=(1, 1), dims=(8, 16)):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(chans, dims[0], 4, 4), LayerNorm2d(dims[0], eps=1e-6))
        self.stages = nn.Sequential(*(
            nn.Sequential(
                nn.Identity() if i == 0 else nn.Sequential(LayerNorm2d(dims[i - 1]), nn.Conv2d(dims[i - 1], dim, 2, 2)),
                *(Block(dim) for _ in range(depth)))
            for i, (depth, dim) in enumerate(zip(depths, dims, strict=True))))
        self.norm, self.head = nn.LayerNorm(dims[-1], eps=1e-6), nn.Linear(dims[-1], classes)
        self.apply(self._init)

    @staticmethod
    def _init(m: nn.Module) -> None:
        match m:
            case nn.Conv2d() | nn.Linear():
                nn.init.trunc_normal_(m.weight, std=0.02)
                nn.init.zeros_(m.bias)

    def forward(self, x):
        x = self.stages(self.stem(x))
        return self.head(self.norm(x.mean((-2, -1))))
