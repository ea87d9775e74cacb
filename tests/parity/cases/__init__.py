"""Templates of calls: for each operator row's name, functions that draw (args, kwargs) from a source.Source."""
TABLE = {}   # row name -> templates; one of them is chosen for each case
LAYERS = {}  # layer class -> templates that give (constructor's arguments, forward's arguments)
RANDOM = set()  # rows whose values are not compared
POSITIONAL = {'broadcast_shapes'}  # rows whose arguments have no names in PyTorch
LOOSE = {}   # row name -> tolerance


def case(*names, random=False, loose=0):
    def add(function):
        for name in names:
            TABLE.setdefault(name, []).append(function)
            if random:
                RANDOM.add(name)
            if loose:
                LOOSE[name] = loose
        return function
    return add


def layer(*names):
    def add(function):
        for name in names:
            LAYERS.setdefault(name, []).append(function)
        return function
    return add


from . import copies, data, facts, filled, index, linalg, losses, more, native, networks, newer, numbers, pointwise, python, reduce, steps, views, vision  # noqa: E402,F401
