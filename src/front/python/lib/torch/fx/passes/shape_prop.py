"""ShapeProp: runs a graph, and keeps dtype and shape of every result in node.meta."""
from typing import Any, Dict, NamedTuple, Optional, Tuple

import torch
import torch.fx
from torch.fx._compatibility import compatibility
from torch.fx.node import Node, map_aggregate

__all__ = ['TensorMetadata', 'ShapeProp']


class TensorMetadata(NamedTuple):
    shape: torch.Size
    dtype: torch.dtype
    requires_grad: bool
    stride: Tuple[int]
    memory_format: Optional[torch.memory_format]
    is_quantized: bool
    qparams: Dict[str, Any]


_FORMATS = (torch.contiguous_format, torch.channels_last, torch.channels_last_3d)


def _extract_tensor_metadata(result):
    """The TensorMetadata of a tensor."""
    dims = {torch.channels_last: 4, torch.channels_last_3d: 5}
    found = next((f for f in _FORMATS if dims.get(f, result.dim()) == result.dim()
                  and result.is_contiguous(memory_format=f)), None)
    qparams = {}
    if result.is_quantized:
        qscheme = qparams['qscheme'] = result.qscheme()
        if qscheme in {torch.per_tensor_affine, torch.per_tensor_symmetric}:
            qparams['scale'] = result.q_scale()
            qparams['zero_point'] = result.q_zero_point()
        else:
            qparams['scale'] = result.q_per_channel_scales().tolist()
            qparams['zero_point'] = result.q_per_channel_zero_points().tolist()
            qparams['axis'] = result.q_per_channel_axis()
    return TensorMetadata(result.shape, result.dtype, result.requires_grad, result.stride(), found,
                          result.is_quantized, qparams)


class ShapeProp(torch.fx.Interpreter):
    """ShapeProp(gm).propagate(*args): meta['tensor_meta'] and meta['type'] for every node."""

    def run_node(self, n):
        try:
            result = super().run_node(n)
        except Exception as e:
            import traceback
            traceback.print_exc()
            raise RuntimeError(f'ShapeProp error for: node={n.format_node()} with '
                               f'meta={n.meta}') from e
        found = False

        def describe(x):
            nonlocal found
            if not isinstance(x, torch.Tensor):
                return x
            found = True
            return _extract_tensor_metadata(x)
        meta = map_aggregate(result, describe)
        if found:
            n.meta['tensor_meta'] = meta
        n.meta['type'] = type(result)
        return result

    def propagate(self, *args):
        return super().run(*args)
