import torch
from torch import nn


class Windows(nn.Module):
    """Iterates over shapes and chunks."""
    def __init__(self, size=2):
        super().__init__()
        self.size = size
        self.norm = nn.LayerNorm(6)

    def forward(self, x):
        b, *spatial, c = x.shape
        parts = []
        for part in x.chunk(2, dim=-1):
            parts.append(part.reshape(b, -1, c // 2).sum(1))
        windows = [n // self.size for n in spatial]
        x = x.view(b, windows[0], self.size, windows[1], self.size, c)
        x = x.permute(0, 1, 3, 2, 4, 5).reshape(b, len(parts) * windows[1], -1, c)
        return self.norm(x), torch.stack(parts)
