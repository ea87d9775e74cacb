// panel.js: what is selected and all that is known of it. Data only ever becomes text.
const panel = $("panel"), MOST_LINKS = 100;
const make = (tag, text, className) => {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    if (className) e.className = className;
    return e;
};
const nameOf = (item) => (item.part === BOX ? titleOf(levels[item.at]) : item.part === OUTPUT ? "output" : texts[nodes[item.at].name]);
function linkTo(item, text) {
    const b = make("button", text || nameOf(item), "link");
    b.addEventListener("click", () => select(item, true));
    return b;
}

// 118013952 -> 118 MFLOP
function withUnit(x, units, step) {
    let i = 0;
    while (x >= step && i < units.length - 1) {
        x /= step;
        i++;
    }
    return (i === 0 && Number.isInteger(x) ? String(x) : x.toPrecision(3)) + " " + units[i];
}
const whole = (text) => Math.round(Number(text)).toLocaleString("en");
const BYTES = ["bytes", "KiB", "MiB", "GiB", "TiB"];
const asBytes = (text) => (Number(text) < 1024 ? whole(text) + " bytes" : withUnit(Number(text), BYTES, 1024) + " (" + whole(text) + " bytes)");
const readings = {
    parameters: whole,
    FLOPs: (t) => (Number(t) < 1000 ? whole(t) : withUnit(Number(t), ["", "k", "M", "G", "T", "P"], 1000) + "FLOP (" + whole(t) + ")"),
    memory: asBytes,
    "bytes read": asBytes,
    "bytes written": asBytes,
    time: (t) => withUnit(Number(t) * 1e9, ["ns", "\u00b5s", "ms", "s"], 1000),
};
const BAD = new Set(["message", "outcome", "NaN and Inf"]);

function factList(pairs) {
    const dl = make("dl");
    let before = "";
    for (const [fact, text] of pairs) {
        dl.append(make("dt", fact === before ? "" : fact), make("dd", readings[fact] ? readings[fact](text) : text, BAD.has(fact) ? "bad" : ""));
        before = fact;
    }
    return dl;
}
function linkList(title, items) {
    const part = document.createDocumentFragment();
    if (!items.length) return part;
    part.append(make("h3", title + " (" + items.length.toLocaleString("en") + ")"));
    const ul = make("ul");
    for (const i of items.slice(0, MOST_LINKS)) {
        const li = make("li"), n = nodes[i];
        li.append(n.item ? linkTo(n.item) : make("span", texts[n.name]), make("small", factOf(n, "result")));
        ul.append(li);
    }
    if (items.length > MOST_LINKS) ul.append(make("li", "\u2026 " + (items.length - MOST_LINKS).toLocaleString("en") + " more"));
    part.append(ul);
    return part;
}
const unique = (list) => [...new Set(list)];
// The nodes outside of a level that come in, and that use what goes out.
function around(level, which) {
    const all = new Set();
    for (let i = level.first; i <= level.last; i++) for (const k of nodes[i][which]) if (k < level.first || k > level.last) all.add(k);
    return [...all].sort((a, b) => a - b);
}
function crumbs(level) {
    const p = make("p", undefined, "crumbs"), chain = [];
    for (let l = level; l !== root; l = levels[l.parent]) chain.unshift(l);
    p.append(make("span", data.name));
    for (const l of chain) p.append(" \u203a ", linkTo(l.item, l.path.slice(levels[l.parent].path ? levels[l.parent].path.length + 1 : 0) || l.path));
    return p;
}
function dependencies() {
    const row = make("div", undefined, "row"), label = make("label"), box = make("input");
    box.type = "checkbox";
    box.checked = marks.highlight;
    box.id = "highlight";
    box.addEventListener("change", () => setHighlight(box.checked));
    label.append(box, " Highlight");
    const before = make("span", marks.counts[0].toLocaleString("en") + " before"), after = make("span", marks.counts[1].toLocaleString("en") + " after");
    before.prepend(make("span", undefined, "dot before"));
    after.prepend(make("span", undefined, "dot after"));
    before.title = "Nodes that it depends on";
    after.title = "Nodes that depend on it";
    row.append(label, before, after);
    return row;
}
function setHighlight(on) {
    marks.highlight = on;
    mark(marks.self);
    if ($("highlight")) $("highlight").checked = on;
    repaint();
}
function openButton(level) {
    const row = make("div", undefined, "row"), button = make("button", level.open ? "Close module" : "Open module");
    button.id = "toggle";
    button.addEventListener("click", () => toggle(level, !level.open));
    row.append(button);
    return row;
}
function showPanel() {
    const { self } = marks;
    panel.classList.remove("closed");
    panel.replaceChildren();
    const close = make("button", "\u00d7", "close");
    close.title = "Close (Esc)";
    close.setAttribute("aria-label", "Close the facts");
    close.addEventListener("click", () => {
        clearSelection();
        panel.classList.add("closed");
    });
    panel.append(close);
    if (!self) return showSummary();
    panel.append(make("h2", self.level ? titleOf(self.level) : nameOf(self.item)), crumbs(self.item.level));
    if (self.level) panel.append(openButton(self.level));
    panel.append(dependencies(), factList(factsOf(self.level ? self.item : nodes[self.item.at])));
    const n = self.level ? null : nodes[self.item.at];
    panel.append(linkList("Inputs", n ? unique(n.inputs) : around(self.level, "inputs")), linkList("Users", n ? n.users : around(self.level, "users")));
}
function sumOf(name) {
    let sum = 0;
    for (const n of nodes) sum += Number(factOf(n, name)) || 0;
    return sum;
}
function showSummary() {
    panel.append(make("h2", data.title), make("p", data.description));
    const pairs = [["nodes", nodes.length.toLocaleString("en")], ["modules", (levels.length - 1).toLocaleString("en")]];
    if (data.parameters) pairs.push(["parameters", String(data.parameters)]);
    for (const name of ["FLOPs", "time"]) if (sumOf(name) > 0) pairs.push([name, String(sumOf(name))]);
    panel.append(factList(pairs));
    const bad = [];
    nodes.forEach((n, i) => factOf(n, "outcome") && bad.push(i));
    panel.append(linkList("Nodes that did not run", bad), make("p", "Click a box for its facts, a module to open it; ? shows the keys.", "crumbs"));
}
