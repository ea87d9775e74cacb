// print.js: on paper and in a PDF the whole picture stands as SVG, in the light colours, on one page of its size.
const SVG = "http://www.w3.org/2000/svg", MOST_LABELS = 20000, LONGEST = 14000, LEGEND = 40;
const round1 = (x) => Math.round(x * 10) / 10;
function shape(tag, attributes, text) {
    const e = document.createElementNS(SVG, tag);
    for (const name in attributes) e.setAttribute(name, attributes[name]);
    if (text !== undefined) e.textContent = text;
    return e;
}
const rectOf = (a, more) => shape("rect", { x: round1(a.x), y: round1(a.y), width: round1(a.x2 - a.x), height: round1(a.y2 - a.y), ...more });
function svgText(to, ink, text, x, y, w, h, color) {
    eachLine(ink, text, x, y, w, h, (line, tx, ty, centred) => {
        const e = shape("text", { x: round1(tx), y: round1(ty), fill: color || palette.ink[ink] }, line);
        if (!centred) e.setAttribute("text-anchor", "start");
        if (inks[ink].bold) e.setAttribute("font-weight", "bold");
        // A reader without the font that was measured with gets the text narrowed into its cell.
        pen.font = fontOf(inks[ink]);
        const width = pen.measureText(line).width;
        if (width > w - 2 * PAD_X - 1) {
            e.setAttribute("textLength", round1(Math.min(w - PAD_X, width)));
            e.setAttribute("lengthAdjust", "spacingAndGlyphs");
        }
        to.append(e);
    });
}
function svgBox(b, labels) {
    const g = shape("g", { class: "node" }), { item, x, y } = b, style = lookOf(item), port = isPort(item);
    g.append(rectOf(b, { fill: palette.body, stroke: port ? palette.nontensor : style.line, "stroke-width": item.part === BOX ? 1.5 : 0.75, rx: port ? 8 : 0 }));
    if (!labels) return g;
    let path = "";
    eachRow(item, (top, h, k, a, ta, ink, tb) => {
        if (k === 0 && !port) g.append(shape("rect", { x, y, width: item.w, height: h, fill: style.head, stroke: style.line, "stroke-width": 0.75 }));
        if (k > 0) path += "M" + round1(x) + " " + round1(y + top) + "h" + item.w;
        if (tb) path += "M" + round1(x + item.split) + " " + round1(y + top) + "v" + h;
        svgText(g, port ? 2 : a, ta, x, y + top, tb ? item.split : item.w, h, k === 0 && style.ink);
        if (tb) svgText(g, ink, tb, x + item.split, y + top, item.w - item.split, h);
    });
    if (path) g.append(shape("path", { d: path, stroke: style.line, "stroke-width": 0.75, fill: "none" }));
    return g;
}
function svgEdge(e) {
    const p = e.points, color = e.tensor ? palette.edge : palette.nontensor, n = p.length, g = shape("g", { class: "edge" });
    let d = "M" + round1(p[0]) + " " + round1(p[1]) + "C", tip = "";
    for (let k = 2; k < n - 2; k += 2) d += " " + round1(p[k]) + " " + round1(p[k + 1]);
    arrow({ moveTo: (x, y) => (tip += "M" + round1(x) + " " + round1(y)), lineTo: (x, y) => (tip += "L" + round1(x) + " " + round1(y)), closePath: () => (tip += "z") }, p);
    const line = shape("path", { d, stroke: color, fill: "none" });
    if (!e.tensor) line.setAttribute("stroke-dasharray", "5 3");
    g.append(line, shape("path", { d: tip, fill: color }));
    return g;
}
// Above the picture, in two lines.
function svgLegend() {
    const g = shape("g", { class: "legend", "text-anchor": "start" }), l = legendOf();
    let x = 12;
    const word = (text) => {
        g.append(shape("text", { x, y: 32 - LEGEND, fill: palette.ink[1] }, text));
        x += 6.5 * text.length + 10;
    };
    const box = (color, gap) => {
        g.append(shape("rect", { x, y: 23 - LEGEND, width: 11, height: 11, fill: color, stroke: palette.edge, "stroke-width": 0.4 }));
        x += 11 + gap;
    };
    g.append(shape("text", { x, y: 14 - LEGEND, fill: palette.ink[0], "font-weight": "bold" }, coloring.by.title + (l.log ? ", log scale" : "")));
    if (l.steps) {
        word(l.low);
        for (const color of l.steps) box(color, 0);
        x += 6;
        word(l.high);
    }
    for (const [color, text] of l.entries) {
        box(color, 5);
        word(text);
    }
    return g;
}
function svgOf(scene) {
    const svg = shape("svg", { viewBox: "0 " + (coloring.told ? -LEGEND : 0) + " " + scene.w + " " + (scene.h + (coloring.told ? LEGEND : 0)), "font-family": FONT, "font-size": 10, "text-anchor": "middle", role: "img" });
    svg.append(shape("title", {}, data.title));
    for (const f of scene.frames) {
        svg.append(rectOf(f, { fill: palette.frames[f.level.depth % 2], stroke: palette.frame, "stroke-width": 0.9, rx: 5 }));
        svg.append(shape("text", { x: round1(f.x + 6), y: round1(f.y + 13), fill: palette.ink[0], "font-weight": "bold", "text-anchor": "start" }, titleOf(f.level) + "  " + kindOf(f.level)));
    }
    const labels = scene.boxes.length <= MOST_LABELS;
    for (const e of scene.edges) if (!e.over) svg.append(svgEdge(e));
    for (const b of scene.boxes) svg.append(svgBox(b, labels));
    for (const e of scene.edges) if (e.over) svg.append(svgEdge(e));
    for (const e of scene.edges) if (e.label) svg.append(shape("text", { x: round1(e.label.x), y: round1(e.label.y), fill: palette.ink[2], "text-anchor": "start" }, texts[e.label.text]));
    if (coloring.told) svg.append(svgLegend());
    return svg;
}
let pageRule = -1;
function beforePrint() {
    const screen = palette, sheet = document.styleSheets[0];
    palette = palettes.light;
    newColors();
    const svg = svgOf(picture), high = picture.h + (coloring.told ? LEGEND : 0), scale = Math.min(1, LONGEST / Math.max(picture.w, high)), w = Math.ceil(picture.w * scale), h = Math.ceil(high * scale);
    palette = screen;
    newColors();
    svg.setAttribute("width", w + "pt");
    svg.setAttribute("height", h + "pt");
    $("print").replaceChildren(svg);
    if (pageRule >= 0) sheet.deleteRule(pageRule);
    pageRule = sheet.insertRule("@page { size: " + (w + 2) + "pt " + (h + 2) + "pt; margin: 0; }", sheet.cssRules.length);
}
window.addEventListener("beforeprint", beforePrint);
window.addEventListener("afterprint", () => $("print").replaceChildren());
