"""The table of Graph.print_tabular: columns as wide as their widest cell, numbers to the right."""


def _is_number(text):
    try:
        float(text)
        return True
    except ValueError:
        return False


def _point(text):
    """Digits behind the decimal point, with it; what decimal columns are aligned by."""
    at = text.find('.')
    return len(text) - at if at >= 0 else 0


def _align_column(cells, header):
    lines = [c.split('\n') for c in cells]
    numbers = bool(cells) and all(_is_number(c) for c in cells)
    if numbers and any('.' in c or 'e' in c.lower() for c in cells):
        deepest = max(map(_point, cells))
        cells = [c + ' ' * (deepest - _point(c)) for c in cells]
        lines = [[c] for c in cells]
    width = max([len(header) + 2] + [len(line) for cell in lines for line in cell])
    place = str.rjust if numbers else str.ljust
    return width, place(header, width), [[place(line, width) for line in c] for c in lines]


def tabulate(rows, headers):
    rows = [[str(cell) for cell in row] for row in rows]
    columns = [_align_column([row[i] for row in rows], h) for i, h in enumerate(headers)]
    out = ['  '.join(head for _, head, _ in columns).rstrip(),
           '  '.join('-' * width for width, _, _ in columns)]
    for r in range(len(rows)):
        cells = [column[2][r] for column in columns]
        for line in range(max(map(len, cells))):
            out.append('  '.join(c[line] if line < len(c) else ' ' * columns[i][0]
                                 for i, c in enumerate(cells)).rstrip())
    return '\n'.join(out)
