"""Layers and functions that PyTorch has had since its version 2."""
import torch
import torch.nn.functional as F
from torch import nn


class Newer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.RMSNorm(8)
        self.plain = nn.LayerNorm(8, bias=False)
        self.pads = nn.Sequential(nn.CircularPad2d(1), nn.ZeroPad3d(1))

    def forward(self, query, key):
        attended = F.scaled_dot_product_attention(query, key, key, is_causal=True, enable_gqa=True)
        padded = self.pads(self.norm(attended))
        places = torch.unravel_index(attended.flatten(1).argmax(1), (4, 6, 8))
        return padded, self.plain(attended), torch.stack(places)
