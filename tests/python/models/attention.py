import math

import torch
import torch.nn as nn


class CausalSelfAttention(nn.Module):
    def __init__(self, width=16, heads=4, longest=32):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.register_buffer('mask', torch.tril(torch.ones(longest, longest)).view(
            1, 1, longest, longest))

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.qkv(x).split(C, dim=2)
        k = k.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        q = q.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        v = v.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(16 // self.heads))
        att = att.masked_fill(self.mask[:, :, :T, :T] == 0, float('-inf'))
        y = torch.softmax(att, dim=-1) @ v
        return self.proj(y.transpose(1, 2).contiguous().view(B, T, C))
