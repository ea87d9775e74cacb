"""Guards, decorators and contexts of compilers and mixed precision."""
import torch
import torch.nn as nn
from typing import List, Tuple
from torch import Tensor


@torch.jit.script
def fused(x, y):
    return x * y + 1


@torch.jit.ignore
def ign(x):
    return x


class Block(nn.Module):
    __constants__ = ['k']
    k: int

    def __init__(self, k: int=3):
        super().__init__()
        self.k = k
        self.c = nn.Conv2d(3, 3, k, padding=k // 2)

    @torch.jit.unused
    def cp(self, x: List[Tensor]) -> Tensor:
        return torch.utils.checkpoint.checkpoint(lambda *i: self.c(torch.cat(i, 0)), *x)

    def forward(self, x: Tensor) -> Tensor:
        if not torch.jit.is_scripting() and (not torch.jit.is_tracing()) and torch.is_tensor(x):
            x = ign(x)
        if torch.onnx.is_in_onnx_export():
            x = x * 2
        if hasattr(torch, 'compiler') and torch.compiler.is_compiling():
            x = x + 1
        torch._assert(isinstance(x, Tensor), 'tensor')
        return fused(self.c(x), x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.b = torch.jit.script(Block()) if False else Block()
        self.e = torch.jit.export

    @torch.cuda.amp.autocast()
    def forward(self, x):
        with torch.autocast(device_type='cuda', enabled=False), torch.no_grad():
            y = self.b(x.float())
        with torch.cuda.amp.autocast(enabled=torch.cuda.is_available()):
            return torch.jit.annotate(Tensor, self.b(y))
