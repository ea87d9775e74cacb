#!/usr/bin/python3
"""The interactive page in headless Chromium: loads, opens and closes modules, finds, selects, highlights, turns dark,
prints, takes keys, and writes nothing to the console; with networks of several sizes and a hostile one. Prints TAP.
usage: check_page.py FXSCOPE UNIT (the program of unit tests); 77: no Chromium."""
import os
import subprocess
import sys
import tempfile

import browser
import networks

SHIFT, CTRL = 8, 2
count = failed = 0


def check(what, good, more=""):
    global count, failed
    count += 1
    failed += not good
    print(("ok" if good else "not ok"), count, "-", what, flush=True)
    if not good and more != "":
        print("#", str(more).replace("\n", " | "))


def equal(what, have, want):
    check(what, have == want, f"{have!r} is not {want!r}")


def picture(page, what):
    """The page's own word for it: window.fxscope."""
    return page.js(f"fxscope.{what}")


def text(page, selector):
    return page.js(f"document.querySelector({selector!r}).innerText")


def quiet(page, name, path):
    equal(f"{name}: nothing on the console", page.console, [])
    equal(f"{name}: nothing is loaded but the page", [u.split("#")[0] for u in page.requests], ["file://" + path])


def click_on(page, name, dx=0.5, dy=0.5, modifiers=0):
    area = picture(page, f"where({name!r})")
    page.click(area["x"] + area["width"] * dx, area["y"] + area["height"] * dy, modifiers)


def open_page(page, path, fragment=""):
    page.open(path, fragment)
    page.settle()


# The canvas, read from a copy; to be followed by what returns something.
READ = """
    const c = document.getElementById("canvas"), copy = new OffscreenCanvas(c.width, c.height), g = copy.getContext("2d", { willReadFrequently: true });
    g.drawImage(c, 0, 0);
    const d = g.getImageData(0, 0, c.width, c.height).data;
    """
PIXELS = "(() => {" + READ


def check_densenet(page, path):
    open_page(page, path)
    equal("the title of the window", page.js("document.title"), "DenseNet")
    check("facts of the whole", "433" in text(page, "#panel") and "7,978,856" in text(page, "#panel"))
    check("something is painted", page.js(PIXELS + """const colors = new Set();
        for (let i = 0; i < d.length; i += 40) colors.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
        return colors.size; })()""") > 8)
    equal("it starts with few modules open", picture(page, "opened()"), ["features"])
    check("closed modules are boxes", "features.denseblock1" in picture(page, "shown()"))
    check_modules(page)
    check_search(page)
    check_marks(page)
    check_camera(page)
    check_looks(page)
    quiet(page, "DenseNet-121", path)


def check_modules(page):
    before = picture(page, "shown()")
    picture(page, "select('features.denseblock1')")
    page.settle()
    place = picture(page, "where('features.denseblock1')")
    click_on(page, "features.denseblock1", dy=0.06)
    check("a click on a module opens it", "features.denseblock1" in picture(page, "opened()"))
    check("what is in it is shown", "features.denseblock1.denselayer1" in picture(page, "shown()"))
    now = picture(page, "where('features.denseblock1')")
    check("in place", abs(place["x"] - now["x"]) < 1 and abs(place["y"] - now["y"]) < 1 and now["height"] > place["height"], (place, now))
    equal("and shows its facts", picture(page, "selected()"), "features.denseblock1")
    check("with its parameters", "parameters" in text(page, "#panel") and "_DenseBlock" in text(page, "#panel"))
    page.click(now["x"] + 9, now["y"] + 9)
    equal("a click on its sign closes it", picture(page, "shown()"), before)
    page.key("e")
    check("e opens the next depth", {"features.denseblock1", "features.denseblock4"} <= set(picture(page, "opened()")))
    page.key("e")
    shown = picture(page, "shown()")
    nodes = [n for n in shown if n == "features_denseblock3_denselayer24_conv2"]
    equal("with all open every node is there once", nodes, ["features_denseblock3_denselayer24_conv2"])
    check("no more to open", page.js("document.getElementById('open-level').disabled"))
    for _ in range(3):
        page.key("c")
    equal("c closes all", picture(page, "opened()"), [])
    page.key("Escape")


# From what would be printed: pairs of boxes that overlap, edges that pass through a box, or through the frame of an open
# module in which neither end is.
GEOMETRY = """(() => {
    window.dispatchEvent(new Event("beforeprint"));
    const number = (e, name) => Number(e.getAttribute(name)), found = { boxes: 0, edges: 0, overlaps: 0, through: 0, framed: 0, where: "" };
    const boxes = [...document.querySelectorAll("#print g.node")].map(g => {
        const r = g.querySelector("rect"), x = number(r, "x"), y = number(r, "y");
        return { x: x + 1, y: y + 1, x2: x + number(r, "width") - 1, y2: y + number(r, "height") - 1, name: g.textContent.slice(0, 60) };
    }).sort((a, b) => a.y - b.y);
    found.boxes = boxes.length;
    boxes.forEach((a, i) => {
        for (let k = i + 1; k < boxes.length && boxes[k].y < a.y2; k++) if (boxes[k].x < a.x2 && boxes[k].x2 > a.x) { found.overlaps++; found.where = a.name; }
    });
    const frames = [...document.querySelectorAll("#print svg > rect")].map(r => {
        const x = number(r, "x"), y = number(r, "y");
        return { x: x + 1, y: y + 1, x2: x + number(r, "width") - 1, y2: y + number(r, "height") - 1 };
    });
    const holds = (f, x, y) => x > f.x && x < f.x2 && y > f.y && y < f.y2;
    for (const path of document.querySelectorAll("#print g.edge path:first-child")) {
        const length = path.getTotalLength(), a = path.getPointAtLength(0), b = path.getPointAtLength(length);
        // An arrow's tip is 7 points on.
        const others = frames.filter(f => !holds(f, a.x, a.y) && !holds(f, b.x, b.y) && !holds(f, b.x + 9, b.y) && !holds(f, b.x, b.y + 9));
        let hit = null, framed = false;
        found.edges++;
        for (let t = 3; t < length - 3 && !hit; t += Math.max(3, length / 200)) {
            const p = path.getPointAtLength(t);
            framed = framed || others.some(f => holds(f, p.x, p.y));
            for (const b of boxes) {
                if (b.y > p.y) break;
                if (p.x > b.x && p.x < b.x2 && p.y < b.y2) hit = b;
            }
        }
        found.framed += framed;
        if (hit) { found.through++; found.where = hit.name; }
    }
    window.dispatchEvent(new Event("afterprint"));
    return found; })()"""


def check_geometry(page, path, name, boxes):
    """With one depth of modules after the other open."""
    open_page(page, path)
    for _ in range(5):
        page.key("c")
    for depth in range(5):
        found = page.js(GEOMETRY)
        good = found["boxes"] > 4 and found["edges"] > 4 and found["overlaps"] + found["through"] + found["framed"] == 0
        check(f"{name}: no box over another, no edge through a box or frame, {depth} open", good, found)
        page.key("e")
    check(f"{name}: every node is there in the end", found["boxes"] >= boxes, found)


def find(page, words):
    page.key("/")
    page.key("a", CTRL)
    page.js("document.getElementById('query').select()")
    page.type(words)
    return text(page, "#count")


def check_search(page):
    equal("search by name", find(page, "denselayer3_conv2"), "4 found")
    page.key("Enter")
    equal("Enter shows the first", picture(page, "selected()"), "features_denseblock1_denselayer3_conv2")
    area = picture(page, "where('features_denseblock1_denselayer3_conv2')")
    check("opens the modules around it, brings it into sight", area and 0 < area["x"] < 1200 and 0 < area["y"] < 800, area)
    page.key("Enter")
    equal("Enter again the next", picture(page, "selected()"), "features_denseblock2_denselayer3_conv2")
    page.key("Enter", SHIFT)
    equal("Shift Enter the one before", picture(page, "selected()"), "features_denseblock1_denselayer3_conv2")
    equal("search by operator and shape", find(page, "torch.cat 1x256x56x56"), "1 found")
    equal("a shape may be written as it is printed", find(page, "cat [1, 256, 56, 56]"), "1 found")
    equal("part of a shape", find(page, "conv2d 64x112"), "1 found")
    equal("but no part of a number", find(page, "conv2d 64x11"), "nothing found")
    equal("search by class", find(page, "linear"), "1 found")
    find(page, "features.denseblock2")
    page.key("Enter")
    equal("a module's own name goes first", picture(page, "selected()"), "features.denseblock2")
    equal("nothing to be found", find(page, "nonsense"), "nothing found")
    equal("the count is told to screen readers", page.js("document.getElementById('count').getAttribute('aria-live')"), "polite")
    page.key("Escape")
    equal("Escape ends the search", page.js("document.getElementById('query').value + document.activeElement.id"), "picture")


def check_marks(page):
    picture(page, "select('features_denseblock1_denselayer2_conv1')")
    page.settle()
    facts = text(page, "#panel")
    for fact in ("call_module", "features.denseblock1.denselayer2.conv1", "Conv2d(96, 128", "float32[1, 128, 56, 56]", "MFLOP", "12,288"):
        check(f"facts: {fact}", fact in facts, facts)
    equal("what it depends on", picture(page, "mark('features_denseblock1_denselayer1_conv2')"), "before")
    equal("what depends on it", picture(page, "mark('features_denseblock1_denselayer2_conv2')"), "after")
    equal("what does neither", picture(page, "mark('features_denseblock4_denselayer2_conv2')"), "after")
    check("how many", "13 before" in facts or "before" in facts, facts)
    page.js("[...document.querySelectorAll('#panel .link')].find(b => b.textContent === 'features_denseblock1_denselayer2_relu1').click()")
    equal("a link goes to the input", picture(page, "selected()"), "features_denseblock1_denselayer2_relu1")
    page.key("u")
    equal("u goes to a user", picture(page, "selected()"), "features_denseblock1_denselayer2_conv1")
    page.key("h")
    equal("h takes the highlight away", picture(page, "mark('features_denseblock1_denselayer1_conv2')"), None)
    page.key("h")
    page.key("n")
    equal("n goes on", picture(page, "selected()"), "features_denseblock1_denselayer2_norm2")
    check("the address names the node", page.js("location.hash") == "#node=features_denseblock1_denselayer2_norm2", page.js("location.hash"))
    page.key("Escape")
    equal("Escape selects nothing", picture(page, "selected()"), None)


def check_camera(page):
    at = lambda: picture(page, "where('features_denseblock1_denselayer2_conv1')")
    picture(page, "select('features_denseblock1_denselayer2_conv1')")
    page.settle()
    page.key("0")
    equal("0 is full size", picture(page, "scale()"), 1)
    before = at()
    page.mouse("mousePressed", 300, 300, button="left", clickCount=1)
    page.mouse("mouseMoved", 340, 330, button="left", buttons=1)
    page.mouse("mouseReleased", 340, 330, button="left", clickCount=1)
    page.settle()
    now = at()
    check("dragging moves", abs(now["x"] - before["x"] - 40) < 2 and abs(now["y"] - before["y"] - 30) < 2, (before, now))
    equal("and selects nothing else", picture(page, "selected()"), "features_denseblock1_denselayer2_conv1")
    page.mouse("mouseWheel", 300, 300, deltaX=0, deltaY=100)
    page.settle()
    check("the wheel scrolls", abs(at()["y"] - now["y"] + 100) < 2, at())
    page.mouse("mouseWheel", 300, 300, deltaX=0, deltaY=-100, modifiers=CTRL)
    page.settle()
    check("the wheel with Ctrl enlarges", picture(page, "scale()") > 1.1)
    page.key("f")
    check("f shows all", at()["height"] < 30)
    page.key("+")
    scale = picture(page, "scale()")
    page.key("-")
    check("+ and - zoom", picture(page, "scale()") < scale)
    page.js("document.getElementById('minimap').dispatchEvent(new Event('x'))")
    box = page.js("(r => [r.x, r.y, r.width, r.height])(document.getElementById('mini').getBoundingClientRect())")
    page.key("0")
    before = at()
    page.click(box[0] + box[2] / 2, box[1] + box[3] - 3)
    check("a click on the map goes there", at()["y"] < before["y"] - 1000, (before, at()))
    page.key("ArrowDown")
    equal("arrows do not leave the page", page.js("document.scrollingElement.scrollTop"), 0)


def check_looks(page):
    ground = PIXELS + "return d[0]; })()"
    page.key("f")
    equal("light at first", [page.js("document.documentElement.dataset.theme"), page.js(ground)], ["light", 255])
    page.key("d")
    equal("d turns it dark", [page.js("document.documentElement.dataset.theme"), page.js(ground)], ["dark", 0x16])
    page.key("d")
    page.key("?")
    check("? shows the keys", page.js("document.getElementById('help').open") and "Shift" in text(page, "#help"))
    page.key("Escape")
    check("Escape closes them", not page.js("document.getElementById('help').open"))
    page.js("window.dispatchEvent(new Event('beforeprint'))")
    equal("print has every box as SVG", page.js("document.querySelectorAll('#print svg g.node').length"), len(picture(page, "shown()")))
    check("with its texts", page.js("document.querySelector('#print svg').textContent.includes('features_denseblock1_denselayer2_conv1')"))
    page.js("window.dispatchEvent(new Event('afterprint'))")
    equal("and leaves nothing behind", page.js("document.querySelectorAll('#print svg').length"), 0)
    pdf = page.call("Page.printToPDF", preferCSSPageSize=True)["data"]
    import base64
    pages = base64.b64decode(pdf).count(b"/Type /Page\n")
    equal("on one page", pages, 1)
    # What has the focus shows it, everything can be reached, nothing has no name.
    check("every control has a name", page.js("""[...document.querySelectorAll("button, input, [role=application]")].every(
        e => (e.getAttribute("aria-label") || e.textContent || e.labels && e.labels.length).toString().trim())"""))


def check_colors(page, path):
    """--color-by flops --edge-shapes: the page begins so, and can be coloured otherwise."""
    open_page(page, path)
    equal("colours as they were asked for", page.js("document.getElementById('color').value"), "flops")
    legend = text(page, "#legend")
    check("a legend says what they mean", "FLOPs, log scale" in legend and "GFLOP" in legend and "no value" in legend, legend)
    head = "(name => { const w = fxscope.where(name), r = document.getElementById('canvas').getBoundingClientRect();" + READ + \
        "const x = Math.round(w.x - r.x + 30), y = Math.round(w.y - r.y + 4), i = 4 * (y * c.width + x); return [...d.slice(i, i + 3)]; })"
    page.js("fxscope.select('features_conv0')")
    page.key("Escape")
    dark, pale = page.js(f"{head}('features_conv0')"), page.js(f"{head}('features_relu0')")
    check("what costs much is dark", sum(dark) < sum(pale), (dark, pale))
    page.js("(e => { e.value = 'family'; e.dispatchEvent(new Event('change')); })(document.getElementById('color'))")
    page.settle()
    check("another choice has another legend", "convolution" in text(page, "#legend"), text(page, "#legend"))
    check("the legend says what a module's colour is", "most FLOPs in it" in text(page, "#legend"), text(page, "#legend"))
    check("and other colours", page.js(f"{head}('features_conv0')") != dark)
    page.js("window.dispatchEvent(new Event('beforeprint'))")
    printed = page.js("document.querySelector('#print svg').textContent")
    check("print has the legend", "convolution" in printed)
    check("edges have their shapes", "1\u00d764\u00d7112\u00d7112" in printed)
    page.js("window.dispatchEvent(new Event('afterprint'))")
    quiet(page, "in colours", path)


def check_outlined(page, path, folded):
    """--depth 2, --collapse, --expand: the page begins so, and the boxes open in place."""
    open_page(page, path)
    before = picture(page, "opened()")
    check("--depth 2 closes what is 2 deep", "layer1" in before and "layer1.0" in picture(page, "shown()"), before)
    check("--collapse closes more", "layer3" in picture(page, "shown()") and "layer3.0" not in picture(page, "shown()"))
    check("--expand leaves one open", "layer4.1" in before and "layer4_1_conv1" in picture(page, "shown()"))
    place = picture(page, "where('layer1.0')")
    picture(page, "open('layer1.0', true)")
    page.settle()
    now = picture(page, "where('layer1.0')")
    check("a box opens in place", "layer1_0_conv1" in picture(page, "shown()") and
          abs(place["x"] - now["x"]) < 1 and abs(place["y"] - now["y"]) < 1 and now["height"] > place["height"], (place, now))
    picture(page, "open('layer3', true)")
    page.settle()
    check("what was in a closed one opens step by step", "layer3.0" in picture(page, "shown()") and "layer3_0_conv1" not in picture(page, "shown()"))
    picture(page, "open('layer3.0', true)")
    page.settle()
    check("down to its nodes", "layer3_0_conv1" in picture(page, "shown()"))
    quiet(page, "outlined", path)
    picture(page, "select('layer1')")
    page.settle()
    costs = [line for line in text(page, "#panel").split("\n") if "FLOP" in line]
    open_page(page, folded)
    shown = picture(page, "shown()")
    check("with --fold the first block stands for all", "layer1.0" in shown and "layer1.1" not in shown, shown)
    picture(page, "select('layer1.0')")
    page.settle()
    check("with their number", "equal blocks" in text(page, "#panel"), text(page, "#panel"))
    picture(page, "open('layer1.0', true)")
    page.settle()
    check("and opens", "layer1_0_conv1" in picture(page, "shown()"))
    page.js("window.dispatchEvent(new Event('beforeprint'))")
    check("its frame has their number", "layer1.0  BasicBlock  \u00d7 2" in page.js("document.querySelector('#print svg').textContent"))
    page.js("window.dispatchEvent(new Event('afterprint'))")
    picture(page, "select('layer1')")
    page.settle()
    equal("what is around it costs what it does without --fold", [line for line in text(page, "#panel").split("\n") if "FLOP" in line], costs)
    check("which is something", any(c.isdigit() for line in costs for c in line), costs)
    quiet(page, "folded", folded)


def check_spread(page, path):
    """A dense block's layers drawn once: the panel has the ranges, the sums, and what each has."""
    open_page(page, path)
    picture(page, "open('features.denseblock1', true)")
    picture(page, "open('features.denseblock1.denselayer1', true)")
    picture(page, "select('features_denseblock1_denselayer1_norm1')")
    page.settle()
    panel = text(page, "#panel")
    for what in ("BatchNorm2d(64\u2026224", "[1, 64\u2026224, 56, 56]", "1,728", "128\u2026448 parameters", "drawn for"):
        check(f"the panel says {what}", what in panel, panel)
    picture(page, "select('features.denseblock1.denselayer1')")
    page.settle()
    check("and of the box the sum", "335,040" in text(page, "#panel"), text(page, "#panel"))
    quiet(page, "ranges", path)


def check_overlay(page, path):
    """--overlay with closed modules: boxes have the sum or a number of their own, and open."""
    open_page(page, path)
    equal("coloured by the file", page.js("document.getElementById('color').value"), "overlay")
    check("boxes are closed", "layer1" in picture(page, "shown()") and picture(page, "opened()") == [], picture(page, "shown()"))
    for box, number in (("layer1", "12"), ("layer2", "50")):
        picture(page, f"select('{box}')")
        page.settle()
        check(f"{box} has {number}", f"value\n{number}" in text(page, "#panel").replace("\t", "\n"), text(page, "#panel"))
    picture(page, "open('layer1', true)")
    picture(page, "open('layer1.0', true)")
    picture(page, "select('layer1_0_conv2')")
    page.settle()
    check("and opens down to the nodes' own", "value\n7" in text(page, "#panel").replace("\t", "\n"), text(page, "#panel"))
    quiet(page, "overlay", path)


def check_pairs(page, path):
    """Pairs of blocks that repeat: a frame with their number, which is no depth of its own."""
    open_page(page, path)
    shown = picture(page, "shown()")
    check("the pair is open", "blocks.0, blocks.1" in picture(page, "opened()"), picture(page, "opened()"))
    check("its blocks are as deep as without it", "blocks_0_a" in shown and "blocks_1_a" in shown and "blocks_2_a" not in shown, shown)
    page.js("window.dispatchEvent(new Event('beforeprint'))")
    check("with its number", "blocks.0, blocks.1  2 blocks  \u00d7 3" in page.js("document.querySelector('#print svg').textContent"))
    page.js("window.dispatchEvent(new Event('afterprint'))")
    quiet(page, "pairs", path)


def check_focus(page, path):
    """--focus layer2 --depth 1: the module is open, and what is in it closed."""
    open_page(page, path)
    equal("what is in focus is open", picture(page, "opened()"), ["layer2"])
    check("what is in it is closed", {"layer2.0", "layer2.1"} <= set(picture(page, "shown()")), picture(page, "shown()"))


def check_system_dark(page, path):
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    open_page(page, path)
    equal("a dark system gets a dark page", page.js("document.documentElement.dataset.theme"), "dark")
    page.call("Emulation.setEmulatedMedia", features=[])


def check_fragments(page, path):
    open_page(page, path, "#node=features_denseblock2_denselayer5_relu2")
    equal("a link to a node opens what is around it", picture(page, "selected()"), "features_denseblock2_denselayer5_relu2")
    open_page(page, path, "#module=features.denseblock3")
    equal("a link to a module", picture(page, "selected()"), "features.denseblock3")
    open_page(page, path, "#node=%E0%A4%A")
    equal("a broken link selects nothing", picture(page, "selected()"), None)
    equal("and says nothing", page.console, [])


def check_touch(page, path):
    open_page(page, path)
    page.call("Emulation.setTouchEmulationEnabled", enabled=True)
    scale = picture(page, "scale()")
    touch = lambda kind, *points: page.call("Input.dispatchTouchEvent", type=kind,
                                            touchPoints=[{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)])
    touch("touchStart", (300, 300), (400, 300))
    touch("touchMove", (250, 300), (450, 300))
    touch("touchEnd")
    page.settle()
    check("two fingers zoom", picture(page, "scale()") > 1.5 * scale, picture(page, "scale()"))
    page.call("Emulation.setTouchEmulationEnabled", enabled=False)


def check_large(page, path, flat):
    open_page(page, path)
    check("5,000 nodes: few boxes at first", len(picture(page, "shown()")) < 5100)
    for _ in range(1 if flat else 2):
        page.key("e")
    check("all of them can be shown", len(picture(page, "shown()")) >= 5000)
    equal("no SVG in the page", page.js("document.querySelectorAll('svg').length"), 0)
    check("few elements", page.js("document.querySelectorAll('*').length") < 400, page.js("document.querySelectorAll('*').length"))
    equal("search", find(page, "blocks_377_mul"), "1 found")
    page.key("Enter")
    equal("select", picture(page, "selected()"), "blocks_377_mul")
    equal("highlight far away", [picture(page, f"mark('blocks_{n}_sub')") for n in (0, 499)], ["before", "after"])
    page.key("Escape")
    page.key("f")
    quiet(page, "flat" if flat else "in modules", path)


def check_hostile(page, path):
    open_page(page, path)
    page.js("window.alerts = 0; window.alert = () => window.alerts++")
    name = "</script><script>alert(1)</script>"
    equal("a hostile title is text", text(page, "#name"), name)
    for _ in range(2):
        page.key("e")
    shown = picture(page, "shown()")
    check("hostile names are shown as they are", all(n in shown for n in (name, "<img src=x onerror=alert(1)>", "__proto__", "constructor")), shown)
    check("a line separator is spelled", "line\\u2028separator" in shown, shown)
    for node in (name, "<img src=x onerror=alert(1)>", "__proto__"):
        picture(page, f"select({node!r})")
        page.settle()
        equal(f"{node} can be selected", picture(page, "selected()"), node)
        check("its name is its heading", text(page, "#panel h2") == node, text(page, "#panel h2"))
    equal("and found", find(page, "onerror=alert")[-5:], "found")
    page.key("Enter")
    page.js("window.dispatchEvent(new Event('beforeprint'))")
    equal("nothing of it became an element", page.js("document.querySelectorAll('img, #print script, #panel script, #results script').length"), 0)
    equal("nothing of it ran", page.js("window.alerts"), 0)
    equal("one script is left, the data took itself away", page.js("document.scripts.length"), 1)
    quiet(page, "hostile", path)
    page.js("(() => { const s = document.createElement('script'); s.textContent = 'window.alerts++'; document.body.append(s); })()")
    equal("the policy lets no other script run", page.js("window.alerts"), 0)


def main():
    fxscope, unit = sys.argv[1:]
    if not browser.find():
        print("1..0 # SKIP no Chromium (chromium, chromium-browser or google-chrome) is installed")
        return 77
    with tempfile.TemporaryDirectory() as work:
        def draw(name, size, *more, model=None):
            path = f"{work}/{name}.html"
            subprocess.run([fxscope, "draw", f"{work}/{model or name}.fx", "-i", size, "--meta", "-o", path, *more], check=True, capture_output=True)
            return path

        dense = draw("dense", networks.golden("densenet121", f"{work}/dense.fx"))
        colors = draw("colors", "1x3x224x224", "--color-by", "flops", "--edge-shapes", model="dense")
        right = draw("right", networks.golden("resnet50", f"{work}/right.fx"), "--direction", "LR")
        branches = draw("branches", networks.golden("inception_v3", f"{work}/branches.fx"), "--direction", "LR")
        outlined = draw("outlined", networks.golden("resnet18", f"{work}/outlined.fx"), "--depth", "2", "--collapse", "layer3", "--expand", "layer4.1")
        folded = draw("folded", "1x3x224x224", "--depth", "2", "--fold", model="outlined")
        spread = draw("spread", "1x3x224x224", "--fold", model="dense")
        with open(f"{work}/own.csv", "w") as own:
            own.write("node,zeros\nlayer1_0_conv1,5\nlayer1_0_conv2,7\nlayer2_0_conv1,3\nlayer2,50\n")
        overlay = draw("overlay", "1x3x224x224", "--depth", "1", "--overlay", f"{work}/own.csv", model="outlined")
        focus = draw("focus", "1x3x224x224", "--depth", "1", "--focus", "layer2", model="outlined")
        pairs = draw("pairs", networks.pairs(3, f"{work}/pairs.fx"), "--fold", "--depth", "2", "--expand", "blocks.1")
        large = draw("large", networks.residual(5000, f"{work}/large.fx"))
        flat = draw("flat", networks.residual(5000, f"{work}/flat.fx", modules=False))
        subprocess.run([unit, "test_render_html", f"{work}/hostile.html"], check=True)
        page = browser.Browser()
        try:
            check_densenet(page, dense)
            check_colors(page, colors)
            check_outlined(page, outlined, folded)
            check_spread(page, spread)
            check_overlay(page, overlay)
            check_focus(page, focus)
            check_pairs(page, pairs)
            check_system_dark(page, dense)
            check_fragments(page, dense)
            check_touch(page, dense)
            check_geometry(page, dense, "DenseNet-121", 433)
            check_geometry(page, right, "ResNet-50 to the right", 177)
            check_geometry(page, branches, "Inception to the right", 316)
            check_large(page, large, False)
            check_large(page, flat, True)
            check_hostile(page, f"{work}/hostile.html")
        finally:
            page.close()
    print(f"1..{count}")
    return failed > 0


sys.exit(main())
