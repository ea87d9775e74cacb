"""What the scripts g_*.py import: @G runs a function, and compares what it prints with expected/.

The scripts and expected/ are a record of real PyTorch 1.13. Where fxscope prints something else, ours/
holds that, and `differs` says why. Prints TAP: one line a function. With --record, ours/ is made anew.
"""
import builtins
import contextlib
import io
import math
import operator
import os
import re
import sys
import traceback
import warnings

import _fxscope
import torch, torch.fx as fx, torch.nn as nn, torch.nn.functional as F
from torch.fx import Graph, GraphModule, Node, Tracer, Proxy, Interpreter, Transformer, symbolic_trace, replace_pattern, wrap, PH, CodeGen
from torch.fx.graph import _Namespace, _snake_case
from torch.fx.node import _format_arg, _type_repr, _get_qualified_name, map_aggregate

HERE = os.path.dirname(os.path.abspath(__file__))
stdout = sys.stdout
record = '--record' in sys.argv
count = failures = 0
_fxscope.set_strict(True)  # what 1.13 refuses is refused

differs = {
    'gm_call_error': 'a traceback of torch names the lines of its own files; the kernel says shapes in its own words',
    'it_env': 'random numbers are not those of torch: the same seed gives other weights',
    'more_module_repr': "nn.CircularPad2d, of a later PyTorch, is there: the script asks for it",
    'more_shadow': 'the method that is called by mistake says in its own words that it takes no arguments',
    'normalize': 'torch refuses calls that fit several overloads; fxscope binds the first that fits',
    'sp_error': 'the kernel of a linear layer says in its own words which shapes do not agree',
    'tr_const_tensor_left': "torch lists all overloads of view when it refuses one call; fxscope names the call",
}
# Made by the scripts too, but with addresses, paths or hash order in them.
unstable = {'drawer', 'gm_folder', 'gm_print_readable', 'it_errors', 'more_pickle', 'print_tabular_misc', 'print_tabular_seed',
            'rp_modules', 'sp_memfmt', 'tr_control', 'tr_stack'}


needs_numpy = {'tr_outputs'}


def no_numpy():
    """Whether the name stands for nothing, or for the stand-in."""
    try:
        import numpy
    except ImportError:
        return True
    return not hasattr(numpy, 'ufunc')


def printed(fn):
    buf = io.StringIO()
    with contextlib.redirect_stdout(buf), warnings.catch_warnings(record=True) as w:
        warnings.simplefilter('always')
        try:
            fn()
        except Exception as e:
            print('UNCAUGHT', type(e).__name__, e)
            traceback.print_exc(file=buf)
    text = re.sub(r' at 0x[0-9a-f]+', ' at 0x...', buf.getvalue())
    return text + ''.join(f'[warning {x.category.__name__}: {x.message}]\n' for x in w)


def read(folder, name):
    path = f'{HERE}/{folder}/{name}.txt'
    with open(path, encoding='utf-8') as f:
        return f.read()


def compare(name, have, expected, why):
    global count, failures
    count += 1
    good = have == expected
    failures += not good
    print(f"{'ok' if good else 'not ok'} {count} - {name}{why}", file=stdout)
    if not good:
        import difflib
        for line in list(difflib.unified_diff(expected.split('\n'), have.split('\n'), 'expected', 'have', n=1))[:60]:
            print(f'# {line}', file=stdout)


def G(fn):
    name, have = fn.__name__, printed(fn)
    if name in unstable:
        print(f'# {name}: its text depends on addresses or paths; not compared', file=stdout)
        return fn
    if name in needs_numpy and no_numpy():
        global count
        count += 1
        print(f'ok {count} - {name} # SKIP numpy is not installed', file=stdout)
        return fn
    if name not in differs:
        compare(name, have, read('expected', name), '')
        return fn
    have = re.sub(r'\bline \d+', 'line _', have)  # of our own files
    if record:
        os.makedirs(f'{HERE}/ours', exist_ok=True)
        with open(f'{HERE}/ours/{name}.txt', 'w', encoding='utf-8') as f:
            f.write(have)
    else:
        assert have != read('expected', name), f'{name} does not differ any more'
        compare(name, have, read('ours', name), f' (not as in torch: {differs[name]})')
    return fn


def E(f, *a, **k):
    try:
        r = f(*a, **k)
        print('OK', repr(r))
        return r
    except Exception as e:
        print(f'{type(e).__name__}: {e}')


__all__ = [k for k in globals() if not k.startswith('__')]
