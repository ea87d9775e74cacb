"""Rotary positions as complex numbers, a cache that forward writes, root mean square norm."""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F
from typing import Tuple, Optional


class RMSNorm(torch.nn.Module):
    def __init__(self, dim: int, eps: float=1e-06):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def _norm(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)

    def forward(self, x):
        return self._norm(x.float()).type_as(x) * self.weight


def precompute_freqs_cis(dim, end, theta=10000.0):
    freqs = 1.0 / theta ** (torch.arange(0, dim, 2)[:dim // 2].float() / dim)
    t = torch.arange(end, device=freqs.device)
    freqs = torch.outer(t, freqs).float()
    return torch.polar(torch.ones_like(freqs), freqs)


def reshape_for_broadcast(freqs_cis, x):
    ndim = x.ndim
    assert 0 <= 1 < ndim
    assert freqs_cis.shape == (x.shape[1], x.shape[-1])
    shape = [d if i == 1 or i == ndim - 1 else 1 for i, d in enumerate(x.shape)]
    return freqs_cis.view(*shape)


def apply_rotary_emb(xq, xk, freqs_cis) -> Tuple[torch.Tensor, torch.Tensor]:
    xq_ = torch.view_as_complex(xq.float().reshape(*xq.shape[:-1], -1, 2))
    xk_ = torch.view_as_complex(xk.float().reshape(*xk.shape[:-1], -1, 2))
    freqs_cis = reshape_for_broadcast(freqs_cis, xq_)
    return (torch.view_as_real(xq_ * freqs_cis).flatten(3).type_as(xq), torch.view_as_real(xk_ * freqs_cis).flatten(3).type_as(xk))


def repeat_kv(x, n_rep: int):
    bs, slen, h, d = x.shape
    if n_rep == 1:
        return x
    return x[:, :, :, None, :].expand(bs, slen, h, n_rep, d).reshape(bs, slen, h * n_rep, d)


class Attention(nn.Module):
    def __init__(self, dim=16, heads=4, kv=2):
        super().__init__()
        self.h, self.kv, self.d = (heads, kv, dim // heads)
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(dim, dim, bias=False), nn.Linear(dim, kv * self.d, bias=False), nn.Linear(dim, kv * self.d, bias=False), nn.Linear(dim, dim, bias=False))
        self.cache_k = torch.zeros((4, 32, kv, self.d))
        self.cache_v = torch.zeros((4, 32, kv, self.d))

    def forward(self, x, start_pos: int, freqs_cis, mask: Optional[torch.Tensor]):
        bsz, seqlen, _ = x.shape
        xq, xk, xv = (self.wq(x), self.wk(x), self.wv(x))
        xq = xq.view(bsz, seqlen, self.h, self.d)
        xk = xk.view(bsz, seqlen, self.kv, self.d)
        xv = xv.view(bsz, seqlen, self.kv, self.d)
        xq, xk = apply_rotary_emb(xq, xk, freqs_cis=freqs_cis)
        self.cache_k = self.cache_k.to(xq)
        self.cache_v = self.cache_v.to(xq)
        self.cache_k[:bsz, start_pos:start_pos + seqlen] = xk
        self.cache_v[:bsz, start_pos:start_pos + seqlen] = xv
        keys, values = (repeat_kv(self.cache_k[:bsz, :start_pos + seqlen], self.h // self.kv), repeat_kv(self.cache_v[:bsz, :start_pos + seqlen], self.h // self.kv))
        s = torch.matmul(xq.transpose(1, 2), keys.permute(0, 2, 3, 1)) / math.sqrt(self.d)
        if mask is not None:
            s = s + mask
        return self.wo(torch.matmul(F.softmax(s.float(), dim=-1).type_as(xq), values.transpose(1, 2)).transpose(1, 2).contiguous().view(bsz, seqlen, -1))


class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(50, 16)
        self.att = Attention()
        self.n = RMSNorm(16)
        self.freqs_cis = precompute_freqs_cis(4, 64)

    @torch.inference_mode()
    def forward(self, tokens: torch.Tensor, start_pos: int=0):
        _b, seqlen = tokens.shape
        h = self.emb(tokens)
        self.freqs_cis = self.freqs_cis.to(h.device)
        f = self.freqs_cis[start_pos:start_pos + seqlen]
        mask = None
        if seqlen > 1:
            mask = torch.full((1, 1, seqlen, seqlen), float('-inf'), device=tokens.device)
            mask = torch.triu(mask, diagonal=start_pos + 1).type_as(h)
        return self.n(h + self.att(h, start_pos, f, mask)).float()
