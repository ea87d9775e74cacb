"""Draws a network as people did with torch.fx and graphviz: an interpreter that notes every result, a table for each node, dashed
light grey edges where no tensor flows. Runs with PyTorch and graphviz just as well, and makes the same text.

usage: probe.py FILE.gv    (writes FILE.gv and FILE.gv.svg)
"""
import html
import os
import sys

import graphviz
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.fx import Interpreter, symbolic_trace
from torch.fx.node import map_aggregate


class TestModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(1))
        self.main = nn.Sequential(nn.Conv2d(3, 4, 1), nn.ReLU(True))
        self.skip = nn.Conv2d(2, 4, 3, stride=1, padding=1)

    def forward(self, x, y):
        x = self.main(x)
        y = (self.skip(y) + self.bias).clamp(0, 1)
        x_size = x.size()[-2:]
        y = F.interpolate(y, x_size, mode='bilinear', align_corners=False)
        return torch.sigmoid(x) + y


class ResultProbe(Interpreter):
    def run_node(self, n):
        result = super().run_node(n)
        n.meta['tensor'] = False

        def note(value):
            if isinstance(value, torch.Tensor):
                n.meta['tensor'] = True
                return tuple(value.shape), value.dtype
            return value
        n.meta['result'] = map_aggregate(result, note)
        return result


def label(module, node):
    rows = [f'<tr><td colspan="2"><b>{html.escape(node.name)}</b></td></tr>',
            f'<tr><td>{node.op}</td><td>{html.escape(node._pretty_print_target(node.target))}'
            '</td></tr>']
    if node.op == 'call_module':
        text = html.escape(str(module.get_submodule(node.target)))
        rows.append(f'<tr><td colspan="2">{text}</td></tr>')
    rows.append(f'<tr><td>result</td><td>{html.escape(str(node.meta["result"]))}</td></tr>')
    return f'<<table border="0" cellborder="1" cellspacing="0">{"".join(rows)}</table>>'


def draw(module):
    dot = graphviz.Digraph(name='TestModel', format='svg', node_attr={'shape': 'plaintext'})
    for node in module.graph.nodes:
        dot.node(node.name, label(module, node))
        for source in node.all_input_nodes:
            flows = source.meta['tensor'] and node.meta['tensor']
            dot.edge(source.name, node.name,
                     **({} if flows else {'style': 'dashed', 'color': 'lightgrey'}))
    return dot


traced = symbolic_trace(TestModel().eval())
ResultProbe(traced).run(torch.randn(1, 3, 16, 16), torch.randn(1, 2, 8, 8))
print(traced.graph)
picture = draw(traced).render(os.path.abspath(sys.argv[1]))
print(os.path.basename(picture))
