// layout.mjs: lays a graph out with one of npm's engines. Called by bench.py --layout.
// usage: node layout.mjs dagre|elk FOLDER-OF-NODE_MODULES GRAPH OUT
// GRAPH: "nodes edges", a size a line, two ends a line. OUT: seconds, a box's corner a line, then for each edge a count
// and its corners.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const [engine, folder, graphFile, outFile] = process.argv.slice(2);
const require = createRequire(folder + '/');
const numbers = readFileSync(graphFile, 'utf8').split(/\s+/).map(Number);
let at = 0;
const nnodes = numbers[at++], nedges = numbers[at++];
const nodes = Array.from({ length: nnodes }, () => ({ width: numbers[at++], height: numbers[at++] }));
const edges = Array.from({ length: nedges }, () => [numbers[at++], numbers[at++]]);

function withDagre() {
  const dagre = require('@dagrejs/dagre');
  const Graph = dagre.Graph ?? dagre.graphlib.Graph;
  const g = new Graph({ multigraph: true });
  g.setGraph({ nodesep: 20, ranksep: 30, edgesep: 10 });
  g.setDefaultEdgeLabel(() => ({}));
  nodes.forEach((n, i) => g.setNode(String(i), { ...n }));
  edges.forEach(([a, b], i) => g.setEdge(String(a), String(b), {}, String(i)));
  const start = performance.now();
  dagre.layout(g);
  const seconds = (performance.now() - start) / 1000;
  const boxes = nodes.map((n, i) => {
    const p = g.node(String(i));
    return [p.x - n.width / 2, p.y - n.height / 2];
  });
  const lines = edges.map(([a, b], i) => g.edge(String(a), String(b), String(i)).points.map(p => [p.x, p.y]));
  return { seconds, boxes, lines };
}

async function withElk() {
  const ELK = require('elkjs');
  const graph = {
    id: 'root',
    layoutOptions: {
      'elk.algorithm': 'layered', 'elk.direction': 'DOWN', 'elk.edgeRouting': 'POLYLINE',
      'elk.spacing.nodeNode': '20', 'elk.layered.spacing.nodeNodeBetweenLayers': '30',
    },
    children: nodes.map((n, i) => ({ id: 'n' + i, ...n })),
    edges: edges.map(([a, b], i) => ({ id: 'e' + i, sources: ['n' + a], targets: ['n' + b] })),
  };
  const start = performance.now();
  const done = await new ELK().layout(graph);
  const seconds = (performance.now() - start) / 1000;
  return {
    seconds,
    boxes: done.children.map(n => [n.x, n.y]),
    lines: done.edges.map(e => {
      const s = e.sections[0];
      return [s.startPoint, ...(s.bendPoints || []), s.endPoint].map(p => [p.x, p.y]);
    }),
  };
}

const { seconds, boxes, lines } = engine === 'dagre' ? withDagre() : await withElk();
writeFileSync(outFile, [
  seconds,
  ...boxes.map(b => b.join(' ')),
  ...lines.map(l => l.length + ' ' + l.map(p => p.join(' ')).join(' ')),
].join('\n') + '\n');
