// paint.js: the picture on a canvas: only what is in sight, and of that only what can be read.
const FONT = "'DejaVu Sans', Verdana, Arial, sans-serif";
const READABLE = 0.42, BOXES = 0.1;
const fontOf = (ink, size) => (ink.bold ? "bold " : "") + (size || ink.size) + "px " + FONT;
function rectangle(g, x, y, w, h, r) {
    g.beginPath();
    if (r && g.roundRect) g.roundRect(x, y, w, h, r); else g.rect(x, y, w, h);
}

// The rows of a box: fn(row's y, its height, two cells?, [ink, text] of each)
function eachRow(item, fn) {
    let at = item.rowsAt + 1, y = 0;
    for (let rows = item.list[item.rowsAt], k = 0; k < rows; k++) {
        const code = item.list[at], two = (code & 8) !== 0, ink = code & 7;
        const a = two ? 2 : ink, ta = lines(item.list[at + 1]), tb = two ? lines(item.list[at + 2]) : null;
        let h = Math.ceil(ta.length * inks[a].line) + 2 * PAD_Y;
        if (two) h = Math.max(h, Math.ceil(tb.length * inks[ink].line) + 2 * PAD_Y);
        fn(y, h, k, a, ta, ink, tb);
        y += h;
        at += two ? 3 : 2;
    }
}
// Lines of one cell: fn(text, middle or left x, baseline, centred?)
function eachLine(ink, text, x, y, w, h, fn) {
    const face = inks[ink], above = y + (h - text.length * face.line) / 2 + face.baseline;
    text.forEach((line, i) => fn(line, text.length === 1 ? x + w / 2 : x + PAD_X, above + i * face.line, text.length === 1));
}
function paintCell(g, ink, text, x, y, w, h, color) {
    g.fillStyle = color || palette.ink[ink];
    g.font = fontOf(inks[ink]);
    eachLine(ink, text, x, y, w, h, (line, tx, ty, centred) => {
        g.textAlign = centred ? "center" : "left";
        g.fillText(line, tx, ty, w - PAD_X);
    });
}

function paintTable(g, b) {
    const { item, x, y } = b, w = item.w, style = lookOf(item);
    g.fillStyle = palette.body;
    g.fillRect(x, y, w, item.h);
    eachRow(item, (top, h, k, a, ta, ink, tb) => {
        if (k === 0) {
            g.fillStyle = style.head;
            g.fillRect(x, y, w, h);
        }
        g.strokeStyle = style.line;
        g.lineWidth = 0.75;
        g.strokeRect(x, y + top, tb ? item.split : w, h);
        if (tb) g.strokeRect(x + item.split, y + top, w - item.split, h);
        paintCell(g, a, ta, x, y + top, tb ? item.split : w, h, k === 0 && style.ink);
        if (tb) paintCell(g, ink, tb, x + item.split, y + top, w - item.split, h);
        if (k === 0 && item.part === BOX && !item.reference) paintSign(g, x + 4, y + (h - 11) / 2, "+");
    });
    if (item.part === BOX) {
        g.strokeStyle = style.line;
        g.lineWidth = 1.5;
        g.strokeRect(x, y, w, item.h);
    }
}
function paintSign(g, x, y, sign) {
    g.fillStyle = palette.body;
    g.strokeStyle = palette.ink[2];
    g.lineWidth = 0.75;
    rectangle(g, x, y, 11, 11, 2.5);
    g.fill();
    g.stroke();
    g.beginPath();
    g.moveTo(x + 2.5, y + 5.5);
    g.lineTo(x + 8.5, y + 5.5);
    if (sign === "+") {
        g.moveTo(x + 5.5, y + 2.5);
        g.lineTo(x + 5.5, y + 8.5);
    }
    g.strokeStyle = palette.ink[1];
    g.lineWidth = 1.1;
    g.stroke();
}
// What comes in and goes out of an open module: a small round box with the name.
function paintPort(g, b, readable) {
    const { item, x, y } = b;
    g.fillStyle = readable ? palette.body : palette.nontensor;
    g.strokeStyle = palette.nontensor;
    g.lineWidth = 0.75;
    rectangle(g, x, y, item.w, item.h, 8);
    g.fill();
    g.stroke();
    if (readable) eachRow(item, (top, h, k, a, ta) => paintCell(g, 2, ta, x, y + top, item.w, h));
}
const isPort = (item) => item.part === INPUT || item.part === OUTPUT;

// From afar: the box's colour and, where it fits, its name in the size of the screen.
function paintFar(g, b, s) {
    const { item, x, y } = b, style = lookOf(item);
    g.fillStyle = style.head;
    g.fillRect(x, y, item.w, item.h);
    if (item.h * s < 4) return;
    g.strokeStyle = style.line;
    g.lineWidth = 0.8 / s;
    g.strokeRect(x, y, item.w, item.h);
    const name = lines(item.list[item.rowsAt + 2])[0], size = Math.min(11, item.h * s * 0.45, (item.w * s) / (0.62 * name.length));
    if (size < 6) return;
    g.fillStyle = style.ink || palette.ink[0];
    g.font = size / s + "px " + FONT;
    g.textAlign = "center";
    g.fillText(name, x + item.w / 2, y + item.h / 2 + (0.36 * size) / s, item.w);
}
function paintBox(g, b, s) {
    const mark = marks.of(b.item);
    g.globalAlpha = marks.dim && !mark ? 0.35 : 1;
    if (isPort(b.item)) paintPort(g, b, s >= READABLE);
    else if (s >= READABLE) paintTable(g, b);
    else paintFar(g, b, s);
    if (mark || marks.found.has(b.item)) {
        g.strokeStyle = mark ? palette[mark] : palette.found;
        g.lineWidth = (mark === "self" ? 3 : 2) / Math.min(1, s * 1.4);
        rectangle(g, b.x, b.y, b.item.w, b.item.h, isPort(b.item) ? 8 : 0);
        g.stroke();
    }
    g.globalAlpha = 1;
}

function paintFrame(g, f, s) {
    const w = f.x2 - f.x, h = f.y2 - f.y, mark = marks.self && marks.self.level === f.level ? "self" : null;
    rectangle(g, f.x, f.y, w, h, 5);
    g.fillStyle = palette.frames[f.level.depth % 2];
    g.fill();
    g.strokeStyle = mark ? palette.self : palette.frame;
    g.lineWidth = (mark ? 2 : 0.9) / Math.min(1, s * 1.6);
    g.stroke();
}
// Over the edges, on a ground of its own.
function paintFrameTitle(g, f, s) {
    const w = f.x2 - f.x, h = f.y2 - f.y, title = titleOf(f.level), ground = palette.frames[f.level.depth % 2];
    g.textAlign = "left";
    if (s >= READABLE) {
        g.font = fontOf(inks[0]);
        const room = w - 24, used = Math.min(room, g.measureText(title).width);
        g.font = fontOf(inks[2]);
        const more = room - used > 40 ? Math.min(room - used - 8, g.measureText(kindOf(f.level)).width) : 0;
        g.fillStyle = ground;
        g.fillRect(f.x + 2, f.y + 2, 22 + used + (more ? more + 8 : 0), HEAD - 3);
        paintSign(g, f.x + 4, f.y + 4, "-");
        if (more) {
            g.fillStyle = palette.ink[2];
            g.fillText(kindOf(f.level), f.x + 26 + used, f.y + 13, more);
        }
        g.font = fontOf(inks[0]);
        g.fillStyle = palette.ink[0];
        g.fillText(title, f.x + 20, f.y + 13, room);
        return;
    }
    const size = Math.min(11, (w * s) / (0.62 * title.length));
    const outer = picture.byLevel.get(levels[f.level.parent]);
    if (size < 7 || h * s < 24 || (outer && (f.y - outer.y) * s < 13)) return;
    g.font = "bold " + size / s + "px " + FONT;
    g.fillStyle = palette.ink[2];
    g.fillText(title, f.x + 4 / s, f.y + 11 / s);
}

function trace(g, p, far) {
    const n = p.length - 2;
    g.moveTo(p[0], p[1]);
    if (far) for (let k = 6; k < n; k += 6) g.lineTo(p[k], p[k + 1]);
    else for (let k = 2; k + 5 < n; k += 6) g.bezierCurveTo(p[k], p[k + 1], p[k + 2], p[k + 3], p[k + 4], p[k + 5]);
}
function arrow(g, p) {
    const n = p.length, tx = p[n - 2], ty = p[n - 1], ex = p[n - 4], ey = p[n - 3], size = Math.hypot(tx - ex, ty - ey) || 1;
    const nx = (-(ty - ey) / size) * 2.6, ny = ((tx - ex) / size) * 2.6;
    g.moveTo(tx, ty);
    g.lineTo(ex + nx, ey + ny);
    g.lineTo(ex - nx, ey - ny);
    g.closePath();
}
// Edges of one look, so many at a time that a path stays quick.
function paintEdges(g, list, s, color, width, dashed) {
    const far = s < 0.2;
    g.strokeStyle = g.fillStyle = color;
    g.lineWidth = width / Math.min(1, Math.max(0.1, s * 1.2));
    for (let i = 0; i < list.length; i += 100) {
        const some = list.slice(i, i + 100);
        g.setLineDash(dashed && !far ? [5, 3] : []);
        g.beginPath();
        for (const e of some) trace(g, e.points, far);
        g.stroke();
        g.setLineDash([]);
        if (s < BOXES) continue;
        g.beginPath();
        for (const e of some) arrow(g, e.points);
        g.fill();
    }
}
function paintAllEdges(g, edges, s) {
    const groups = { plain: [], nontensor: [], before: [], after: [] };
    for (const e of edges) {
        if ((e.x2 - e.x + e.y2 - e.y) * s < 1.5) continue;
        groups[marks.ofEdge(e) || (e.tensor ? "plain" : "nontensor")].push(e);
    }
    g.globalAlpha = marks.dim ? 0.4 : 1;
    paintEdges(g, groups.nontensor, s, palette.nontensor, 1, true);
    paintEdges(g, groups.plain, s, palette.edge, 1, false);
    g.globalAlpha = 1;
    paintEdges(g, groups.before, s, palette.before, 1.8, false);
    paintEdges(g, groups.after, s, palette.after, 1.8, false);
}

function paintEdgeLabels(g, edges) {
    g.textAlign = "left";
    g.font = fontOf(inks[2]);
    for (const e of edges) {
        if (!e.label) continue;
        g.globalAlpha = marks.dim && !marks.ofEdge(e) ? 0.35 : 1;
        g.fillStyle = palette.ink[2];
        g.fillText(texts[e.label.text], e.label.x, e.label.y);
    }
    g.globalAlpha = 1;
}

// Boxes that are smaller than a pixel: one of those on a pixel is enough.
function paintDust(g, boxes, s) {
    const byLook = new Map(), last = new Set();
    for (const b of boxes) {
        const key = Math.round(b.x * s) + 65536 * Math.round(b.y * s);
        if (last.has(key)) continue;
        last.add(key);
        const look = lookOf(b.item);
        if (byLook.has(look)) byLook.get(look).push(b); else byLook.set(look, [b]);
    }
    for (const [look, list] of byLook) {
        g.fillStyle = look.ink ? look.head : look.line;
        for (const b of list) g.fillRect(b.x, b.y, Math.max(b.item.w, 1 / s), Math.max(b.item.h, 1 / s));
    }
    for (const b of boxes) if (marks.of(b.item) || marks.found.has(b.item)) {
        g.fillStyle = palette[marks.of(b.item) || "found"];
        g.fillRect(b.x, b.y, Math.max(b.item.w, 2.5 / s), Math.max(b.item.h, 2.5 / s));
    }
}

// The part (x, y) to (x2, y2) of the picture; g is scaled by s so that a point is a unit.
function paintPart(g, picture, x, y, x2, y2, s) {
    const frames = picture.frameAt(x, y, x2, y2);
    for (const f of frames) paintFrame(g, f, s);
    const edges = picture.edgeAt(x, y, x2, y2), boxes = picture.boxAt(x, y, x2, y2);
    paintAllEdges(g, edges.filter((e) => !e.over), s);
    for (const f of frames) paintFrameTitle(g, f, s);
    if (s < 0.06) paintDust(g, boxes, s);
    else for (const b of boxes) paintBox(g, b, s);
    paintAllEdges(g, edges.filter((e) => e.over), s);
    if (s >= READABLE) paintEdgeLabels(g, edges);
}
