"""compact.py: a case in fewer letters, for the sets that tests replay: what opcase takes for granted is left out (values.c),
refusals are cut short, and elements have as many digits as are compared."""
import json

from source import contiguous

DIGITS = {'float16': 5, 'bfloat16': 4, 'float32': 8, 'complex64': 8}


def shorter(t, answer):
    out = {k: v for k, v in t.items() if (k, v) not in (('dtype', 'float32'), ('offset', 0), ('format', 'contiguous_format'))}
    if out.get('strides') == contiguous(t['sizes']):
        del out['strides']
    if not answer:
        return out
    digits = DIGITS.get(t.get('dtype', 'float32'), 12)
    out['data'] = [float(f'{x:.{digits}g}') if isinstance(x, float) else x for x in t['data']]
    out['data'] = [int(x) if isinstance(x, float) and abs(x) < 1e15 and x == int(x) and str(x) != '-0.0' else x for x in out['data']]
    if out.get('alias') is False:
        del out['alias']
    return out


def walk(j, answer):
    if isinstance(j, list):
        return [walk(x, answer) for x in j]
    if not isinstance(j, dict):
        return j
    return {k: shorter(v, answer) if k == 't' and isinstance(v, dict) and 'sizes' in v else walk(v, answer) for k, v in j.items()}


def compact(line):
    """A line of JSON, as parity.py makes it, as a shorter one."""
    case = json.loads(line)
    want = case.pop('want')
    case = {k: walk(v, False) for k, v in case.items() if v not in ({}, [])}
    if 'refused' in want:
        want['refused'] = want['refused'][:60]
    case['want'] = walk(want, True)
    return json.dumps(case, separators=(',', ':'))


if __name__ == '__main__':  # python3 compact.py <FAILURES >>mended.jsonl
    import sys
    sys.stdout.writelines(compact(line) + '\n' for line in sys.stdin)
