// keys.js: everything by keyboard, and the list of it.
const STEP = 80;
const keyRows = [
    ["Drag, wheel, arrows", "move; with Shift further, and the wheel sideways"],
    ["Ctrl wheel, pinch, + -", "larger, smaller"],
    ["f w", "show all, or its full width"],
    ["0", "full size"],
    ["Click, Enter", "facts of a box; a module opens in place. With Shift or Alt only the facts"],
    ["n p", "next, previous box"],
    ["i u", "first input, first user"],
    ["e c", "open, close one depth of modules"],
    ["h", "highlight what it depends on, and what depends on it"],
    ["/", "search: name, operator, class, module or shape, such as conv 64x56; Enter next, Shift Enter before"],
    ["d", "light or dark"],
    ["m", "hide or show the map"],
    ["Esc", "nothing selected"],
    ["?", "this list"],
];
function fillHelp() {
    const help = $("help"), table = make("table"), legend = make("ul", undefined, "legend"), title = make("h2", "Keys and colours"), form = make("form"), close = make("button", "Close");
    title.id = "help-title";
    for (const [keys, what] of keyRows) {
        const tr = make("tr"), td = make("td");
        for (const k of keys.split(", ").join(",").split(",")) td.append(make("kbd", k), " ");
        tr.append(td, make("td", what));
        table.append(tr);
    }
    data.styles.forEach((name, i) => {
        const li = make("li"), dot = make("span", undefined, "dot");
        dot.style.background = palette.style[i].head;
        dot.style.borderColor = palette.style[i].line;
        li.append(dot, name.replace("kind-", ""));
        legend.append(li);
    });
    form.method = "dialog";
    form.append(close);
    help.replaceChildren(title, table, legend, make("p", "A dashed edge carries no tensor. Print gives the whole picture on one page. The address of the page with #node=NAME shows that node."), form);
}
function showHelp() {
    fillHelp();
    $("help").showModal();
}
function step(by) {
    const list = picture.boxes.filter((b) => !isPort(b.item) && !b.item.reference);
    const now = marks.self ? list.findIndex((b) => b.item === marks.self.item) : -1;
    if (list.length) select(list[now < 0 ? 0 : (now + by + list.length) % list.length].item, true);
}
function followFirst(which) {
    const { self } = marks;
    if (!self) return;
    const list = self.level ? around(self.level, which) : nodes[self.item.at][which];
    if (list.length && nodes[list[0]].item) select(nodes[list[0]].item, true);
}
const keys = {
    "+": () => zoomBy(1.25), "=": () => zoomBy(1.25), "-": () => zoomBy(0.8), 0: () => zoomTo(1), f: fit, w: fitAcross, n: () => step(1), p: () => step(-1),
    i: () => followFirst("inputs"), u: () => followFirst("users"), e: () => openDepth(1), c: () => openDepth(-1), h: () => setHighlight(!marks.highlight),
    d: () => setTheme(palette === palettes.dark ? "light" : "dark"), m: () => (minimap.hidden = !minimap.hidden), "?": showHelp,
    "/": () => query.select(), Escape: () => clearSelection(), Enter: () => marks.self && marks.self.level && toggle(marks.self.level, !marks.self.level.open),
};
const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], PageUp: [0, -6], PageDown: [0, 6] };
document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target === query || e.target.tagName === "SELECT" || $("help").open) return;
    if (e.target.tagName === "BUTTON" && (e.key === "Enter" || e.key === " ")) return;
    const way = arrows[e.key];
    if (way && (e.target === pane || e.target === document.body)) pan(way[0] * STEP * (e.shiftKey ? 5 : 1), way[1] * STEP * (e.shiftKey ? 5 : 1));
    else if (keys[e.key]) keys[e.key]();
    else return;
    e.preventDefault();
});
