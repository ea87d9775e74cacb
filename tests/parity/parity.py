#!/usr/bin/python3
"""parity.py: random calls of every operator and layer, made by PyTorch 1.13 and by fxscope, and compared.
   parity.py FXSCOPE OPCASE [--seed N] [--cases N] [--ops FILTER] [--record FILE] [--show N] [--only CASES.jsonl]
              [--failures FILE] [--types TYPE,...] [--rows | --dtypes] | --arguments | --coverage [RANKED.json] | --networks [FILTER]
--rows fails where a row of `fxscope ops` is reached by no call that PyTorch takes, --dtypes where the types or modes that it
prints are others than calls have (with --record FILE: types.txt); --types makes the floating point tensors complex, say. --cases is how many in all, spread over the spellings; --record keeps those that agree, as a set that tests
replay; --arguments says which optional arguments the calls reach."""
import argparse
import collections
import json
import os
import random
import re
import subprocess
import sys
import warnings
import zlib

import torch

import aim
import answers
import arguments
import cases
import coverage
import dtypes
import source
import standins
import table
import undefined
import widen
from compact import compact
from source import Source

warnings.filterwarnings('ignore')
torch.set_num_threads(1)
RANKED = os.path.join(os.path.dirname(__file__), 'ranked.json')
STRANGE = set()  # spellings that PyTorch 1.13 does not have
LACKING = collections.Counter()  # calls of which PyTorch says nothing to compare with, by spelling
LEFT_OUT = collections.Counter()  # calls that PyTorch leaves undefined, by the reason


def in_place_forms(row):
    """x.relu_ and torch.relu_ for x.relu and torch.relu, where PyTorch has them."""
    for s in row.spellings:
        if not s.endswith('_') and s.startswith('Tensor.') and hasattr(torch.Tensor, s[7:] + '_'):
            yield s + '_'
        elif not s.endswith('_') and re.fullmatch(r'torch\.\w+', s) and hasattr(torch, s[6:] + '_'):
            yield s + '_'


def units(rows, layers, wanted):
    """What is to be tested: (kind, row or layer, spelling)."""
    out = []
    for row in rows:
        for s in dict.fromkeys([s.rstrip('!') for s in row.spellings] + list(in_place_forms(row))):
            if answers.resolve(s) and s not in ('Tensor.__deepcopy__', 'Tensor.cuda'):
                out.append(('op', row, s))
            else:
                STRANGE.add(s)
    out += [('layer', name, 'nn.' + name) for name in layers]
    return [u for u in out if not wanted or re.search(wanted, u[2])]


def by_keyword(g, args, row):
    """Moves trailing arguments behind their names."""
    kwargs = {}
    while len(args) > 1 and len(args) <= len(row.params) and g.chance(0.5):
        name = row.params[len(args) - 1]
        if '...' in name or name == '*' or '*' in row.params[:len(args)]:
            break
        kwargs[name] = args.pop()
    return kwargs


def writes_self(spelling, args):
    last = spelling.split('.')[-1]
    return (last.endswith('_') and not last.endswith('__')) or last == 'setitem' or (
        spelling.startswith('operator.i') and last not in ('is_', 'is_not', 'index', 'inv', 'invert')) or (
            last.startswith('__i') and last != '__invert__')


# How near elements come whose way leads through a type of few digits.
FEW_DIGITS = {'float16': 2e-3, 'bfloat16': 1.6e-2}


def coarse(case):
    """Results of a wider type than the least precise argument are no better than that argument."""
    types = {t['dtype'] for t in widen.tensors([case['args'], list(case['kwargs'].values())])}
    if len(types) > 1 and types & FEW_DIGITS.keys():
        case['tolerance'] = max(case.get('tolerance', 0), *(FEW_DIGITS.get(t, 0) for t in types))


PRODUCTS = re.compile(r'mm_?$|mv_?$|matmul|matrix_power|multi_dot|chain_matmul|dot$|inner$|linear$|einsum|addr_?$|conv_tbc')


def few_digit_products(case):
    """What sums of products may lose in bfloat16: PyTorch rounds each term where the processor has no instruction for them
    (without AVX512), and the sum alone where it has, so that its own answers differ by this."""
    found = [t for t in widen.tensors([case['args'], list(case['kwargs'].values())]) if t['dtype'] == 'bfloat16']
    if not found or not PRODUCTS.search(case['op']):
        return
    ints = [a for a in case['args'] + list(case['kwargs'].values()) if type(a) is int]
    power = min(max([abs(a) for a in ints] + [2]), 100) if 'power' in case['op'] else 2
    size = max([n for t in found for n in t['sizes']] + [1])
    most = max([abs(x) for t in found for x in t['data'] if not isinstance(x, str)] + [1])
    factor = max([abs(a) for a in case['args'] + list(case['kwargs'].values()) if isinstance(a, (int, float))] + [1])
    case['tolerance'] = max(case.get('tolerance', 0), 2 ** -8 * power * size ** (power - 1) * most ** power * (1 if 'power' in case['op'] else factor))


def few_digit_norms(case):
    """PyTorch adds up the squares of float16 in float16: n roundings of half a unit each, of which the root halves the sum."""
    found = [t for t in widen.tensors([case['args'], list(case['kwargs'].values())]) if t['dtype'] == 'float16']
    if found and re.search(r'norm_?$|normalize|dist(ance)?$|cosine', case['op']):
        most = max(source.prod(t['sizes']) for t in found)
        case['tolerance'] = max(case.get('tolerance', 0), FEW_DIGITS['float16'], most * 2 ** -12)


def make_op(g, row, spelling, plain=False):
    templates = cases.TABLE[row.name]
    args, kwargs = g.pick(*templates)(g)
    args, kwargs = list(args), dict(kwargs)
    python = spelling.startswith(('operator', 'math', 'builtins'))
    if not spelling.startswith(('math', 'builtins')) and not aim.fits(row, args, kwargs):
        aim.aim(g, args, kwargs, row)
    if plain:
        return {'op': spelling, 'args': args, 'kwargs': kwargs}
    if g.chance(0.6) and not python:
        widen.widen(g, args, kwargs, row)
    if g.chance(0.12) and row.name not in cases.RANDOM and 'mod' not in spelling and not spelling.startswith('math'):
        widen.spoil(g, args, {} if python else kwargs, row)
    elif g.chance(0.2) and not python and row.name not in cases.POSITIONAL:
        kwargs = {**by_keyword(g, args, row), **kwargs}
    if spelling.startswith(('operator.', 'math.')) or '__' in spelling:
        kwargs = {} if row.name != 'python_prod' else kwargs
    case = {'op': spelling, 'args': args, 'kwargs': kwargs}
    if row.name in cases.RANDOM:
        case['random'] = True
    if row.name in cases.LOOSE:
        case['tolerance'] = cases.LOOSE[row.name]
    widen.complete(args, kwargs)
    coarse(case)
    few_digit_products(case)
    few_digit_norms(case)
    if spelling in standins.FUNCTIONS:
        case['odd'] = True  # the strides of dimensions without a second place are the stand-in's alone
    writes = writes_self(spelling, args)
    if writes:
        case['writes'] = True
    for a in args[:1]:  # PyTorch refuses to write a leaf, which is what autograd calls a tensor made by hand: no graph has any
        if isinstance(a, dict) and 't' in a and (writes or kwargs.get('inplace') is True or True in args[1:] or
                                                 'setitem' in spelling):
            a['t'].pop('grad', None)
    return case


def make_layer(g, name):
    hyper, args, *more = g.pick(*cases.LAYERS[name])(g)
    case = {'layer': name, 'hyper': hyper, 'args': args, 'tolerance': 1e-4, **(more[0] if more else {})}
    torch.manual_seed(g.int(0, 9999))
    case['state'] = answers.layer_state(case)
    return case


def make_typed(g, row, spelling, kind, way):
    """A template's call with its tensors turned into one type; None where it has no such tensors."""
    case = make_op(g, row, spelling, True)
    case.update(short=g.chance(0.6), of=[row.name, row.schema])
    if case['short']:
        dtypes.without_options(row, case['args'], case['kwargs'])
    if not dtypes.turn(g, case, kind, way):
        return None
    widen.complete(case['args'], case['kwargs'])
    case.update({'random': True} if row.name in cases.RANDOM else {}, tolerance=0.1)
    return case


def make_case(seed, number, unit):
    kind, what, spelling, *typed = unit
    g = Source(zlib.crc32(f'{seed} {number} {spelling}'.encode()), spelling)
    case = make_layer(g, what) if kind == 'layer' else make_typed(g, what, spelling, *typed) if typed else make_op(g, what, spelling)
    if case is None:
        return None
    case['undefined'] = undefined.reason(case)
    case['want'] = None if case['undefined'] else answers.answer(case)
    if case['want']:
        case['undefined'] = undefined.of_answer(case, case['want'])
    return case


def typed_units(todo):
    """One spelling of each row, with each kind of types, in each way of turning some of its tensors."""
    rows = {}
    for kind, row, spelling in todo:
        if kind == 'op' and not writes_self(spelling, []):
            rows.setdefault((row.name, row.schema), (row, spelling))
    return [('op', row, spelling, kind, way) for row, spelling in rows.values() for way in range(dtypes.WAYS) for kind in dtypes.KINDS]


def has_template(unit):
    return unit[1].name in cases.TABLE if unit[0] == 'op' else unit[1] in cases.LAYERS


def run_fxscope(opcase, lines):
    """An answer for each line; a program that dies is started again behind the line that killed it."""
    out = []
    while len(out) < len(lines):
        p = subprocess.run([opcase], input='\n'.join(lines[len(out):]) + '\n', capture_output=True, text=True)
        have = [json.loads(x) for x in p.stdout.split('\n') if x]
        out += have
        if len(out) < len(lines):
            out.append({'ok': False, 'why': f'DIED ({p.returncode}) {p.stderr.strip()[-200:]}'})
    return out


def worker(args, todo, start, out):
    """Writes one line a case from number `start` on: PyTorch's own crashes take this process only."""
    for k in range(start, args.cases):
        unit, line = todo[k % len(todo)], ''
        out.write(f'{k}\n')
        out.flush()
        try:
            case = make_case(args.seed, k // len(todo), unit)
            if case and case['want'] is None and args.dtypes:
                case['want'] = {'lacking': True}  # what fxscope takes is told apart from what PyTorch's CPU lacks
            if case is None:
                out.write('\n')
                continue
            why = case.pop('undefined')
            line = f'#{why}' if why else '?' if case['want'] is None else json.dumps(case, separators=(',', ':'))
        except Exception as e:  # a template's own mistake
            print(f'{unit[2]}: the template fails: {type(e).__name__}: {e}', file=sys.stderr)
        out.write(f'{line}\n')


def generate(args, todo):
    made, at = [], 0
    while todo and at < args.cases:
        read, write = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(read)
            with os.fdopen(write, 'w') as out:
                worker(args, todo, at, out)
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as lines:
            for number in lines:
                at = int(number) + 1
                line = next(lines, '').strip()
                if line.startswith('#'):
                    LEFT_OUT[line[1:]] += 1
                elif line == '?':
                    LACKING[todo[(at - 1) % len(todo)][2]] += 1
                elif line:
                    made.append((todo[(at - 1) % len(todo)][2], line))
        _, status = os.waitpid(pid, 0)
        if status:
            print(f'PyTorch died in a case of {todo[(at - 1) % len(todo)][2]}', file=sys.stderr)
    return made


def brief(line):
    """A case without its elements and its answer, for people."""
    case = json.loads(line)
    case.pop('want')
    for s in case.get('state', {}).values():
        s['t'].pop('data')
    text = json.dumps(case, separators=(',', ':'))
    return re.sub(r'"data":\[[^]]*\]', '"data":[]', text)[:600]


def report(made, results, show, failures):
    count, bad = collections.Counter(), collections.defaultdict(list)
    for (name, line), r in zip(made, results):
        count[name] += 1
        if not r['ok']:
            bad[name].append((r['why'], line))
    for name in sorted(bad, key=lambda n: -len(bad[n])):
        print(f'{name}: {len(bad[name])} of {count[name]} differ')
        for why, line in bad[name][:show]:
            print(f'    {why[:200]}\n      {brief(line)}')
    for why, n in LEFT_OUT.most_common():
        print(f'left out as undefined in PyTorch, {n}: {why}')
    for why, names in sorted(undefined.fixed_by_reason().items()):
        print(f'never changed by the widening, since {why}: {names}')
    print(f'not compared, {sum(LACKING.values())}: PyTorch lacks them on a CPU (half, named dimensions), or fails in its own asserts')
    if failures:
        with open(failures, 'w') as f:
            f.writelines(line + '\n' for b in bad.values() for _, line in b)
    refused = sum(is_refused(line) for _, line in made)
    print(f'{len(made)} cases of {len(count)} spellings, {refused} refused by PyTorch: '
          f'{sum(map(len, bad.values()))} differences in {len(bad)} spellings')
    return bad


def telling(line):
    """Does a case compare numbers? Not one that is refused, or has no elements."""
    want = json.loads(line)['want']
    return 'refused' not in want and not ('"data"' in line and len(re.findall(r'"data":\[[^]]', line)) < 2)


def is_refused(line):
    return '"want":{"refused"' in line


def report_rows(rows, todo, made, results):
    """Which rows no call reached that PyTorch takes, and which spellings. False when there is a row."""
    taken = [(name, r) for (name, line), r in zip(made, results) if not is_refused(line)]
    reached = {(r['row'], r['schema']) for _, r in taken if r['ok']}
    rows = list(dict.fromkeys((u[1].name, u[1].schema) for u in todo if u[0] == 'op')) + [
        (r.name, r.schema) for r in rows if not r.spellings and any(u[0] == 'layer' for u in todo)]
    missed = [name + schema for name, schema in rows if (name, schema) not in reached]
    quiet = sorted({u[2] for u in todo} - {name for name, _ in taken})
    print(f'{len(rows) - len(missed)} of {len(rows)} rows compared by a call that PyTorch takes; not: {"; ".join(missed) or "none"}')
    print(f'{len(quiet)} spellings without such a call: {" ".join(quiet) or "none"}')
    return not missed


def record(path, made, results, budget=400000):
    """Keeps short cases that agree, spellings together: of each spelling one that compares numbers, then one that is
    refused, unless another spelling of the operator has one, and any where there is neither."""
    groups, size, refusing = collections.defaultdict(list), 0, set()
    short = sorted(((n, compact(x)) for (n, x), r in zip(made, results) if r['ok'] and len(x) < 2500),
                   key=lambda x: len(x[1]))
    for count, fits in enumerate((telling, is_refused, lambda x: True)):
        for name, line in short:
            operator = name.split('.')[-1].strip('_')
            if count == 1 and operator in refusing:
                continue
            if len(groups[name]) <= (count == 1) and line not in groups[name] and size + len(line) < budget and fits(line):
                groups[name].append(line)
                refusing |= {operator} if is_refused(line) else set()
                size += len(line) + 1
    with open(path, 'w') as f:
        for name in sorted(n for n in groups if groups[n]):
            f.write('\n'.join(groups[name]) + '\n')
    print(f'{path}: {sum(map(len, groups.values()))} cases of {sum(map(bool, groups.values()))} spellings, {size} bytes')


def main():
    p = argparse.ArgumentParser()
    p.add_argument('fxscope')
    p.add_argument('opcase')
    p.add_argument('--seed', type=int, default=1)
    p.add_argument('--cases', type=int, default=5000)
    p.add_argument('--ops')
    p.add_argument('--record')
    p.add_argument('--show', type=int, default=1)
    p.add_argument('--only')
    p.add_argument('--coverage', nargs='?', const=RANKED, metavar='RANKED.json')
    p.add_argument('--failures')
    p.add_argument('--dtypes', action='store_true')
    p.add_argument('--rows', action='store_true')
    p.add_argument('--arguments', action='store_true')
    p.add_argument('--networks', nargs='?', const='', metavar='FILTER')
    p.add_argument('--types', type=lambda x: x.split(','), default=[])
    args = p.parse_args()
    source.FORCED += args.types
    if args.coverage:
        return coverage.report(args.fxscope, args.coverage)
    if args.networks is not None:
        import networks  # needs torchvision
        return networks.report(os.path.join(os.path.dirname(args.opcase), 'network'), args.seed, args.networks)
    rows, layers = table.read_table(args.fxscope)
    if args.only:
        made = [(json.loads(x).get('op', '?'), x.strip()) for x in open(args.only)]
    else:
        all_units = units(rows, layers, args.ops)
        missing = sorted({u[2] for u in all_units if not has_template(u)})
        todo = [u for u in all_units if has_template(u)]
        random.Random(args.seed).shuffle(todo)
        if args.dtypes:
            todo = typed_units(todo)
            args.cases = max(args.cases, 4 * len(todo))
        made = generate(args, todo)
        if missing:
            print(f'no template for {len(missing)}: {" ".join(missing)}')
        print(f'{len(STRANGE)} spellings are not in PyTorch {torch.__version__}: {" ".join(sorted(STRANGE))}')
    if args.arguments:
        return arguments.report(rows, made)
    results = run_fxscope(args.opcase, [line for _, line in made])
    if args.dtypes:
        true, same = dtypes.report(rows, made, results, lambda lines: run_fxscope(args.opcase, lines))
        if args.record and true:
            dtypes.record(args.record, rows)
        return 0 if true and same else 1
    bad = report(made, results, args.show, args.failures)
    if args.record:
        record(args.record, made, results)
    reached = not args.rows or report_rows(rows, todo, made, results)
    return 1 if bad or not reached else 0


if __name__ == '__main__':
    sys.exit(main())
