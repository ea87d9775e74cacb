"""Messages along the edges of a graph, summed and averaged at its nodes."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def scatter_mean(src, index, dim_size):
    out = torch.zeros(dim_size, src.size(1), dtype=src.dtype, device=src.device)
    out.index_add_(0, index, src)
    count = torch.zeros(dim_size, device=src.device).scatter_add_(0, index, torch.ones_like(index, dtype=src.dtype))
    return out / count.clamp(min=1).unsqueeze(-1)


class MessagePassing(nn.Module):
    def __init__(self, aggr='mean'):
        super().__init__()
        self.aggr = aggr

    def propagate(self, edge_index, x):
        src, dst = edge_index
        msg = self.message(x[dst], x[src])
        if self.aggr == 'mean':
            return scatter_mean(msg, dst, x.size(0))
        out = x.new_full((x.size(0), msg.size(1)), float('-inf'))
        return out.scatter_reduce(0, dst.unsqueeze(1).expand_as(msg), msg, reduce='amax', include_self=False)

    def message(self, a, b):
        return b


class SAGE(MessagePassing):
    def __init__(self, i, o):
        super().__init__()
        self.l, self.r = (nn.Linear(i, o), nn.Linear(i, o, bias=False))

    def forward(self, x, edge_index):
        return F.normalize(self.l(self.propagate(edge_index, x)) + self.r(x), p=2.0, dim=-1)


class Edge(MessagePassing):
    def __init__(self, i, o):
        super().__init__('max')
        self.mlp = nn.Sequential(nn.Linear(2 * i, o), nn.ReLU())

    def message(self, a, b):
        return self.mlp(torch.cat([a, b - a], -1))

    def forward(self, x, e):
        return self.propagate(e, x)


class GAT(nn.Module):
    def __init__(self, i, o, heads=2):
        super().__init__()
        self.h, self.o = (heads, o)
        self.w = nn.Linear(i, heads * o, bias=False)
        self.a = nn.Parameter(torch.empty(1, heads, 2 * o))
        nn.init.xavier_uniform_(self.a)

    def forward(self, x, e):
        N = x.shape[0]
        h = self.w(x).view(N, self.h, self.o)
        s, d = (e[0], e[1])
        alpha = F.leaky_relu((torch.cat([h[s], h[d]], -1) * self.a).sum(-1), 0.2)
        alpha = alpha - alpha.max()
        num = alpha.exp()
        den = torch.zeros(N, self.h).index_add(0, d, num)
        alpha = num / (den[d] + 1e-16)
        out = torch.zeros_like(h)
        out.index_add_(0, d, alpha[..., None] * h[s])
        return out.flatten(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.c2, self.c3 = (SAGE(4, 8), Edge(8, 8), GAT(8, 4))

    def forward(self, x, edge_index):
        x = F.dropout(F.relu(self.c1(x, edge_index)), 0.5, self.training)
        x = self.c2(x, edge_index).nan_to_num(0.0, 0.0, 0.0)
        x = self.c3(x, edge_index)
        return (F.log_softmax(x, dim=1), torch.bincount(edge_index[1], minlength=5))
