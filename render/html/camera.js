// camera.js: which part of the picture is seen, and how large. Moving copies what is painted already and paints the rest.
const MIN_SCALE = 0.0005, MAX_SCALE = 8, EDGE = 80;
const pane = $("picture"), canvas = $("canvas"), pen = canvas.getContext("2d", { alpha: false });
const camera = { x: 0, y: 0, s: 1, w: 0, h: 0, ratio: 1 };
let picture = null, painted = null, asked = false;
const watchers = [];

function refreshPicture() {
    picture = flatten();
    picture.boxAt = indexOf(picture.boxes, picture.w, picture.h);
    picture.frameAt = indexOf(picture.frames, picture.w, picture.h);
    picture.edgeAt = indexOf(picture.edges, picture.w, picture.h);
    minimapIsOld();
    repaint();
}
function repaint() {
    painted = null;
    move();
}
function move() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
        asked = false;
        paint();
    });
}

// Pixels of the canvas at (px, py), of size pw, ph.
function paintPixels(px, py, pw, ph) {
    const k = camera.s * camera.ratio, ox = Math.round(camera.x * k), oy = Math.round(camera.y * k);
    pen.save();
    pen.beginPath();
    pen.rect(px, py, pw, ph);
    pen.clip();
    pen.fillStyle = palette.background;
    pen.fillRect(px, py, pw, ph);
    pen.setTransform(k, 0, 0, k, -ox, -oy);
    const grow = 6 / camera.s;
    paintPart(pen, picture, (ox + px) / k - grow, (oy + py) / k - grow, (ox + px + pw) / k + grow, (oy + py + ph) / k + grow, camera.s);
    pen.restore();
}
function paint() {
    if (!picture || !camera.w) return;
    const k = camera.s * camera.ratio, ox = Math.round(camera.x * k), oy = Math.round(camera.y * k), { width, height } = canvas;
    const dx = painted ? ox - painted.ox : width, dy = painted ? oy - painted.oy : height;
    if (!painted || painted.k !== k || Math.abs(dx) >= width || Math.abs(dy) >= height) paintPixels(0, 0, width, height);
    else if (dx || dy) {
        pen.drawImage(canvas, -dx, -dy);
        if (dy) paintPixels(0, dy > 0 ? height - dy : 0, width, Math.abs(dy));
        if (dx) paintPixels(dx > 0 ? width - dx : 0, 0, Math.abs(dx), height);
    }
    painted = { k, ox, oy };
    watchers.forEach((w) => w());
}

function resize() {
    const box = pane.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
    if (!box.width || !box.height) return;
    Object.assign(camera, { w: box.width, h: box.height, ratio });
    canvas.width = Math.round(box.width * ratio);
    canvas.height = Math.round(box.height * ratio);
    painted = null;
    paint();
}

// Some of the picture always stays in sight.
function keepInSight() {
    const mx = Math.min(EDGE, camera.w / 3) / camera.s, my = Math.min(EDGE, camera.h / 3) / camera.s;
    camera.x = Math.min(picture.w - mx, Math.max(mx - camera.w / camera.s, camera.x));
    camera.y = Math.min(picture.h - my, Math.max(my - camera.h / camera.s, camera.y));
}
function pan(dx, dy) {
    camera.x += dx / camera.s;
    camera.y += dy / camera.s;
    keepInSight();
    move();
}
function zoomTo(s, px = camera.w / 2, py = camera.h / 2) {
    const to = Math.min(MAX_SCALE, Math.max(Math.min(MIN_SCALE, fitScale()), s));
    camera.x += px / camera.s - px / to;
    camera.y += py / camera.s - py / to;
    camera.s = to;
    keepInSight();
    move();
}
const zoomBy = (factor, px, py) => zoomTo(camera.s * factor, px, py);
const fitScale = () => Math.min((camera.w - 16) / picture.w, (camera.h - 16) / picture.h);
function lookAt(x, y) {
    camera.x = x - camera.w / camera.s / 2;
    camera.y = y - camera.h / camera.s / 2;
    keepInSight();
    move();
}
function fit() {
    camera.s = Math.min(1.5, fitScale());
    lookAt(picture.w / 2, picture.h / 2);
}
function fitAcross() {
    camera.s = Math.min(1.5, LR ? (camera.h - 16) / picture.h : (camera.w - 16) / picture.w);
    if (LR) lookAt(camera.x + camera.w / camera.s / 2, picture.h / 2); else lookAt(picture.w / 2, camera.y + camera.h / camera.s / 2);
}
// The first look: all of it where that can be read, else its beginning in full width.
function firstLook() {
    const all = fitScale();
    if (all >= 0.55) return fit();
    camera.s = Math.min(1, Math.max(0.55, LR ? (camera.h - 16) / picture.h : (camera.w - 16) / picture.w));
    const start = picture.boxes[0], broad = picture.w * camera.s <= camera.w, high = picture.h * camera.s <= camera.h;
    camera.x = broad ? picture.w / 2 - camera.w / camera.s / 2 : LR ? 0 : (start ? (start.x + start.x2) / 2 : 0) - camera.w / camera.s / 2;
    camera.y = high ? picture.h / 2 - camera.h / camera.s / 2 : LR ? (start ? (start.y + start.y2) / 2 : 0) - camera.h / camera.s / 2 : 0;
    keepInSight();
    move();
}
// A box or frame comes into sight, large enough to be read.
function show(area) {
    if (camera.s < 0.6) camera.s = 0.9;
    const w = camera.w / camera.s, h = camera.h / camera.s, margin = 40 / camera.s;
    const inside = area.x > camera.x + margin && area.x2 < camera.x + w - margin && area.y > camera.y + margin && area.y2 < camera.y + h - margin;
    if (inside) return repaint();
    camera.x = Math.min((area.x + area.x2) / 2, area.x + w / 2 - margin) - w / 2;
    camera.y = Math.min((area.y + area.y2) / 2, area.y + h / 2 - margin) - h / 2;
    keepInSight();
    repaint();
}
const areaOf = (item) => picture.byItem.get(item) || (item.part === BOX ? picture.byLevel.get(levels[item.at]) : null);
