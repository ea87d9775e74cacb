// minimap.js: the whole picture small, and the part that is seen. A very long picture is widened, so that it stays visible.
const minimap = $("minimap"), mini = $("mini"), seen = $("seen"), SMALL = 150, LARGE = 260, THIN = 46;
let miniIsOld = true, miniTimer = 0, mx = 1, my = 1;
function minimapIsOld() {
    miniIsOld = true;
}
function miniSize() {
    const room = Math.max(60, Math.min(LARGE, camera.h * 0.5)), scale = Math.min(SMALL / picture.w, room / picture.h);
    return [Math.max(THIN, Math.round(picture.w * scale)), Math.max(THIN, Math.round(picture.h * scale))];
}
function paintMini() {
    const ratio = camera.ratio, [w, h] = miniSize(), g = mini.getContext("2d");
    mini.width = w * ratio;
    mini.height = h * ratio;
    mini.style.width = w + "px";
    mini.style.height = h + "px";
    mx = w / picture.w;
    my = h / picture.h;
    g.fillStyle = palette.background;
    g.fillRect(0, 0, mini.width, mini.height);
    g.setTransform(ratio * mx, 0, 0, ratio * my, 0, 0);
    g.strokeStyle = palette.frame;
    for (const f of picture.frames) {
        g.fillStyle = palette.frames[f.level.depth % 2];
        g.fillRect(f.x, f.y, f.x2 - f.x, f.y2 - f.y);
    }
    // Where many boxes share a pixel, one in so many is enough.
    const step = Math.max(1, Math.floor(picture.boxes.length / 6000));
    picture.boxes.forEach((b, i) => {
        const mark = marks.of(b.item), special = mark || marks.found.has(b.item);
        if (i % step && !special) return;
        g.fillStyle = special ? palette[mark] || (mark ? palette.self : palette.found) : (lookOf(b.item).ink ? lookOf(b.item).head : lookOf(b.item).line);
        g.fillRect(b.x, b.y, Math.max(b.item.w, 1.2 / mx), Math.max(b.item.h, 1.2 / my));
    });
    miniIsOld = false;
}
watchers.push(() => {
    if (miniIsOld && !miniTimer)
        miniTimer = setTimeout(() => {
            miniTimer = 0;
            paintMini();
            placeSeen();
        }, 30);
    else if (!miniIsOld) placeSeen();
});
function placeSeen() {
    const w = mini.width / camera.ratio, h = mini.height / camera.ratio;
    const x = Math.max(0, Math.min(w - 6, camera.x * mx)), y = Math.max(0, Math.min(h - 6, camera.y * my));
    const x2 = Math.min(w, (camera.x + camera.w / camera.s) * mx), y2 = Math.min(h, (camera.y + camera.h / camera.s) * my);
    seen.style.transform = "translate(" + x + "px, " + y + "px)";
    seen.style.width = Math.max(6, x2 - x) + "px";
    seen.style.height = Math.max(6, y2 - y) + "px";
}
function miniMove(e) {
    const box = mini.getBoundingClientRect();
    lookAt((e.clientX - box.left) / mx, (e.clientY - box.top) / my);
}
minimap.addEventListener("pointerdown", (e) => {
    e.stopPropagation();
    minimap.setPointerCapture(e.pointerId);
    miniMove(e);
});
minimap.addEventListener("pointermove", (e) => minimap.hasPointerCapture(e.pointerId) && miniMove(e));
