// data.js: the block of data becomes nodes, levels and their boxes. Texts stay numbers until they are shown.
const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
$("data").remove();
const texts = data.texts, factNames = data.facts, LR = data.lr === 1;
const NODE = 0, BOX = 1, INPUT = 2, OUTPUT = 3;
const HEAD = 18, PAD_X = 6, PAD_Y = 3;
const inks = data.inks.map(([bold, size, line, baseline]) => ({ bold: bold === 1, size: size / 100, line: line / 100, baseline: baseline / 100 }));

// The facts at a place of a list of numbers: count, then pairs of fact and text.
const factsEnd = (list, at) => at + 1 + 2 * list[at];
function factsOf(thing) {
    const all = [];
    for (let k = 0, at = thing.factsAt + 1; k < thing.list[thing.factsAt]; k++, at += 2) all.push([factNames[thing.list[at]], texts[thing.list[at + 1]]]);
    return all;
}
function factOf(thing, name) {
    const which = factNames.indexOf(name);
    for (let k = 0, at = thing.factsAt + 1; k < thing.list[thing.factsAt]; k++, at += 2) if (thing.list[at] === which) return texts[thing.list[at + 1]];
    return "";
}

// A node: name, style, inputs, where its facts are, the box that shows it.
const nodes = [];
for (let at = 0, list = data.nodes; at < list.length;) {
    const count = list[at + 2], inputs = list.slice(at + 3, at + 3 + count);
    nodes.push({ name: list[at], style: list[at + 1], inputs, users: [], list, factsAt: at + 3 + count, item: null });
    at = factsEnd(list, at + 3 + count);
}
nodes.forEach((n, i) => n.inputs.forEach((k) => nodes[k].users.push(i)));

// A level: what is in one module, as it was laid out; its box in the level around it.
const levels = data.levels.map(([about, size, , edges], index) => ({
    index, parent: about[0], path: texts[about[1]], className: texts[about[2]], call: about[3], first: about[4], last: about[5],
    w: size[0], h: size[1], over: size[2] === 1, items: [], edges, item: null, open: index === 0, depth: 0, scene: null, inner: [],
}));
const root = levels[0];

function readItem(level, list, at) {
    const part = list[at] & 3, reference = (list[at] & 4) !== 0;
    const item = {
        level, part, reference, at: list[at + 1], style: list[at + 2], x: list[at + 3], y: list[at + 4], w: list[at + 5], h: list[at + 6],
        split: list[at + 7], list, rowsAt: at + 8, factsAt: 0,
    };
    let end = at + 9;
    for (let rows = list[at + 8]; rows > 0; rows--) end += list[end] & 8 ? 3 : 2;
    if (part === BOX && !reference) {
        item.factsAt = end;
        end = factsEnd(list, end);
        levels[item.at].item = item;
        level.inner.push(levels[item.at]);
    } else if (part === NODE && !reference) nodes[item.at].item = item;
    level.items.push(item);
    return end;
}
data.levels.forEach(([, , items], index) => {
    const level = levels[index];
    level.depth = index ? levels[level.parent].depth + 1 : 0;
    for (let at = 0; at < items.length;) at = readItem(level, items, at);
});
data.levels = data.nodes = null;

const linesOf = [];
const lines = (text) => linesOf[text] || (linesOf[text] = texts[text].split("\n"));
// What a frame says of its module: the class, how many equal blocks it stands for, and whose weights they have.
function kindOf(level) {
    const times = level.item ? factOf(level.item, "equal blocks") : "", weights = level.item ? factOf(level.item, "weights") : "";
    return level.className + (times ? "  \u00d7 " + times : "") + (weights ? ", " + weights + " weights" : "");
}
// The nodes that a box stands for, as first and last position.
const firstOf = (item) => (item.part === BOX ? levels[item.at].first : item.part === OUTPUT ? item.level.first : item.at);
const lastOf = (item) => (item.part === BOX ? levels[item.at].last : item.part === OUTPUT ? item.level.last : item.at);
const titleOf = (level) => (level.path || data.name) + (level.call ? " (call " + (level.call + 1) + ")" : "");
