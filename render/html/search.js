// search.js: finds nodes and modules by words: name, operator, class, module, shape ("conv 64x56"). Every word must be there.
const MOST_SHOWN = 200;
const query = $("query"), results = $("results");
let wordsOf = null, found = [], current = -1;

// [1, 64, 56, 56] -> 1x64x56x56
const plainShapes = (text) => text.replace(/\[[\d, ]*\]/g, (s) => s.replace(/, ?/g, "x").replace(/\[/, " ").replace(/\]/, " "));
function textFor(name, thing) {
    let all = name;
    for (const [fact, text] of thing.list ? factsOf(thing) : []) if (SEARCHED.has(fact)) all += "\n" + (fact === "result" ? plainShapes(text) : text);
    return all.toLowerCase();
}
const SEARCHED = new Set(["kind", "target", "class", "layer", "result", "module", "outcome", "message"]);
function prepare() {
    if (wordsOf) return;
    wordsOf = [];
    levels.forEach((level) => {
        if (level !== root && level.item) wordsOf.push({ item: level.item, first: level.first, text: (level.path + "\n").toLowerCase() + textFor(level.className, level.item) });
    });
    nodes.forEach((n, i) => n.item && wordsOf.push({ item: n.item, first: i + 0.5, text: textFor(texts[n.name], n) }));
    wordsOf.sort((a, b) => a.first - b.first);
}
function isNumberAt(text, at, length) {
    const digit = (c) => c >= "0" && c <= "9";
    return !digit(text[at - 1] || "") && !digit(text[at + length] || "");
}
function hasWord(text, word) {
    if (!/^\d+(x\d+)*$/.test(word)) return text.includes(word);
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) if (isNumberAt(text, at, word.length)) return true;
    return false;
}
const wordsIn = (text) => text.toLowerCase().replace(/\u00d7/g, "x").replace(/(\d)\s*,\s*(?=\d)/g, "$1x").replace(/[[\]()]/g, " ").split(/\s+/).filter(Boolean);

function search(text) {
    const words = wordsIn(text);
    prepare();
    const whole = text.trim().toLowerCase();
    found = words.length ? wordsOf.filter((w) => words.every((word) => hasWord(w.text, word)) || (whole && w.text.startsWith(whole + "\n"))) : [];
    const exact = found.findIndex((w) => w.text.startsWith(whole + "\n"));
    if (exact > 0) found.unshift(...found.splice(exact, 1));
    current = -1;
    marks.found = new Set();
    for (const w of found) marks.found.add(w.item).add(boxShowing(w.item));
    showResults(words.length > 0);
    repaint();
}
// The box that is seen where the item is: itself, or the closed module around it.
function boxShowing(item) {
    let shown = item;
    for (let level = item.level; level !== root; level = levels[level.parent]) if (!level.open) shown = level.item;
    return shown;
}
function showResults(searched) {
    results.replaceChildren();
    results.classList.toggle("some", found.length > 0);
    $("count").textContent = !searched ? "" : found.length === 0 ? "nothing found" : (current < 0 ? "" : current + 1 + " of ") + found.length.toLocaleString("en") + (current < 0 ? " found" : "");
    const from = Math.max(0, Math.min(current - MOST_SHOWN / 2, found.length - MOST_SHOWN));
    found.slice(from, from + MOST_SHOWN).forEach((w, i) => results.append(resultOf(w, from + i)));
}
function resultOf(w, i) {
    const li = make("li"), button = make("button"), small = make("small");
    button.textContent = nameOf(w.item);
    small.textContent = w.item.part === BOX ? "module " + levels[w.item.at].className : factOf(nodes[w.item.at], "class") || factOf(nodes[w.item.at], "target");
    button.append(small);
    button.addEventListener("click", () => goTo(i));
    li.setAttribute("aria-current", String(i === current));
    li.append(button);
    return li;
}
function goTo(i) {
    if (!found.length) return;
    current = (i + found.length) % found.length;
    select(found[current].item, true);
    showResults(true);
    const now = results.querySelector("[aria-current=true]");
    if (now) now.scrollIntoView({ block: "nearest" });
}
let waiting = 0;
query.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => search(query.value), nodes.length > 20000 ? 150 : 0);
});
query.addEventListener("keydown", (e) => {
    if (e.key === "Enter") goTo(current + (e.shiftKey ? -1 : 1));
    else if (e.key === "ArrowDown") goTo(current + 1);
    else if (e.key === "ArrowUp") goTo(current - 1);
    else if (e.key === "Escape") {
        query.value = "";
        search("");
        pane.focus();
    } else return;
    e.preventDefault();
});
