// pointer.js: mouse, pen and fingers: drag and wheel move, pinch and Ctrl-wheel zoom, a click selects, a click on a module opens it.
const pointers = new Map(), STILL = 4;
let dragged = 0;
const at = (e) => {
    const box = pane.getBoundingClientRect();
    return { x: e.clientX - box.left, y: e.clientY - box.top };
};
// What is under a point of the pane: a box, or a frame's head, or a frame.
function hit(p) {
    const x = camera.x + p.x / camera.s, y = camera.y + p.y / camera.s, box = picture.boxAt(x, y, x, y).pop();
    if (box) return { item: box.item, level: box.item.part === BOX ? levels[box.item.at] : null, frame: false };
    const frame = picture.frameAt(x, y, x, y).pop();
    if (!frame) return null;
    const head = y - frame.y < Math.max(HEAD, 14 / camera.s);
    return { item: frame.item, level: frame.level, frame: true, head, sign: head && x - frame.x < Math.max(20, 16 / camera.s) };
}
$("legend").addEventListener("pointerdown", (e) => e.stopPropagation());
pane.addEventListener("pointerdown", (e) => {
    if (e.button !== 0 && e.pointerType === "mouse") return;
    pane.setPointerCapture(e.pointerId);
    pointers.set(e.pointerId, at(e));
    dragged = pointers.size > 1 ? STILL + 1 : 0;
});
pane.addEventListener("pointermove", (e) => {
    const before = pointers.get(e.pointerId), now = at(e);
    if (!before) {
        const h = hit(now);
        pane.classList.toggle("over", !!h && (!h.frame || h.head));
        return;
    }
    const other = [...pointers].find(([id]) => id !== e.pointerId);
    if (other) {
        const o = other[1], was = Math.hypot(before.x - o.x, before.y - o.y), is = Math.hypot(now.x - o.x, now.y - o.y);
        if (was > 1) zoomBy(is / was, (now.x + o.x) / 2, (now.y + o.y) / 2);
        pan((before.x - now.x) / 2, (before.y - now.y) / 2);
    } else {
        dragged += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
        if (dragged > STILL) {
            pane.classList.add("moving");
            pan(before.x - now.x, before.y - now.y);
        }
    }
    pointers.set(e.pointerId, now);
});
function release(e) {
    const was = pointers.delete(e.pointerId);
    if (!pointers.size) pane.classList.remove("moving");
    if (!was || e.type === "pointercancel" || dragged > STILL) return;
    click(hit(at(e)), e.altKey || e.shiftKey);
}
pane.addEventListener("pointerup", release);
pane.addEventListener("pointercancel", release);
function click(h, only) {
    if (!h || (h.frame && !h.head)) return clearSelection();
    if (h.sign) toggle(h.level, false);
    else if (h.level && !h.frame && !h.item.reference && !only) toggle(h.level, true);
    if (!h.sign) select(h.item.part === INPUT || h.item.reference ? original(h.item) : h.item, false);
}
// A port or a reference stands for the node itself.
const original = (item) => (item.part === BOX ? levels[item.at].item : nodes[item.at].item || item);
pane.addEventListener("wheel", (e) => {
    e.preventDefault();
    const unit = e.deltaMode === 1 ? 18 : e.deltaMode === 2 ? camera.h : 1, p = at(e);
    if (e.ctrlKey || e.metaKey) zoomBy(Math.exp(-e.deltaY * unit * (Math.abs(e.deltaY) < 40 ? 0.01 : 0.002)), p.x, p.y);
    else if (e.shiftKey && !e.deltaX) pan(e.deltaY * unit, 0);
    else pan(e.deltaX * unit, e.deltaY * unit);
}, { passive: false });
pane.addEventListener("dblclick", (e) => !hit(at(e)) && zoomBy(1.6, at(e).x, at(e).y));
