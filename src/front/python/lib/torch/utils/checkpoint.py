"""torch.utils.checkpoint: saves memory in training; here it calls through."""
import warnings

import _fxscope


def checkpoint(function, *args, use_reentrant=True, preserve_rng_state=True, context_fn=None,
               determinism_check=None, debug=False, **kwargs):
    if _fxscope.strict() and not any(getattr(a, 'requires_grad', False) is True for a in args):
        warnings.warn('None of the inputs have requires_grad=True. Gradients will be None')
    return function(*args, **kwargs)


def checkpoint_sequential(functions, segments, input, **kwargs):
    for function in (functions.children() if hasattr(functions, 'children') else functions):
        input = function(input)
    return input
