"""arguments.py: which arguments the made calls reach: of each row's optional parameters, whether PyTorch ever took a value
other than the default, and which rows PyTorch never refused. Called by parity.py --arguments with what it made."""
import collections
import json

from undefined import FIXED
from widen import LEFT_OUT


def given(row, case):
    """Names of parameters that a call gives another value than their default."""
    out = set(case.get('kwargs', {}))
    if '...' not in ''.join(row.types):
        out |= {p for p, a, d in zip(row.params, case['args'], row.defaults) if d is None or json.dumps(a).strip('"') != d.strip("'")}
    return out


def report(rows, made):
    reached, refused, called = collections.defaultdict(set), set(), set()
    by_spelling = collections.defaultdict(list)
    for row in rows:
        for s in row.spellings:
            by_spelling[s.rstrip('!')].append(row)
    for spelling, line in made:
        case = json.loads(line)
        for row in by_spelling.get(spelling) or by_spelling.get(spelling.rstrip('_'), []):
            called.add(row.name)
            if 'refused' in case['want']:
                refused.add(row.name)
            else:
                reached[row.name] |= given(row, case)
    optional = {(r.name, p) for r in rows for p, d in zip(r.params, r.defaults) if r.name in called and d is not None and p != '*'}
    left = {(n, p) for n, p in optional if p in LEFT_OUT or p.startswith('_') or (n, p) in FIXED}
    wanted = optional - left
    missing = sorted((n, p) for n, p in wanted if p not in reached[n])
    print(f'{len(called)} operators called; {len(wanted)} optional arguments, {len(wanted) - len(missing)} given and taken '
          f'({100 * (1 - len(missing) / max(len(wanted), 1)):.1f} %); {len(left)} left out (device, layout, out and their like)')
    print('never given and taken: ' + ' '.join(f'{n}.{p}' for n, p in missing))
    print(f'{len(refused)} operators with a refused call; none of: ' + ' '.join(sorted(called - refused)))
    return 0
