"""Stubs of quantisation, a function with a gradient of its own, weights that are rounded."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.ao.quantization import QuantStub, DeQuantStub, fuse_modules


class Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, bits):
        ctx.save_for_backward(x)
        ctx.bits = bits
        n = 2 ** bits - 1
        return torch.round(x * n) / n

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return (g, None)


class QConv(nn.Conv2d):
    def __init__(self, *a, bits=4, **k):
        super().__init__(*a, **k)
        self.bits = bits

    def forward(self, x):
        w = torch.tanh(self.weight)
        w = w / (2 * torch.max(torch.abs(w))) + 0.5
        w = 2 * Round.apply(w, self.bits) - 1
        return F.conv2d(x, w, self.bias, self.stride, self.padding, self.dilation, self.groups)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.quant, self.dequant = (QuantStub(), DeQuantStub())
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.bn = nn.BatchNorm2d(4)
        self.relu = nn.ReLU()
        self.q = QConv(4, 4, 3, padding=1)
        self.ff = nn.quantized.FloatFunctional()

    def forward(self, x):
        x = self.quant(x)
        y = self.relu(self.bn(self.conv(x)))
        z = Round.apply(torch.clamp(self.q(y), 0, 1), 8)
        return self.dequant(self.ff.add(y, z))
