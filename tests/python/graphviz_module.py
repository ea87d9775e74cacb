"""The drop-in module graphviz: the same DOT text as the package makes, and pictures of it.

The expected text was made by the package graphviz 0.20.1 from the same calls."""
import os
import tempfile

import graphviz
import tap


def drawing():
    d = graphviz.Digraph('N', comment='hello', format='svg',
                         node_attr={'shape': 'plain', 'b': '1'}, graph_attr={'rankdir': 'TB'},
                         edge_attr={'color': 'red'})
    d.node('a', '<<TABLE><TR><TD>x</TD></TR></TABLE>>')
    d.node('b b', label='x "q"\n\\l', zeta='1', alpha='2')
    d.edge('a', 'b b', style='dashed', color='grey')
    d.edges(['ab', ('c', 'd')])
    d.attr('node', shape='box')
    d.attr(size='3,4', label='u')
    d.node('digraph')
    d.node('1.5')
    d.edge('a:p:n', 'b')
    d.node('n', None, {'k': 'v'}, z=None)
    d.node('q""q')
    with d.subgraph(name='cluster_0') as c:
        c.attr(color='blue')
        c.edge('q', 'r')
    return d


EXPECTED = r'''// hello
digraph N {
	graph [rankdir=TB]
	node [b=1 shape=plain]
	edge [color=red]
	a [label=<<TABLE><TR><TD>x</TD></TR></TABLE>>]
	"b b" [label="x \"q\"
\l" alpha=2 zeta=1]
	a -> "b b" [color=grey style=dashed]
	a -> b
	c -> d
	node [shape=box]
	label=u size="3,4"
	"digraph"
	1.5
	a:p:n -> b
	n [k=v]
	"q\"\"q"
	subgraph cluster_0 {
		color=blue
		q -> r
	}
}
'''


def test_the_text_is_the_same():
    assert drawing().source == EXPECTED, drawing().source


def test_pictures_are_written():
    with tempfile.TemporaryDirectory() as folder:
        path = drawing().render(os.path.join(folder, 'net.gv'))
        assert path.endswith('net.gv.svg'), path
        assert open(os.path.join(folder, 'net.gv')).read() == EXPECTED
        assert '<svg' in open(path).read()
    assert drawing().pipe('png')[:4] == b'\x89PNG'
    assert drawing()._repr_svg_().count('class="node"') == 11


def test_wrong_text_is_an_error():
    tap.raises(RuntimeError, graphviz.Source('digraph { a -> ').pipe, 'svg', text='DOT')
    tap.raises(ValueError, drawing().pipe, 'bmp', text='unknown format')
    tap.raises(ValueError, drawing().attr, 'x', a='b')


tap.main(globals())
