// colors.js: the two looks of the page; what the heads of boxes say by their colour, and the legend of it.
const hex = (n) => "#" + n.toString(16).padStart(6, "0");
function paletteOf(list, scale) {
    const n = inks.length, style = [], colors = scale.map(hex), steps = colors.length - 3 - data.families.length;
    for (let i = 4 + n; i < list.length; i += 2) style.push({ head: hex(list[i]), line: hex(list[i + 1]), ink: null });
    return {
        background: hex(list[0]), body: hex(list[1]), edge: hex(list[2]), nontensor: hex(list[3]), ink: list.slice(4, 4 + n).map(hex), style,
        steps: colors.slice(0, steps), none: colors[steps], first: colors[steps + 1], inherited: colors[steps + 2], family: colors.slice(steps + 3),
    };
}
const palettes = {
    light: { ...paletteOf(data.themes.light, data.palettes.light), self: "#0b62c4", before: "#1a7f6b", after: "#b35c00", found: "#d4a500", frames: ["#f6f8fa", "#eef2f6"], frame: "#9aa5b1" },
    dark: { ...paletteOf(data.themes.dark, data.palettes.dark), self: "#6cb0ff", before: "#55c9ad", after: "#ffae57", found: "#e3b341", frames: ["#1b2025", "#20262c"], frame: "#5a6570" },
};
let palette = palettes.light;

// Luminance as WCAG 2 has it; black or white on a colour, whichever is easier to read; the colour of a box's lines.
const channels = (color) => [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16));
function luminance(color) {
    const [r, g, b] = channels(color).map((c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : Math.pow((c / 255 + 0.055) / 1.055, 2.4)));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
const inkOn = (color) => (luminance(color) > 0.179 ? "#000000" : "#ffffff");
const between = (a, b) => "#" + channels(a).map((c, i) => ((c + channels(b)[i]) >> 1).toString(16).padStart(2, "0")).join("");
const paints = new Map();
function paintOf(color) {
    const key = color + palette.edge;
    if (!paints.has(key)) paints.set(key, { head: color, line: between(color, palette.edge), ink: inkOn(color) });
    return paints.get(key);
}

// What boxes can be coloured by: name of the option, of the fact, title.
const measures = [
    ["kind", "", "kind"], ["family", "family", levels.length > 1 ? "family of operators (of a module: most FLOPs in it)" : "family of operators"], ["flops", "FLOPs", "FLOPs"], ["params", "parameters", "parameters"],
    ["memory", "memory", "memory of the result"], ["time", "time", "time"], ["nan", "NaN or Inf", "NaN and Inf"], ["overlay", "value", data.valueTitle],
].map(([name, fact, title]) => ({ name, fact, title, number: !["kind", "family", "nan"].includes(name), range: null }));
const coloring = { by: measures[0], told: data.colorBy !== "" };
const WIDE = 100;

const thingOf = (item) => (item.part === BOX ? levels[item.at].item : nodes[item.at]);
function everyThing(fn) {
    nodes.forEach((n) => n.item && fn(n));
    levels.forEach((l) => l.item && fn(l.item));
}
// The numbers of all boxes of all levels, so that a colour means the same whatever is open.
function rangeOf(m) {
    if (m.range) return m.range;
    const r = { low: Infinity, high: -Infinity, least: Infinity, n: 0, none: 0, log: false };
    everyThing((thing) => {
        const text = factOf(thing, m.fact), x = Number(text);
        if (text === "") return r.none++;
        r.n++;
        r.low = Math.min(r.low, x);
        r.high = Math.max(r.high, x);
        if (x > 0) r.least = Math.min(r.least, x);
    });
    r.log = data.scale === 2 || (data.scale === 0 && r.low > 0 && r.high / r.low >= WIDE);
    if (r.log) r.low = r.least;
    return (m.range = r);
}
const isThere = (m) => m.name === "kind" || m.name === coloring.by.name || hasFact(m.fact);
function hasFact(fact) {
    const which = factNames.indexOf(fact);
    return nodes.some((n) => {
        for (let k = 0, at = n.factsAt + 1; k < n.list[n.factsAt]; k++, at += 2) if (n.list[at] === which) return true;
        return false;
    });
}
function stepOf(r, x) {
    const steps = palette.steps.length, f = r.log ? Math.log10 : (v) => v;
    if (!(r.high > r.low)) return steps >> 1;
    return Math.max(0, Math.min(steps - 1, Math.floor(((f(x) - f(r.low)) / (f(r.high) - f(r.low))) * steps)));
}
const FAILED = data.styles.indexOf("failed");
function colorOf(item) {
    const kind = palette.style[item.style], m = coloring.by;
    if (m.name === "kind" || item.style >= FAILED || isPort(item)) return kind;
    const text = factOf(thingOf(item), m.fact);
    if (m.name === "family") return paintOf(text ? palette.family[data.families.indexOf(text)] : palette.none);
    if (m.name === "nan") return paintOf(text === "begins here" ? palette.first : text ? palette.inherited : palette.none);
    const r = rangeOf(m), x = Number(text);
    return paintOf(text === "" || (r.log && x <= 0) ? palette.none : palette.steps[stepOf(r, x)]);
}
// The look of a box: remembered until the colours change.
let round = 1;
function lookOf(item) {
    if (item.round !== round) {
        item.round = round;
        item.look = colorOf(item);
    }
    return item.look;
}
const newColors = () => round++;

// [colour, text] of each entry; a scale's steps stand between its two ends.
function legendOf() {
    const m = coloring.by;
    if (m.name === "kind") return { entries: data.styles.map((s, i) => [palette.style[i].head, s.replace("kind-", "")]).filter((e, i) => nodes.some((n) => n.style === i)) };
    if (m.name === "family") {
        const there = new Set(nodes.map((n) => factOf(n, "family")));
        return { entries: data.families.map((f, i) => [palette.family[i], f]).filter(([, f]) => there.has(f)).concat(there.has("") ? [[palette.none, "no operator"]] : []) };
    }
    if (m.name === "nan") return { entries: [[palette.first, "begins here"], [palette.inherited, "from an input"], [palette.none, "finite"]] };
    const r = rangeOf(m), read = readings[m.fact] || ((t) => String(Number(Number(t).toPrecision(4)))), short = (x) => read(String(x)).replace(/ \(.*/, "");
    if (r.n === 0) return { entries: [[palette.none, "no value"]] };
    return { steps: r.high > r.low ? palette.steps : [palette.steps[palette.steps.length >> 1]], low: short(r.low), high: r.high > r.low ? short(r.high) : "", log: r.log, entries: r.none ? [[palette.none, "no value"]] : [] };
}
function swatch(color, text) {
    const li = make("span", undefined, "entry"), dot = make("span", undefined, "dot");
    dot.style.background = color;
    li.append(dot, text);
    return li;
}
function showLegend() {
    const box = $("legend"), l = legendOf(), m = coloring.by;
    box.hidden = !coloring.told;
    box.replaceChildren(make("strong", m.title + (l.steps && l.high ? (l.log ? ", log scale" : ", linear scale") : "")));
    if (l.steps) {
        const row = make("span", undefined, "entry"), steps = make("span", undefined, "steps");
        for (const color of l.steps) steps.append(make("i"));
        [...steps.children].forEach((e, i) => (e.style.background = l.steps[i]));
        row.append(l.low + " ", steps, " " + l.high);
        box.append(row);
    }
    for (const [color, text] of l.entries) box.append(swatch(color, text));
}
function setColoring(name) {
    coloring.by = measures.find((m) => m.name === name) || measures[0];
    coloring.told = true;
    $("color").value = coloring.by.name;
    newColors();
    showLegend();
    minimapIsOld();
    repaint();
}
function fillColorMenu() {
    const menu = $("color");
    coloring.by = measures.find((m) => m.name === data.colorBy) || measures[0];
    for (const m of measures.filter(isThere)) {
        const option = make("option", m.name === "kind" ? "Colour: kind" : m.title);
        option.value = m.name;
        menu.append(option);
    }
    menu.value = coloring.by.name;
    menu.addEventListener("change", () => setColoring(menu.value));
    showLegend();
}
