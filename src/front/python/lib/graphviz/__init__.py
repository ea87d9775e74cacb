"""A drop-in for the package graphviz, so that plotting scripts run where it is not installed: the
same DOT text, rendered in this process by fxscope's layout and writers."""
import os
import re
from contextlib import contextmanager

import _fxscope

__version__ = '0.20.1'

FORMATS = {'dot', 'gv', 'pdf', 'png', 'svg', 'canon', 'xdot'}
ENGINES = {'dot'}

_ID = re.compile(r'[A-Za-z_][A-Za-z0-9_]*|-?(\.[0-9]+|[0-9]+(\.[0-9]*)?)')
_HTML = re.compile(r'^\s*<.*>\s*$', re.DOTALL)
_UNESCAPED_QUOTE = re.compile(r'(?P<before>(?:^|[^\\])(?:\\{2})*)"')
_KEYWORDS = {'node', 'edge', 'graph', 'digraph', 'subgraph', 'strict'}


class ExecutableNotFound(RuntimeError):
    pass


class RequiredArgumentError(TypeError):
    pass


class CalledProcessError(RuntimeError):
    pass


class FileExistsError(FileExistsError):
    pass


class UnknownSuffixWarning(RuntimeWarning):
    pass


class DotSyntaxWarning(RuntimeWarning):
    pass


class FormatSuffixMismatchWarning(UserWarning):
    pass


class nohtml(str):
    """Text in angle brackets that is no HTML-like label."""


def escape(text):
    return nohtml(text.replace('\\', '\\\\').replace('"', '\\"'))


def quote(identifier):
    """An identifier as DOT wants it written."""
    if _HTML.match(identifier) and not isinstance(identifier, nohtml):
        return identifier
    if _ID.fullmatch(identifier) and identifier.lower() not in _KEYWORDS:
        return identifier
    quoted = _UNESCAPED_QUOTE.sub(lambda m: m['before'] + '\\"', identifier)
    # Two quotes in a row share the character between them: what one pass skips, a second finds.
    quoted = _UNESCAPED_QUOTE.sub(lambda m: m['before'] + '\\"', quoted)
    return f'"{quoted}"'


def _quote_edge(identifier):
    """The end of an edge: NODE[:PORT[:COMPASS]]."""
    node, _, rest = identifier.partition(':')
    parts = [quote(node)]
    if rest:
        port, _, compass = rest.partition(':')
        parts.append(quote(port))
        if compass:
            parts.append(compass)
    return ':'.join(parts)


def _pairs(mapping):
    """Keyword arguments are sorted; a mapping that is no plain dict, or a list, keeps its order."""
    items = mapping.items() if hasattr(mapping, 'items') else mapping
    return sorted(items) if type(mapping) is dict else items


def _attributes_text(label, kwargs, attributes):
    parts = [] if label is None else [f'label={quote(label)}']
    parts += [f'{quote(k)}={quote(v)}' for k, v in _pairs(kwargs) if v is not None]
    if attributes:
        parts += [f'{quote(k)}={quote(v)}' for k, v in _pairs(attributes) if v is not None]
    return ' '.join(parts)


def _bracketed(label, kwargs, attributes):
    text = _attributes_text(label, kwargs, attributes)
    return f' [{text}]' if text else ''


class _Rendered:
    """What Digraph, Graph and Source share: a source, and where its pictures go."""
    format = 'pdf'
    engine = 'dot'
    encoding = 'utf-8'
    directory = ''
    filename = None
    renderer = formatter = None

    def _setup(self, filename, directory, format, engine, encoding, renderer, formatter):
        if filename is None and getattr(self, 'name', None):
            filename = f'{self.name}.gv'
        self.filename = os.fspath(filename) if filename is not None else f'{type(self).__name__}.gv'
        for name, value in (('directory', directory), ('format', format), ('engine', engine),
                            ('encoding', encoding), ('renderer', renderer),
                            ('formatter', formatter)):
            if value is not None:
                setattr(self, name, os.fspath(value) if name == 'directory' else value)
        self._check(self.format, self.engine)

    @staticmethod
    def _check(format, engine):
        if format.lower() not in FORMATS:
            raise ValueError(f"unknown format: '{format}' (fxscope writes "
                             f'{", ".join(sorted(FORMATS))})')
        if engine not in ENGINES:
            raise ValueError(f"unknown engine: '{engine}' (fxscope has {', '.join(ENGINES)})")

    @property
    def filepath(self):
        return os.path.join(self.directory, self.filename)

    def save(self, filename=None, directory=None, *, skip_existing=False):
        if filename is not None:
            self.filename = os.fspath(filename)
        if directory is not None:
            self.directory = os.fspath(directory)
        path = self.filepath
        if skip_existing and os.path.exists(path):
            return path
        if os.path.dirname(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding=self.encoding) as out:
            out.write(self.source)
        return path

    def pipe(self, format=None, renderer=None, formatter=None, neato_no_op=None, quiet=False, *,
             engine=None, encoding=None):
        format = (format or self.format).lower()
        self._check(format, engine or self.engine)
        data = _fxscope.render_dot(self.source, format)
        return data.decode(encoding) if encoding else data

    def render(self, filename=None, directory=None, view=False, cleanup=False, format=None,
               renderer=None, formatter=None, neato_no_op=None, quiet=False, quiet_view=False, *,
               outfile=None, engine=None, raise_if_result_exists=False, overwrite_source=False):
        if outfile is not None:
            outfile = os.fspath(outfile)
            suffix = os.path.splitext(outfile)[1][1:].lower()
            if format is None and suffix in FORMATS:
                format = suffix
            if filename is None:
                filename = os.path.splitext(os.path.basename(outfile))[0] + '.gv'
                directory = os.path.dirname(outfile)
        format = (format or self.format).lower()
        picture = self.pipe(format, engine=engine)
        path = self.save(filename, directory)
        target = outfile or f'{path}.{format}'
        if raise_if_result_exists and os.path.exists(target):
            raise FileExistsError(f"output file exists: '{target}'")
        with open(target, 'wb') as out:
            out.write(picture)
        if cleanup:
            os.remove(path)
        return target

    def view(self, filename=None, directory=None, cleanup=False, quiet=False, quiet_view=False):
        """Nothing is opened: the picture is written, and its name returned."""
        return self.render(filename, directory, cleanup=cleanup)

    def unflatten(self, stagger=None, fanout=False, chain=None):
        return Source(self.source, self.filename, self.directory, self.format)

    def _repr_svg_(self):
        return self.pipe('svg', encoding='utf-8')

    def _repr_mimebundle_(self, include=None, exclude=None, **_):
        return {'image/svg+xml': self._repr_svg_()}

    def __str__(self):
        return self.source


class _Base(_Rendered):
    def __init__(self, name=None, comment=None, filename=None, directory=None, format=None,
                 engine=None, encoding='utf-8', graph_attr=None, node_attr=None, edge_attr=None,
                 body=None, strict=False, *, renderer=None, formatter=None):
        self.name = name
        self.comment = comment
        self._setup(filename, directory, format, engine, encoding, renderer, formatter)
        self.graph_attr = dict(graph_attr or {})
        self.node_attr = dict(node_attr or {})
        self.edge_attr = dict(edge_attr or {})
        self.body = list(body or ())
        self.strict = strict

    def _lines(self, subgraph=False):
        if self.comment:
            yield f'// {self.comment}\n'
        name = f'{quote(self.name)} ' if self.name else ''
        if subgraph:
            if self.strict:
                raise ValueError('subgraphs cannot be strict')
            yield f'subgraph {name}{{\n' if name else '{\n'
        else:
            yield f'{"strict " if self.strict else ""}{self._head} {name}{{\n'
        for word, attributes in (('graph', self.graph_attr), ('node', self.node_attr),
                                 ('edge', self.edge_attr)):
            if attributes:
                yield f'\t{word}{_bracketed(None, attributes, None)}\n'
        yield from self.body
        yield '}\n'

    def __iter__(self):
        return self._lines()

    @property
    def source(self):
        return ''.join(self)

    @property
    def directed(self):
        return self._head == 'digraph'

    def node(self, name, label=None, _attributes=None, **attrs):
        self.body.append(f'\t{quote(name)}{_bracketed(label, attrs, _attributes)}\n')

    def edge(self, tail_name, head_name, label=None, _attributes=None, **attrs):
        self.body.append(f'\t{_quote_edge(tail_name)} {self._arrow} {_quote_edge(head_name)}'
                         f'{_bracketed(label, attrs, _attributes)}\n')

    def edges(self, tail_head_iter):
        for tail, head in tail_head_iter:
            self.edge(tail, head)

    def attr(self, kw=None, _attributes=None, **attrs):
        if kw is not None and kw.lower() not in ('graph', 'node', 'edge'):
            raise ValueError(f'attr statement must target graph, node, or edge: {kw!r}')
        if not (attrs or _attributes):
            return
        if kw is None:
            self.body.append(f'\t{_attributes_text(None, attrs, _attributes)}\n')
            return
        self.body.append(f'\t{kw}{_bracketed(None, attrs, _attributes)}\n')

    def subgraph(self, graph=None, name=None, comment=None, graph_attr=None, node_attr=None,
                 edge_attr=None, body=None):
        if graph is None:
            return self._subgraph(name, comment, graph_attr, node_attr, edge_attr, body)
        if any(x is not None for x in (name, comment, graph_attr, node_attr, edge_attr, body)):
            raise ValueError('graph must be sole argument of subgraph()')
        if graph.directed != self.directed:
            raise ValueError(f'{self!r} cannot add subgraph of different kind: {graph!r}')
        self.body += ['\t' + line for line in graph._lines(subgraph=True)]

    @contextmanager
    def _subgraph(self, *args):
        name, comment, graph_attr, node_attr, edge_attr, body = args
        inner = type(self)(name=name, comment=comment, graph_attr=graph_attr,
                           node_attr=node_attr, edge_attr=edge_attr, body=body)
        yield inner
        self.subgraph(inner)

    def clear(self, keep_attrs=False):
        if not keep_attrs:
            for attributes in (self.graph_attr, self.node_attr, self.edge_attr):
                attributes.clear()
        del self.body[:]

    def copy(self):
        made = type(self)(self.name, self.comment, self.filename, self.directory, self.format,
                          self.engine, self.encoding, self.graph_attr, self.node_attr,
                          self.edge_attr, self.body, self.strict)
        return made


class Graph(_Base):
    _head, _arrow = 'graph', '--'


class Digraph(_Base):
    _head, _arrow = 'digraph', '->'


class Source(_Rendered):
    def __init__(self, source, filename=None, directory=None, format=None, engine=None,
                 encoding='utf-8', *, renderer=None, formatter=None, loaded_from_path=None):
        self._setup(filename, directory, format, engine, encoding, renderer, formatter)
        self.source = source if not source or source.endswith('\n') else source + '\n'

    @classmethod
    def from_file(cls, filename, directory=None, format=None, engine=None, encoding='utf-8'):
        with open(os.path.join(directory or '', filename), encoding=encoding) as text:
            return cls(text.read(), filename, directory, format, engine, encoding)

    def __iter__(self):
        return iter(self.source.splitlines(keepends=True))


def pipe(engine, format, data, **_):
    return Source(data.decode() if isinstance(data, bytes) else data, format=format,
                  engine=engine).pipe()


def render(engine='dot', format=None, filepath=None, **kwargs):
    source = Source.from_file(filepath, format=format, engine=engine)
    return source.render(filepath)


def version():
    return (2, 43, 0)


def set_default_format(format):
    previous, _Rendered.format = _Rendered.format, format
    return previous


def set_default_engine(engine):
    previous, _Rendered.engine = _Rendered.engine, engine
    return previous


def set_jupyter_format(format):
    return 'svg'
