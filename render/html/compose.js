// compose.js: the levels that are open become one picture: an open module takes the place of its box, and the level around
// it is stretched to make room. Every level's own layout is kept.
const MIN_FRAME = 130, NEAR = 3, ALIGNED = 1.5;
// The way across the flow: x when it goes down, y when it goes right.
const across = LR ? "y" : "x", wide = LR ? "h" : "w", along = LR ? "x" : "y", long = LR ? "w" : "h";
const middleOf = (item) => item[across] + item[wide] / 2;

// An open level's frame reaches so far before and behind the line on which its values come in.
function grown(level) {
    const open = [];
    for (const inner of level.inner) {
        if (!inner.open) continue;
        const scene = compose(inner), item = inner.item, half = item[wide] / 2, head = LR ? HEAD : 0;
        const before = Math.max(scene.line + head, half), behind = Math.max(scene[wide] - scene.line, half, MIN_FRAME - before);
        const length = Math.max(scene[long] + (LR ? 0 : HEAD), item[long]);
        open.push({ item, inner, before, behind, length, center: middleOf(item) });
    }
    // Boxes come at whole points: what is on one line but for half a point shares a center.
    open.sort((a, b) => a.center - b.center);
    open.forEach((o, i) => i && o.center - open[i - 1].center < ALIGNED && (o.center = open[i - 1].center));
    return open;
}

// Where values come in and go out of an open level: the middle of the port's outer side; and the line that goes on straight.
function portsOf(scene, level) {
    level.items.forEach((item, i) => {
        const p = scene.places[i];
        if (item.part === INPUT && !item.reference) scene.ports.push({ at: item.at, x: LR ? p.x : p.x + item.w / 2, y: LR ? p.y + item.h / 2 : p.y });
        if (item.part === OUTPUT) scene.out = { x: LR ? p.x + item.w : p.x + item.w / 2, y: LR ? p.y + item.h / 2 : p.y + item.h };
    });
    const first = scene.ports[0] || scene.out;
    scene.line = first ? first[across] : scene[wide] / 2;
}

function compose(level) {
    if (level.scene) return level.scene;
    const open = grown(level), frames = new Map(open.map((o) => [o.item, o]));
    const fAcross = stretch(open.flatMap((o) => [[Math.min(o.item[across], o.center), o.center, o.before], [o.center, Math.max(o.item[across] + o.item[wide], o.center + 1), o.behind]]));
    const fAlong = stretch(open.map((o) => [o.item[along], o.item[along] + o.item[long], o.length]));
    const centers = [...new Set(open.map((o) => o.center))];
    const places = level.items.map((item) => {
        const o = frames.get(item), center = centers.find((c) => Math.abs(c - middleOf(item)) < ALIGNED);
        const line = fAcross(center === undefined ? middleOf(item) : center), p = { inner: null, dx: 0, dy: 0 };
        p[wide] = o ? o.before + o.behind : item[wide];
        p[long] = o ? o.length : item[long];
        p[across] = o ? fAcross(o.center) - o.before : line - p[wide] / 2;
        p[along] = o ? (fAlong(item[along]) + fAlong(item[along] + item[long]) - p[long]) / 2 : fAlong(item[along] + item[long] / 2) - p[long] / 2;
        if (o) {
            p.inner = o.inner;
            p[LR ? "dy" : "dx"] = o.before - o.inner.scene.line;
            p[LR ? "dx" : "dy"] = LR ? (p.w - o.inner.scene.w) / 2 : HEAD;
        }
        return p;
    });
    const fx = LR ? fAlong : fAcross, fy = LR ? fAcross : fAlong;
    level.scene = { w: fx(level.w), h: fy(level.h), places, fx, fy, still: !open.length, ports: [], out: null, line: 0 };
    portsOf(level.scene, level);
    return level.scene;
}

// Where an edge that ends at item's place, which was at q when the level was laid out, ends now.
function endAt(level, i, q, other, entering) {
    const item = level.items[i], p = level.scene.places[i];
    if (p.inner) return portAt(p, other, entering);
    return { x: p.x + p.w / 2 + q.x - item.x - item.w / 2, y: p.y + p.h / 2 + q.y - item.y - item.h / 2 };
}
function portAt(p, other, entering) {
    const inner = p.inner.scene, x = p.x + p.dx, y = p.y + p.dy;
    const middle = { x: LR ? p.x + (entering ? 0 : p.w) : x + inner.line, y: LR ? y + inner.line : p.y + (entering ? 0 : p.h) };
    if (!entering) return inner.out ? { x: x + inner.out.x, y: y + inner.out.y } : middle;
    const port = inner.ports.find((q) => q.at >= firstOf(other) && q.at <= lastOf(other));
    if (!port) return middle;
    const first = port[along] <= 14; // else other boxes are between the frame and it
    return { x: LR && !first ? p.x : x + port.x, y: !LR && !first ? p.y : y + port.y };
}

// A curve's points (x, y, ...) with the arrow's tip last, where they are now. What leads from rank to rank stays between
// the ranks; from there to a box that is shorter than its rank has become, a straight line goes.
function bent(level, from, to, raw, at, n) {
    const { fx, fy, still } = level.scene;
    let points = new Float32Array(2 * n + 2), x = 0, y = 0;
    for (let k = 0; k <= n; k++) {
        x += raw[at + 2 * k] / 10;
        y += raw[at + 2 * k + 1] / 10;
        points[2 * k] = x;
        points[2 * k + 1] = y;
    }
    if (still) return points;
    const last = { x: points[2 * n - 2], y: points[2 * n - 1] }, first = { x: points[0], y: points[1] }, tip = { x, y };
    points = betweenRanks(level, points);
    n = points.length / 2 - 1;
    for (let k = 0; k < points.length; k += 2) {
        points[k] = fx(points[k]);
        points[k + 1] = fy(points[k + 1]);
    }
    const a = level.items[from], b = level.items[to], k = LR ? 1 : 0;
    const start = isNear(a, first) ? endAt(level, from, first, b, false) : { x: points[0], y: points[1] };
    const end = isNear(b, tip) ? endAt(level, to, tip, a, true) : { x: points[2 * n], y: points[2 * n + 1] };
    const before = { x: end.x + last.x - tip.x, y: end.y + last.y - tip.y };
    moveAcross(points, k, k + 2, start);
    moveAcross(points, 2 * n - 2 + k, 2 * n - 4 + k, before);
    const all = [...lineTo(start, { x: points[0], y: points[1] }), ...points.slice(0, 2 * n), ...lineTo({ x: points[2 * n - 2], y: points[2 * n - 1] }, before, true), end.x, end.y];
    return Math.abs(first[across] - tip[across]) < 0.2 ? straightened(all, k) : Float32Array.from(all);
}
// Ends move across the flow, and only as far as the next rank may what leads to them bend: a straight piece that goes on
// along other boxes is cut there. The arrow's tip comes last.
function betweenRanks(level, points) {
    const k = LR ? 0 : 1, n = points.length / 2 - 1, y = (i) => points[2 * i + k], x = (i) => points[2 * i + 1 - k];
    const isStraight = (i) => [1, 2, 3].every((j) => Math.abs(x(i) - x(i + j)) < 0.2);
    const places = cutsOf(level), begins = places.begins[firstBehind(places.begins, y(0) + 1)], ends = places.ends[firstBehind(places.ends, y(n - 1) - 1) - 1];
    const cuts = [];
    if (n > 3 && isStraight(0) && begins < y(3) - 1) cuts.push([0, begins]);
    if (n > 3 && isStraight(n - 4) && ends > Math.max(y(n - 4), cuts.length && n === 4 ? begins : -Infinity) + 1) cuts.push([n - 4, ends]);
    return cuts.length ? cutStraight(points, k, cuts) : points;
}
// cuts: number of the point at which a straight piece begins, and where it is cut, ascending.
function cutStraight(points, k, cuts) {
    const out = [points[0], points[1]], tip = points.slice(-2);
    for (let i = 0; 2 * i + 8 < points.length; i += 3) {
        const stops = cuts.filter(([piece]) => piece === i).map(([, at]) => at);
        if (!stops.length) {
            out.push(...points.slice(2 * i + 2, 2 * i + 8));
            continue;
        }
        for (const to of [...stops, points[2 * i + 6 + k]])
            for (let j = 1, from = out[out.length - 2 + k]; j <= 3; j++) {
                const on = from + ((to - from) * j) / 3;
                out.push(k ? points[2 * i] : on, k ? on : points[2 * i + 1]);
            }
    }
    return Float32Array.from([...out, ...tip]);
}
// Number of the first of ascending places that is greater.
function firstBehind(places, than) {
    let low = 0, high = places.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (places[middle] > than) high = middle; else low = middle + 1;
    }
    return low;
}
// Where boxes of a level begin and end along the flow, ascending.
function cutsOf(level) {
    if (!level.cuts) {
        const sorted = (places) => [...new Set(places)].sort((a, b) => a - b);
        level.cuts = { begins: sorted(level.items.map((i) => i[along])), ends: sorted(level.items.map((i) => i[along] + i[long])) };
    }
    return level.cuts;
}
const isNear = (item, p) => p.x >= item.x - NEAR && p.x <= item.x + item.w + NEAR && p.y >= item.y - NEAR && p.y <= item.y + item.h + NEAR;
// The end of a curve moves across the flow, and what leads to it goes along.
function moveAcross(points, end, next, to) {
    const by = to[across] - points[end];
    points[end] += by;
    points[next] += by;
}
// The points of a straight piece, without those that the curve has.
function lineTo(a, b, behind) {
    if (Math.abs(a[along] - b[along]) < 0.2) return [];
    const between = [a.x + (b.x - a.x) / 3, a.y + (b.y - a.y) / 3, a.x + (2 * (b.x - a.x)) / 3, a.y + (2 * (b.y - a.y)) / 3];
    return behind ? [...between, b.x, b.y] : [a.x, a.y, ...between];
}
// What was one straight line stays one: ends that are less than a pixel apart would show as a step.
function straightened(points, k0) {
    const end = points[points.length - 2 + k0];
    let straight = true;
    for (let k = k0; k < points.length; k += 2) straight = straight && Math.abs(points[k] - end) < 2;
    for (let k = k0; straight && k < points.length; k += 2) points[k] = end;
    return Float32Array.from(points);
}

// The whole picture: boxes, frames (outer ones first), edges; each with what it covers: x, y, x2, y2.
function flatten() {
    const out = { w: 0, h: 0, boxes: [], frames: [], edges: [], byItem: new Map(), byLevel: new Map() };
    const scene = compose(root);
    out.w = scene.w;
    out.h = scene.h;
    flattenLevel(root, 0, 0, out);
    return out;
}
function flattenLevel(level, ox, oy, out) {
    const scene = level.scene;
    level.items.forEach((item, i) => {
        const p = scene.places[i], x = ox + p.x, y = oy + p.y, shown = { item, level, x, y, x2: x + p.w, y2: y + p.h };
        if (p.inner) {
            const frame = { level: p.inner, item, x, y, x2: x + p.w, y2: y + p.h };
            out.frames.push(frame);
            out.byLevel.set(p.inner, frame);
            flattenLevel(p.inner, x + p.dx, y + p.dy, out);
        } else {
            out.boxes.push(shown);
            if (!item.reference) out.byItem.set(item, shown);
        }
    });
    for (let at = 0, raw = level.edges; at < raw.length;) {
        const n = raw[at + 3], points = bent(level, raw[at], raw[at + 1], raw, at + 4, n);
        out.edges.push(edgeOf(level, raw, at, points, ox, oy));
        at += raw[at + 2] & 2 ? 9 + 2 * n : 6 + 2 * n;
    }
}
// An edge's label goes along with the point of the curve that it stands beside.
function labelOf(level, raw, at, points, ox, oy) {
    if (!(raw[at + 2] & 2)) return null;
    const n = raw[at + 3], end = at + 6 + 2 * n, lx = raw[end + 1] / 10, ly = raw[end + 2] / 10, { fx, fy } = level.scene;
    let x = 0, y = 0, near = null;
    for (let k = 0; k < n; k++) {
        x += raw[at + 4 + 2 * k] / 10;
        y += raw[at + 5 + 2 * k] / 10;
        const far = Math.abs(x - lx) + Math.abs(y - ly);
        if (!near || far < near.far) near = { far, x, y };
    }
    // On the line that the curve's end was moved to, where it is on that.
    const straight = Math.abs(near[across] - raw[at + (LR ? 5 : 4)] / 10) < 0.2;
    const to = { x: fx(near.x), y: fy(near.y) };
    if (straight) to[across] = points[LR ? 1 : 0];
    return { text: raw[end], x: ox + to.x + lx - near.x, y: oy + to.y + ly - near.y };
}
function edgeOf(level, raw, at, points, ox, oy) {
    const edge = { from: level.items[raw[at]], to: level.items[raw[at + 1]], tensor: (raw[at + 2] & 1) === 1, label: labelOf(level, raw, at, points, ox, oy), over: level.over, points, x: Infinity, y: Infinity, x2: -Infinity, y2: -Infinity };
    for (let k = 0; k < points.length; k += 2) {
        points[k] += ox;
        points[k + 1] += oy;
        edge.x = Math.min(edge.x, points[k]);
        edge.x2 = Math.max(edge.x2, points[k]);
        edge.y = Math.min(edge.y, points[k + 1]);
        edge.y2 = Math.max(edge.y2, points[k + 1]);
    }
    edge.x -= 4;
    edge.x2 += edge.label ? Math.max(4, edge.label.x + 120 - edge.x2) : 4;
    return edge;
}

// What was made of a level and of those around it is made anew when one opens or closes.
function setOpen(level, open) {
    if (level === root || level.open === open) return;
    level.open = open;
    for (let l = levels[level.parent]; ; l = levels[l.parent]) {
        l.scene = null;
        if (l === root) return;
    }
}
const isShown = (level) => level === root || (level.open && isShown(levels[level.parent]));
