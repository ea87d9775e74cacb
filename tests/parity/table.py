"""table.py: the rows of operators and layers as `fxscope ops` prints them, and which of them no template calls. Knows no
PyTorch.   table.py FXSCOPE TYPES   says in TAP whether each row has a template, each template a row, and each row's types and
modes are those of the file TYPES, which parity.py --dtypes --record writes when they agree with calls."""
import collections
import re
import subprocess
import sys

Row = collections.namedtuple('Row', 'name params types defaults spellings kinds modes schema')


def read_row(line):
    parts = re.split(r'\s{2,}', line.strip())
    schema = parts[4]
    params = [p.partition('=')[::2] for p in re.split(r', (?![^[]*\])', schema[1:].split(') ->')[0])]
    words = [p.split() or ['', ''] for p, _ in params]
    return Row(parts[1], [p[-1] for p in words], [p[0] for p in words], [d or None for _, d in params],
               parts[5].split() if len(parts) > 5 else [], parts[2], parts[3], schema)


def read_table(fxscope):
    """(rows of operators, names of layers). Rows without a spelling are what layers call."""
    text = subprocess.run([fxscope, 'ops'], capture_output=True, text=True, check=True).stdout
    ops, layers = text.split('\n\n')[:2]
    starts = re.match(r'(-+\s+)(-+\s+)', layers.split('\n')[1])
    at, to = len(starts.group(1)), len(starts.group(1)) + len(starts.group(2))
    return ([read_row(line) for line in ops.split('\n')[2:] if line.strip()],
            [line[at:to].strip() for line in layers.split('\n')[2:] if line.strip()])


def gaps(rows, layers, templates, layer_templates):
    """(rows without a template, templates without a row). What has no spelling is compared through its layers."""
    names = {r.name for r in rows}
    without = [r.name for r in rows if r.spellings and r.name not in templates]
    without += ['nn.' + name for name in layers if name not in layer_templates]
    unused = [n for n in templates if n not in names] + ['nn.' + n for n in layer_templates if n not in layers]
    return without, unused


def numbered(rows):
    """Row -> its name, with a number where several have it."""
    seen = collections.Counter()
    for row in rows:
        seen[row.name] += 1
        yield f'{row.name}#{seen[row.name]}' if seen[row.name] > 1 else row.name, row


def recorded_types(path):
    return dict(line.rstrip('\n').split(': ', 1) for line in open(path))


def changed_types(rows, path):
    """Rows of which the table says something else than was compared with PyTorch."""
    was = recorded_types(path)
    return [name for name, row in numbered(rows) if was.get(name) != f'{row.kinds}; {row.modes}'] + sorted(
        set(was) - {name for name, _ in numbered(rows)})


def main():
    import cases
    rows, layers = read_table(sys.argv[1])
    bad = 0
    found_and_what = zip([*gaps(rows, layers, cases.TABLE, cases.LAYERS), changed_types(rows, sys.argv[2])],
                         ('each row has a template', 'each template has a row', 'each row takes the types that PyTorch was asked about'))
    for number, (found, what) in enumerate(found_and_what, 1):
        print(f'{"not " if found else ""}ok {number} - {what}{": not " + " ".join(found) if found else ""}')
        bad += bool(found)
    print(f'1..{number}')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
