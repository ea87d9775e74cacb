"""torch.nn.utils.fusion: batch normalisation folded into the layer before it."""
import copy

import torch

from ..parameter import Parameter


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    conv_b = torch.zeros_like(bn_rm) if conv_b is None else conv_b
    bn_w = torch.ones_like(bn_rm) if bn_w is None else bn_w
    bn_b = torch.zeros_like(bn_rm) if bn_b is None else bn_b
    scale = bn_w * torch.rsqrt(bn_rv + bn_eps)
    shape = [1] * len(conv_w.shape)
    shape[1 if transpose else 0] = -1
    return (Parameter(conv_w * scale.reshape(shape)),
            Parameter((conv_b - bn_rm) * scale + bn_b))


def fuse_conv_bn_eval(conv, bn, transpose=False):
    assert not (conv.training or bn.training), 'Fusion only for eval!'
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias,
        transpose)
    return fused


fuse_linear_bn_eval = fuse_conv_bn_eval
