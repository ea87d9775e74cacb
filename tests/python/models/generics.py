"""Type variables, match, enumerations, generators, starred assignments."""
import torch
import torch.nn as nn
from typing import Generic, TypeVar, Protocol, Union, Callable, ClassVar, Iterator, overload, Literal, Annotated
from enum import Enum, auto
T = TypeVar('T', bound=nn.Module)


class Kind(str, Enum):
    A = 'a'
    B = 'b'


class Mode(Enum):
    X = auto()
    Y = auto()


class HasOut(Protocol):
    out: int


class Wrapper(nn.Module, Generic[T]):
    inner: T
    count: ClassVar[int] = 0

    def __init__(self, inner: T, kind: Kind=Kind.A):
        super().__init__()
        self.inner = inner
        self.kind = kind

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        match self.kind:
            case Kind.A:
                return self.inner(x)
            case _:
                return x

    def __iter__(self) -> Iterator[nn.Module]:
        yield self.inner


class Res(nn.Module):
    def __init__(self, fn: Callable[[torch.Tensor], torch.Tensor] | nn.Module):
        super().__init__()
        self.fn = fn

    def forward(self, x, *args, **kw):
        return x + self.fn(x, *args, **kw)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w: Wrapper[nn.Linear] = Wrapper[nn.Linear](nn.Linear(4, 4))
        self.r = Res(self.w)
        self.fns = [torch.sin, lambda v: v.cos(), self.helper]

    def helper(self, v: Annotated[torch.Tensor, 'x'], mode: Literal['a', 'b']='a'):
        return v.exp() if mode == 'a' else v

    def gen(self, x):
        for f in self.fns:
            yield f(x)

    def forward(self, x):
        parts = list(self.gen(self.r(x)))
        *first, last = parts
        total = sum(first) + last
        if (n := len(parts)) > 2:
            total = total / n
        return {'total': total, **{f'p{i}': p for i, p in enumerate(parts)}}
