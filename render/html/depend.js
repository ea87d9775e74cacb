// depend.js: what is selected, what it depends on, what depends on it, and what a search found: the marks of the picture.
const marks = { self: null, dim: false, highlight: true, state: new Uint8Array(nodes.length), before: null, after: null, counts: [0, 0], found: new Set() };
const BEFORE = 1, AFTER = 2;

// How many nodes up to each position carry a bit.
function sums(bit) {
    const sum = new Uint32Array(nodes.length + 1);
    for (let i = 0; i < nodes.length; i++) sum[i + 1] = sum[i] + (marks.state[i] & bit ? 1 : 0);
    return sum;
}
function reach(first, last, bit, next) {
    const stack = [], start = new Set();
    let n = 0;
    for (let i = first; i <= last; i++) {
        start.add(i);
        stack.push(i);
    }
    while (stack.length)
        for (const k of next(nodes[stack.pop()])) {
            if (marks.state[k] & bit || start.has(k)) continue;
            marks.state[k] |= bit;
            stack.push(k);
            n++;
        }
    return n;
}
// Facts of the selection: { item, level } ; level is set when it is a module.
function mark(selection) {
    marks.self = selection;
    marks.state.fill(0);
    marks.counts = [0, 0];
    marks.before = marks.after = null;
    marks.dim = false;
    if (!selection) return;
    const first = selection.level ? selection.level.first : selection.item.at, last = selection.level ? selection.level.last : selection.item.at;
    marks.counts = [reach(first, last, BEFORE, (n) => n.inputs), reach(first, last, AFTER, (n) => n.users)];
    marks.before = sums(BEFORE);
    marks.after = sums(AFTER);
    marks.first = first;
    marks.last = last;
    marks.dim = marks.highlight;
}
const within = (sum, item) => sum[lastOf(item) + 1] > sum[firstOf(item)];
const holdsSelf = (item) => firstOf(item) <= marks.last && lastOf(item) >= marks.first;
const inSelf = (item) => item.part !== OUTPUT && firstOf(item) >= marks.first && lastOf(item) <= marks.last;
marks.of = (item) => {
    const { self } = marks;
    if (!self) return null;
    if (item === self.item || (item.at === self.item.at && item.part === self.item.part && item.part !== OUTPUT)) return "self";
    if (!marks.highlight) return null;
    if (item.part === OUTPUT) return holdsSelf(item) || within(marks.after, item) ? "after" : within(marks.before, item) ? "before" : null;
    if (item.part === INPUT && item.at === marks.first && marks.first === marks.last) return "self";
    if (inSelf(item)) return "inside";
    return within(marks.before, item) ? "before" : within(marks.after, item) ? "after" : null;
};
// An edge is on the way to the selection, or from it; what is inside of it is neither.
const onTheWay = (item, sum) => holdsSelf(item) || within(sum, item);
marks.ofEdge = (e) => {
    if (!marks.self || !marks.highlight || (inSelf(e.from) && inSelf(e.to))) return null;
    const ends = e.to.part === OUTPUT && holdsSelf(e.to);
    if (!ends && onTheWay(e.to, marks.before) && onTheWay(e.from, marks.before)) return "before";
    return onTheWay(e.from, marks.after) && onTheWay(e.to, marks.after) ? "after" : null;
};
