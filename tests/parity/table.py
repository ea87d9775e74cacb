"""table.py: the rows of operators and layers as `fxscope ops` prints them, and which of them no template calls. Knows no
PyTorch.   table.py FXSCOPE   says in TAP whether each row has a template, and each template a row."""
import collections
import re
import subprocess
import sys

Row = collections.namedtuple('Row', 'name params types defaults spellings kinds schema')


def read_row(line):
    parts = re.split(r'\s{2,}', line.strip())
    schema = parts[4]
    params = [p.partition('=')[::2] for p in re.split(r', (?![^[]*\])', schema[1:].split(') ->')[0])]
    words = [p.split() or ['', ''] for p, _ in params]
    return Row(parts[1], [p[-1] for p in words], [p[0] for p in words], [d or None for _, d in params],
               parts[5].split() if len(parts) > 5 else [], parts[2], schema)


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


def main():
    import cases
    rows, layers = read_table(sys.argv[1])
    bad = 0
    for number, (found, what) in enumerate(zip(gaps(rows, layers, cases.TABLE, cases.LAYERS),
                                               ('each row has a template', 'each template has a row')), 1):
        print(f'{"not " if found else ""}ok {number} - {what}{": not " + " ".join(found) if found else ""}')
        bad += bool(found)
    print(f'1..{number}')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
