// main.js: what is open, what is selected, which colours; the page's beginning.
const FEW = 40;
const say = (text) => ($("said").textContent = text);

// A module opens or closes; its upper left corner stays where it is on the screen.
function toggle(level, open) {
    const anchor = areaOf(level.item);
    if (level === root || level.open === open) return;
    setOpen(level, open);
    refreshPicture();
    const now = areaOf(level.item);
    if (anchor && now) {
        camera.x += now.x - anchor.x;
        camera.y += now.y - anchor.y;
        keepInSight();
    }
    if (!open && marks.self && !areaOf(marks.self.item)) select(level.item, false);
    else if (marks.self) showPanel();
    markFound();
    tellDepth();
    say(titleOf(level) + (open ? " is open" : " is closed"));
}
function markFound() {
    if (!found.length) return;
    marks.found = new Set();
    for (const w of found) marks.found.add(w.item).add(boxShowing(w.item));
}
// One depth more or less: the outermost modules that are closed open, the innermost that are open close.
function openDepth(by) {
    const shown = levels.filter((l) => l !== root && isShown(levels[l.parent]));
    const some = shown.filter((l) => l.open !== by > 0);
    if (!some.length) return;
    const depth = by > 0 ? Math.min(...some.map((l) => l.depth)) : Math.max(...some.map((l) => l.depth));
    const middle = picture.boxAt(camera.x, camera.y, camera.x + camera.w / camera.s, camera.y + camera.h / camera.s)[0];
    for (const l of some) if (l.depth === depth) setOpen(l, by > 0);
    refreshPicture();
    if (middle) keepNear(middle);
    if (marks.self && !areaOf(marks.self.item)) select(boxShowing(marks.self.item), false);
    markFound();
    tellDepth();
    say(by > 0 ? "modules opened" : "modules closed");
}
// What was in sight stays in sight.
function keepNear(box) {
    const now = areaOf(boxShowing(box.item));
    if (!now) return;
    camera.x += now.x - box.x;
    camera.y += now.y - box.y;
    keepInSight();
}
function tellDepth() {
    const inner = levels.filter((l) => l !== root && isShown(levels[l.parent]));
    $("open-level").disabled = !inner.some((l) => !l.open);
    $("close-level").disabled = !inner.some((l) => l.open);
    $("depth").textContent = levels.length - 1 + (levels.length === 2 ? " module" : " modules");
}
// As many depths are open at first as give a picture of a few boxes.
function openSome() {
    for (let depth = 1; ; depth++) {
        const some = levels.filter((l) => l !== root && l.depth === depth);
        if (!some.length) return;
        const before = levels.filter((l) => isShown(l)).reduce((n, l) => n + l.items.length - l.inner.filter((k) => k.open).length, 0);
        const after = before + some.reduce((n, l) => n + l.items.length - 1, 0);
        if (after > FEW) return;
        for (const l of some) setOpen(l, true);
    }
}

function select(item, look) {
    let opened = false;
    for (let level = item.level; level !== root; level = levels[level.parent])
        if (!level.open) {
            setOpen(level, true);
            opened = true;
        }
    if (opened) {
        refreshPicture();
        markFound();
        tellDepth();
    }
    mark({ item, level: item.part === BOX ? levels[item.at] : null });
    minimapIsOld();
    showPanel();
    panel.scrollTop = 0;
    const area = areaOf(item), fact = item.part === BOX ? levels[item.at].className : factOf(nodes[item.at] || item, "result");
    if (look && area) show(area); else repaint();
    setHash(item);
    say(nameOf(item) + (fact ? ", " + fact : ""));
}
function clearSelection() {
    if (!marks.self) return;
    mark(null);
    minimapIsOld();
    showPanel();
    setHash(null);
    repaint();
}

// #node=NAME or #module=PATH
let ownHash = "";
function setHash(item) {
    ownHash = !item ? "" : item.part === BOX ? "#module=" + encodeURIComponent(titleOf(levels[item.at])) : "#node=" + encodeURIComponent(nameOf(item));
    try {
        history.replaceState(null, "", ownHash || location.pathname + location.search);
    } catch (e) {
        // A page that is shown inside of another may not change its address.
    }
}
function followHash() {
    const [, kind, text] = /^#(node|module)=(.*)$/.exec(location.hash) || [];
    if (!kind || location.hash === ownHash) return false;
    let name = text;
    try {
        name = decodeURIComponent(text);
    } catch (e) {
        // As it stands, then.
    }
    const thing = kind === "node" ? nodes.find((n) => n.item && texts[n.name] === name) : levels.find((l) => l.item && titleOf(l) === name);
    if (!thing) return false;
    select(thing.item, true);
    return true;
}

function setTheme(name) {
    palette = palettes[name];
    document.documentElement.dataset.theme = name;
    newColors();
    showLegend();
    minimapIsOld();
    repaint();
}
const system = matchMedia("(prefers-color-scheme: dark)");
let chosen = data.theme !== "";
$("theme").addEventListener("click", () => {
    chosen = true;
    keys.d();
});
system.addEventListener("change", () => chosen || setTheme(system.matches ? "dark" : "light"));

// For scripts of those who show the page, and for its test.
const byName = (name) => nodes.find((n) => n.item && texts[n.name] === name) || levels.find((l) => l.item && titleOf(l) === name);
window.fxscope = Object.freeze({
    select: (name) => byName(name) && select(byName(name).item, true),
    open: (path, open) => byName(path) && toggle(byName(path), open),
    shown: () => picture.boxes.map((b) => nameOf(b.item)),
    opened: () => picture.frames.map((f) => titleOf(f.level)),
    selected: () => (marks.self ? nameOf(marks.self.item) : null),
    mark: (name) => byName(name) && marks.of(byName(name).item),
    scale: () => camera.s,
    // Where it is on the screen; null when it is not drawn.
    where: (name) => {
        const area = byName(name) && areaOf(byName(name).item), box = pane.getBoundingClientRect();
        if (!area) return null;
        const x = box.left + (area.x - camera.x) * camera.s, y = box.top + (area.y - camera.y) * camera.s;
        return { x, y, width: (area.x2 - area.x) * camera.s, height: (area.y2 - area.y) * camera.s };
    },
});

function begin() {
    palette = palettes[data.theme || (system.matches ? "dark" : "light")];
    document.documentElement.dataset.theme = palette === palettes.dark ? "dark" : "light";
    $("name").textContent = $("name").title = data.title;
    $("about").textContent = data.description + " Arrow keys move, n and p step through the boxes, / searches, ? lists all keys.";
    pane.setAttribute("aria-label", "Picture of " + data.name);
    fillColorMenu();
    if (data.open) data.open.forEach((i) => setOpen(levels[i], true));
    else openSome();
    showPanel();
    const box = pane.getBoundingClientRect();
    Object.assign(camera, { w: box.width || 800, h: box.height || 600, ratio: window.devicePixelRatio || 1 });
    canvas.width = Math.round(camera.w * camera.ratio);
    canvas.height = Math.round(camera.h * camera.ratio);
    refreshPicture();
    firstLook();
    tellDepth();
    followHash();
    paint();
    performance.mark("painted");
    new ResizeObserver(resize).observe(pane);
    watchers.push(() => ($("zoom").textContent = Math.round(camera.s * 100) + "%"));
    $("open-level").addEventListener("click", () => openDepth(1));
    $("close-level").addEventListener("click", () => openDepth(-1));
    $("zoom-in").addEventListener("click", () => zoomBy(1.25));
    $("zoom-out").addEventListener("click", () => zoomBy(0.8));
    $("fit").addEventListener("click", fit);
    $("help-button").addEventListener("click", showHelp);
    window.addEventListener("hashchange", followHash);
}
begin();
