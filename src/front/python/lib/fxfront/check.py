"""Which names of torch a file uses, and which of them are not supported here: by reading the file,
without running it."""
import ast

from . import known
from .missing import Missing

_ROOTS = ('torch', 'torchvision')


def _imports(tree):
    """Local name -> dotted name, for everything that is imported from torch."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition('.')[0] in _ROOTS:
                    if alias.asname:
                        names[alias.asname] = alias.name
                    else:
                        names[alias.name.partition('.')[0]] = alias.name.partition('.')[0]
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module and \
                node.module.partition('.')[0] in _ROOTS:
            for alias in node.names:
                names[alias.asname or alias.name] = f'{node.module}.{alias.name}'
    return names


class _Uses(ast.NodeVisitor):
    def __init__(self, names):
        self.names = names
        self.found = {}    # dotted name -> lines
        self.methods = {}  # attribute of something unknown -> lines

    def _dotted(self, node):
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name) and node.id in self.names:
            return '.'.join([self.names[node.id], *reversed(parts)])
        return None

    def visit_Attribute(self, node):
        name = self._dotted(node)
        if name:
            self.found.setdefault(name, []).append(node.lineno)
        else:
            self.methods.setdefault(node.attr, []).append(node.lineno)
            self.visit(node.value)

    def visit_Name(self, node):
        name = self.names.get(node.id)
        if name and name not in _ROOTS:
            self.found.setdefault(name, []).append(node.lineno)

    def visit_Import(self, node):
        pass

    def visit_ImportFrom(self, node):
        for alias in node.names:
            name = self.names.get(alias.asname or alias.name)
            if name and not node.level:
                self.found.setdefault(name, []).append(node.lineno)


def _resolve(name):
    """'yes', 'no' (a name of torch that is not supported), or 'unknown' (no name of torch)."""
    import torch
    parts = name.split('.')
    if parts[0] != 'torch':
        return 'yes'
    thing = torch
    for i, part in enumerate(parts[1:], 1):
        if isinstance(thing, Missing):
            return 'no'
        try:
            thing = getattr(thing, part)
        except AttributeError:
            inner = '.'.join(parts[:i + 1])
            try:
                __import__(inner)
                thing = getattr(thing, part)
            except (ImportError, AttributeError):
                return 'unknown'
            if type(thing.__spec__.loader).__module__ == 'torch._inert':  # a placeholder
                return 'no' if known.is_known('.'.join(parts[:i]), part) else 'unknown'
    return 'no' if isinstance(thing, Missing) else 'yes'


def _has_method(tensor, name):
    return getattr(getattr(tensor, name, None), '__module__', '') != 'torch._inert'


def check_file(path):
    """Rows (name, lines, state) in the order of first use, and the tensor methods that are used
    and not here. state: yes, no, unknown."""
    from torch import Tensor
    with open(path, 'rb') as file:
        tree = ast.parse(file.read(), path)
    uses = _Uses(_imports(tree))
    uses.visit(tree)
    rows = [(name, sorted(set(lines)), _resolve(name)) for name, lines in uses.found.items()]
    own = {node.name for node in ast.walk(tree)
           if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    methods = known.names_of('torch.Tensor')
    for name, lines in uses.methods.items():
        if name in methods and name not in own and not _has_method(Tensor, name):
            rows.append((f'Tensor.{name}', sorted(set(lines)), 'no'))
    return sorted(rows, key=lambda row: row[1][0])


def report(path, everything=False):
    """Text for the command, and the number of names that are not supported."""
    rows = check_file(path)
    lines, bad = [], 0
    for name, where, state in rows:
        if state == 'yes' and not everything:
            continue
        bad += state != 'yes'
        text = {'yes': 'supported', 'no': 'not supported', 'unknown': 'not a name of PyTorch'}
        lines.append(f'{path}:{where[0]}: {name}: {text[state]}' +
                     (f' (also lines {", ".join(map(str, where[1:]))})' if where[1:] else ''))
    lines.append(f'{path}: {len(rows)} names of torch, {len(rows) - bad} supported, {bad} not')
    return '\n'.join(lines) + '\n', bad
