"""Replays recorded calls, and prints TAP.

usage: fxscope run replay.py FILE...       compares with what is recorded
       python3 replay.py --record FILE...  records anew, with PyTorch 1.13

A file holds lines of code behind '>>> ', each with what it printed below it: the repr of an
expression's value, or '! EXCEPTION: first line of its text'. A line '# NAME' begins a section with
fresh names. What differs from PyTorch on purpose is not in these files.
"""
import sys


def sections(path):
    """[name, [[code, [expected line, ...]], ...]]"""
    found = []
    for line in open(path, encoding='utf-8').read().split('\n'):
        if line.startswith('# '):
            found.append([line[2:], []])
        elif line.startswith('>>> '):
            found[-1][1].append([line[4:], []])
        elif found and found[-1][1]:
            found[-1][1][-1][1].append(line)
    for _, blocks in found:
        for block in blocks:
            while block[1] and not block[1][-1]:
                block[1].pop()
    return found


def run(code, names):
    """What a line of code prints."""
    try:
        try:
            compiled = compile(code, '<case>', 'eval')
        except SyntaxError:
            exec(compile(code, '<case>', 'exec'), names)
            return []
        value = eval(compiled, names)
    except Exception as error:
        return [f'! {type(error).__name__}: {error}'.split('\n')[0].rstrip()]
    if value is None:
        return []
    text = value if isinstance(value, str) else repr(value)
    while text.endswith('\n'):
        text = text[:-1]
    return [line.rstrip() for line in text.split('\n')]


def start(name):
    names = {'__name__': '__main__'}
    exec('import torch, torch.fx, copy, operator, math\nimport torch.nn.functional as F', names)
    return names


def record(path):
    out = []
    for name, blocks in sections(path):
        names = start(name)
        out.append(f'# {name}')
        for code, _ in blocks:
            out.append(f'>>> {code}')
            out.extend(run(code, names))
        out.append('')
    open(path, 'w', encoding='utf-8').write('\n'.join(out))


def replay(paths):
    count = failures = 0
    for path in paths:
        for name, blocks in sections(path):
            names, wrong = start(name), []
            for code, expected in blocks:
                have = run(code, names)
                if have != expected:
                    wrong += [f'>>> {code}', '--- expected', *expected, '+++ have', *have]
            count += 1
            failures += bool(wrong)
            print(f"{'not ok' if wrong else 'ok'} {count} - {name} ({len(blocks)} lines)")
            for line in wrong[:60]:
                print(f'# {line}')
    print(f'1..{count}')
    return failures


if __name__ == '__main__':
    if sys.argv[1] == '--record':
        for file in sys.argv[2:]:
            record(file)
    else:
        sys.exit(1 if replay(sys.argv[1:]) else 0)
