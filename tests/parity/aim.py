"""aim.py: rows that share a name share templates, whose calls mostly fit one of them. A call that does not fit the row it is
made for is turned until it does: a number for a tensor, arguments by their names, what is missing. Called by parity.py."""
from widen import LEFT_OUT, tensors, value_for

NUMBERS = {'Scalar', 'number', 'float', 'int'}


def positional(row):
    return row.params.index('*') if '*' in row.params else len(row.params)


def is_tensor(a):
    return isinstance(a, dict) and 't' in a


def is_number(a):
    return isinstance(a, (bool, int, float)) or isinstance(a, dict) and 'complex' in a


def misplaced(type_, a):
    """A tensor where the row has a number, or the other way round."""
    names = {t.rstrip('?') for t in type_.split('|')}
    return is_tensor(a) and names <= NUMBERS or is_number(a) and names == {'Tensor'}


def missing(row, args, kwargs):
    return [i for i, (p, d) in enumerate(zip(row.params, row.defaults))
            if p not in ('*', '') and d is None and i >= len(args) and p not in kwargs]


def fits(row, args, kwargs):
    if '...' in ''.join(row.types):
        return True
    if len(args) > positional(row) or row.params == [''] and args or missing(row, args, kwargs):
        return False
    return not any(misplaced(t, a) for t, a in zip(row.types, args))


def aim(g, args, kwargs, row):
    """Changes args and kwargs in their places."""
    for i in range(min(len(args), positional(row))):
        if misplaced(row.types[i], args[i]):
            args[i] = g.tensor([], 'float32') if is_number(args[i]) else g.int(0, 2) if row.types[i] == 'int' else g.number()
    for i, a in enumerate(args[positional(row):]):
        if positional(row) + 1 + i < len(row.params) and row.params[positional(row) + 1 + i] not in LEFT_OUT:
            kwargs[row.params[positional(row) + 1 + i]] = a
    del args[0 if row.params == [''] else positional(row):]
    for i in missing(row, args, kwargs):
        value = value_for(g, row.params[i], row.types[i], tensors(args))
        if value is not NotImplemented and i == len(args) and i < positional(row):
            args.append(value)
        elif value is not NotImplemented:
            kwargs[row.params[i]] = value
