import torch
from einops import rearrange, repeat
from einops.layers.torch import Rearrange
from torch import nn


class PatchEmbedding(nn.Module):
    def __init__(self, patch=4, dim=16):
        super().__init__()
        self.to_patches = nn.Sequential(
            Rearrange('b c (h p1) (w p2) -> b (h w) (p1 p2 c)', p1=patch, p2=patch),
            nn.Linear(3 * patch * patch, dim))
        self.cls = nn.Parameter(torch.randn(1, 1, dim))
        self.to_qkv = nn.Linear(dim, 3 * dim, bias=False)

    def forward(self, x):
        x = self.to_patches(x)
        cls = repeat(self.cls, '1 1 d -> b 1 d', b=x.shape[0])
        x = torch.cat((cls, x), dim=1)
        q, k, v = map(lambda t: rearrange(t, 'b n (h d) -> b h n d', h=4),
                      self.to_qkv(x).chunk(3, dim=-1))
        attn = (q @ k.transpose(-1, -2)).softmax(dim=-1)
        return rearrange(attn @ v, 'b h n d -> b n (h d)')
