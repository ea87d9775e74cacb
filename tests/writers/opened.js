// opened.js: what check_tools.sh runs in Chromium: opens Mermaid and draw.io files with the libraries that show them, and
// compares every node's text with the same picture's GraphML. `pictures` is [[name, {mmd, drawio, graphml}], ...] in Base64.
// The result, one line a check, replaces the page's text: "ok NAME", or "bad NAME: why".
const decode = b => new TextDecoder().decode(Uint8Array.from(atob(b), c => c.charCodeAt(0)));
// Blanks and breaks are the libraries' own matter; a word joiner takes no room.
const bare = s => s.replace(/[\s\u2060]+/g, '');
const lines = [];
const check = (name, why) => lines.push(why ? `bad ${name}: ${why}` : `ok ${name}`);
const errors = [];
let alerts = 0;
window.alert = () => { alerts++; };
addEventListener('error', e => errors.push(e.message));

function readGraphml(text) {
  const doc = new DOMParser().parseFromString(text, 'application/xml');
  const own = (e, tag) => [...e.children].filter(c => c.localName == tag);
  const nodes = new Map(), frames = [];
  for (const e of doc.getElementsByTagName('node')) {
    const label = own(e, 'data').find(d => d.getAttribute('key') == 'label').textContent;
    if (e.id.startsWith('n')) nodes.set(e.id, bare(label)); else frames.push(bare(label));
  }
  return { nodes, frames, edges: [...doc.getElementsByTagName('edge')].map(e => e.getAttribute('source') + ' ' + e.getAttribute('target')).sort() };
}

const differs = (want, got) => {
  for (const [id, text] of want) if (got.get(id) !== text) return `${id} is ${got.get(id)}, not ${text}`;
  return got.size == want.size ? '' : `${got.size} nodes, not ${want.size}`;
};
const unequal = (want, got) => want.join() == got.join() ? '' : `${got.filter(x => !want.includes(x))} and not ${want.filter(x => !got.includes(x))}`;

async function openMermaid(name, text, want, html) {
  mermaid.initialize({ startOnLoad: false, securityLevel: 'strict', htmlLabels: html, flowchart: { htmlLabels: html } });
  let svg;
  try {
    svg = (await mermaid.render('picture', text)).svg;
  } catch (e) {
    check(`${name}: Mermaid reads it`, String(e).split('\n').join(' '));
    return;
  }
  const page = document.createElement('div');
  page.innerHTML = svg;
  document.body.append(page);
  const nodes = new Map([...page.querySelectorAll('g.node')].filter(g => g.id.includes('flowchart-n')).map(g => ['n' + g.id.match(/flowchart-n(\d+)-/)[1], bare(g.textContent)]));
  const kind = html ? 'HTML labels' : 'SVG labels';
  check(`${name}: Mermaid shows every text, ${kind}`, differs(want.nodes, nodes));
  const edges = [...page.querySelectorAll('path.flowchart-link')].map(p => p.id.match(/L_(n\d+)_(n\d+)_/).slice(1).join(' ')).sort();
  check(`${name}: Mermaid shows every edge, ${kind}`, unequal(want.edges, edges));
  // Mermaid leaves entities in titles of frames that are no HTML.
  const plain = s => html ? s : s.replace(/&#(\d+);/g, (_, n) => String.fromCodePoint(n));
  const frames = [...page.querySelectorAll('.cluster-label')].map(c => bare(plain(c.textContent))).filter(t => t); // but the legend's
  check(`${name}: Mermaid shows every frame, ${kind}`, unequal(want.frames.filter(t => t).sort(), frames.sort()));
  page.remove();
}

function openDrawio(name, text, want) {
  const doc = mxUtils.parseXml(text);
  const home = document.createElement('div');
  document.body.append(home);
  const graph = new mxGraph(home);
  graph.setHtmlLabels(true);
  graph.convertValueToString = c => c.value && c.value.getAttribute ? c.value.getAttribute('label') : c.value || '';
  new mxCodec(doc).decode(doc.querySelector('mxGraphModel'), graph.getModel());
  const cells = Object.values(graph.getModel().cells), nodes = new Map(), frames = [], ends = [];
  const textOf = c => { const e = document.createElement('div'); e.innerHTML = graph.convertValueToString(c); return bare(e.textContent); };
  for (const c of cells)
    if (c.edge) ends.push(c.source.id + ' ' + c.target.id);
    else if (/^n\d/.test(c.id)) nodes.set(c.id, textOf(c));
    else if (/^c\d/.test(c.id)) frames.push(textOf(c));
  check(`${name}: draw.io's library has every text`, differs(want.nodes, nodes));
  check(`${name}: draw.io's library has every edge`, unequal(want.edges, ends.sort()));
  check(`${name}: draw.io's library has every frame`, unequal([...want.frames].sort(), frames.sort()));
  // Where the library puts things: in the picture's own order, nothing on top of another, members within their frames.
  const at = c => { const s = graph.view.getState(c); return s && { x: s.x, y: s.y, r: s.x + s.width, b: s.y + s.height, c }; };
  const boxes = cells.filter(c => /^n\d/.test(c.id)).map(at);
  let fault = boxes.every(b => b) ? '' : 'a node has no place';
  for (const a of boxes) {
    for (const b of boxes) if (!fault && a != b && a.x < b.r && a.r > b.x && a.y < b.b && a.b > b.y) fault = `${a.c.id} lies on ${b.c.id}`;
    const p = !fault && /^c\d/.test(a.c.parent.id) && at(a.c.parent);
    if (p && (a.x < p.x || a.r > p.r || a.y < p.y || a.b > p.b)) fault = `${a.c.id} is outside of ${p.c.id}`;
  }
  check(`${name}: draw.io's library places every node`, fault);
  const stray = cells.filter(c => c.edge).find(c => {
    const p = graph.view.getState(c).absolutePoints, s = at(c.source), t = at(c.target), near = (q, b) => q.x > b.x - 1 && q.x < b.r + 1 && q.y > b.y - 1 && q.y < b.b + 1;
    return !near(p[0], s) || !near(p[p.length - 1], t);
  });
  check(`${name}: draw.io's library ties every edge to its boxes`, stray ? `${stray.id} ends elsewhere` : '');
  home.remove();
}

(async () => {
  for (const [name, files] of pictures) {
    const want = readGraphml(decode(files.graphml));
    if (!want.nodes.size) check(name, 'the GraphML has no nodes');
    if (window.mermaid) for (const html of [true, false]) await openMermaid(name, decode(files.mmd), want, html);
    if (window.mxGraph) openDrawio(name, decode(files.drawio), want);
  }
  check('no script of a label ran', alerts || errors.length ? `${alerts} alerts ${errors}` : '');
  document.title = '';
  document.body.textContent = lines.join('\n') + '\nEND';
})().catch(e => { document.body.textContent = lines.join('\n') + `\nbad the page: ${e.stack}\nEND`; });
