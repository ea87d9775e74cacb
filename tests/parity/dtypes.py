"""dtypes.py: which types each row's tensors may have. Calls of the templates, with some tensors turned into a type of each
kind, are made by PyTorch and by fxscope, and compared with each other and with what `fxscope ops` prints. parity.py --dtypes
makes them; here is how a call is turned, and the report. The table says which types some tensor argument may have while
other arguments are left at their defaults; being promoted to another's type does not count."""
import collections
import copy
import json

import table
import undefined
from source import ALL, FLOATS, Source
from widen import COMPLEX, retype, tensors

WAYS = 5
KINDS = {'float': ['float32', 'float64'], 'half': ['float16', 'bfloat16'], 'bool': ['bool'], 'complex': COMPLEX,
         'int': ['int64'] * 3 + [t for t in ALL if t not in FLOATS + ['bool']]}  # many kernels have int64 alone
SHARE = 0.25  # of a row's calls of a kind that it takes; fewer are the odd ones that any type passes
# Rows whose types the table and the templates' calls tell differently, by the reason.
UNTOLD = {
    'takes any object, a tensor among them, and none has to be one': 'asarray getattr hasattr index is_tensor',
    'one element to sort passes any type': 'sort argsort mode',
    'which of equal elements is taken is undefined, and small ints and bools mostly are equal': 'topk',
    'complex calls are left out, since Debian\'s PyTorch calls BLAS by another convention': 'dot',
    'bfloat16 is left out, and few calls are of float16': 'conv_transpose3d',
    'bools take no bound above 2': 'randint_like',
    'a number beside a tensor of bools is promoted, or is no divisor': 'remainder rremainder',
    'lists of no boxes take any type': 'roi_pool_boxes',
    'a real input has its parts in a last dimension of 2, which a turned one lacks': 'istft',
    'lengths and targets have types of their own': 'ctc_loss torch_ctc_loss linalg_ldl_solve',
    'tensors of other sizes are told apart without values, those of one size are not': 'equal',
    'a complex weight beside a real target is taken by chance': 'bce_with_logits',
    'half the templates\' calls have an index, whose turning fails': 'index_put index_reduce scatter scatter_reduce',
    'a number of repeats needs no values, a tensor of them does': 'repeat_interleave',
    'few calls are turned': 'permute_copy',
}

def untold(name):
    return next((why for why, names in UNTOLD.items() if name in names.split()), None)


def names_type(x):
    return isinstance(x, dict) and 'dtype' in x


def chosen(found, which):
    """All tensors, the first, the second, those of the first one's type, the third."""
    return [found, found[:1], found[1:2], [t for t in found if t['dtype'] == found[0]['dtype']], found[2:3]][which] if found else []


def turn(g, case, kind, which):
    """Tensors become of a type of that kind. False: there is nothing to turn; or types do not matter, since a tensor is empty,
    or the call names the type to compute in."""
    given = case['args'] + list(case['kwargs'].values())
    found = tensors(given)
    turned, new = chosen(found, which), g.pick(KINDS[kind][0], *KINDS[kind])
    same = which and (len(found) < 2 or which == 3 and len(turned) in (1, len(found)))
    if not turned or same or any(0 in t['sizes'] for t in found) or any(map(names_type, given)):
        return False
    for t in turned:
        retype(g, t, new)
        t['turned'] = True
    case.update(turned=new, kind=kind, way=which)
    return True


def without_options(row, args, kwargs):
    """Leaves what a call has to give."""
    positional = row.params.index('*') if '*' in row.params else len(row.params)
    if any((row.name, name) in undefined.FIXED for name in row.params):
        return
    if '...' not in ''.join(row.types):
        del args[sum(d is None for d in row.defaults[:positional]):]
    for name in list(kwargs):
        if name not in row.params or row.defaults[row.params.index(name)] is not None:
            del kwargs[name]


def exchanged(case):
    """The call with the turned tensors of the others' type and the others of theirs; None where all have one type. Where it is
    taken too, one type is promoted to the other, which says nothing of either alone."""
    case = copy.deepcopy(case)
    found = tensors([case['args'], list(case['kwargs'].values())])
    others = [t for t in found if 'turned' not in t and t['dtype'] != case['turned']]
    if not others:
        return None
    g, old = Source(1), others[0]['dtype']
    for t in found:
        retype(g, t, old if 'turned' in t else case['turned'])
    return json.dumps(case)


def facts(made, results, run):
    """(row -> kinds that calls take, row -> what they are without values): of calls without options, where there are any."""
    taken, tried = (collections.defaultdict(collections.Counter) for _ in range(2))
    values, cases = collections.defaultdict(set), []
    for (_, line), r in zip(made, results):
        case = json.loads(line)
        key = *case['of'], case['short']
        if (r['row'], r['schema']) == key[:2]:
            cases.append((key, case))
            values[key[:2]].add(r['meta'])
        elif not r['row']:
            tried[key][case['kind']] += case['way'] == 0
    turned = [exchanged(case) for _, case in cases]
    promoted = iter(run([t for t in turned if t]))
    for (key, case), t in zip(cases, turned):
        if not (t and next(promoted)['row']):
            taken[key][case['kind']] += 1
            tried[key][case['kind']] += 1
    kinds = {k: {kind for kind, n in taken[k].items() if n >= SHARE * tried[k][kind]} for k in taken}
    return {k[:2]: kinds.get(k[:2] + (True,)) or kinds[k] for k in kinds}, values


def differences(made, results):
    """Calls that PyTorch takes and fxscope refuses, or the other way round, or whose results differ."""
    bad = collections.defaultdict(list)
    for (name, line), r in zip(made, results):
        case = json.loads(line)
        if not r['ok'] and 'lacking' not in case['want']:
            bad[name].append((case['turned'], r['why']))
    for name, found in bad.items():
        print(f'{name}: {len(found)} calls differ, as of {found[0][0]}: {found[0][1][:150]}')
    return sum(map(len, bad.values()))


def table_errors(rows, taken, values):
    for row in rows:
        key, says = (row.name, row.schema), {k for k in row.kinds.split() if k != '-'}
        if key not in taken or untold(row.name):
            continue
        does = taken[key]
        if says != does:
            yield f'{row.name}{row.schema[:60]}: the table says {" ".join(sorted(says)) or "-"}, calls {" ".join(sorted(does))}'
        if ('META' in row.modes) != ('taken' in values[key]):
            yield f'{row.name}{row.schema[:60]}: the table says {row.modes}, calls without values are {" ".join(sorted(values[key]))}'


def record(path, rows):
    with open(path, 'w') as f:
        f.writelines(f'{name}: {row.kinds}; {row.modes}\n' for name, row in table.numbered(rows))


def report(rows, made, results, run):
    """(does the table say what calls do, does PyTorch do the same)"""
    different = differences(made, results)
    taken, values = facts(made, results, run)
    wrong = list(table_errors(rows, taken, values))
    print('\n'.join(wrong))
    print(f'{len(made)} calls, {different} differ; {len(taken)} rows called with each type, the table says something else of '
          f'{len(wrong)}')
    for why, names in UNTOLD.items():
        print(f'not compared with the table, since {why}: {names}')
    return not wrong, not different
