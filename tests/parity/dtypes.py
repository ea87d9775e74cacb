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

WAYS = 4
KINDS = {'float': ['float32', 'float64'], 'half': ['float16', 'bfloat16'], 'bool': ['bool'], 'complex': COMPLEX,
         'int': [t for t in ALL if t not in FLOATS + ['bool']]}
SHARE = 0.25  # of a row's calls of a kind that it takes; fewer are the odd ones that any type passes
# Rows whose types the table and the templates' calls do not agree on yet, by the reason.
UNTOLD = {
    'the sizes of its weights depend on each other, and drawn arguments do not fit': 'transformer_encoder transformer_decoder '
    'transformer lstm gru rnn_tanh rnn_relu rnn_layer lstm_layer gru_layer gru_cell lstm_cell shifted_window_attention '
    'adaptive_log_softmax multi_head_attention multi_head_attention_forward deform_conv2d_split deform_conv2d',
    'its matrix and pivots are another function\'s': 'lu_solve linalg_lu_solve linalg_ldl_solve',
    'some arguments pass any type (one element to sort, nothing to draw or to sum, a number), or the templates seldom draw a type':
    'adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d affine_grid affine_grid_generator argsort asarray '
    'avg_pool1d avg_pool2d batched_nms bincount bucketize chain_matmul clamp_max conv_tbc conv_transpose1d '
    'conv_transpose3d cosine_embedding_loss cross_entropy ctc_loss dot equal float_item fmod getattr hasattr index '
    'index_put index_reduce int_item is_tensor istft linalg_matrix_rank max_unpool2d mode native_dropout nextafter '
    'pdist permute_copy pow ps_roi_align ps_roi_pool randint_like remainder repeat_interleave rfloor_divide '
    'roi_pool_boxes rremainder scatter scatter_reduce shift_left shift_right sort stochastic_depth tensordot topk '
    'torch_cosine_embedding_loss torch_ctc_loss torch_feature_alpha_dropout '
}


def untold(name):
    return next((why for why, names in UNTOLD.items() if name in names.split()), None)


def names_type(x):
    return isinstance(x, dict) and 'dtype' in x


def chosen(found, which):
    """All tensors, the first, the second, those of the first one's type."""
    return [found, found[:1], found[1:2], [t for t in found if t['dtype'] == found[0]['dtype']]][which] if found else []


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
