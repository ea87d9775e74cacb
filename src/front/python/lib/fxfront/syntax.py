"""Syntax trees without the module ast, which takes longer to read than most files do."""
_ONLY_AST = 0x400  # of compile(): PyCF_ONLY_AST


def parse(source, path):
    return compile(source, path, 'exec', _ONLY_AST)


def walk(node):
    """The node and all below it, in no particular order."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        for name in node._fields:
            value = getattr(node, name, None)
            for each in value if isinstance(value, list) else (value,):
                if hasattr(each, '_fields'):
                    waiting.append(each)
