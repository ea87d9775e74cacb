"""How tensors come back from pickle."""
import torch


def _rebuild_tensor(cls, values, dtype, sizes, requires_grad):
    """A tensor of class cls from its values, nested lists as tolist() gives them."""
    t = torch.tensor(values, dtype=getattr(torch, dtype)).reshape(sizes)
    if cls is torch.Tensor:
        return t.requires_grad_() if requires_grad else t
    return cls._make_subclass(cls, t, requires_grad)
