#!/usr/bin/python3
"""Pictures of a network whose texts are scripts, syntax, control characters and bytes that are no UTF-8, in every format:
two runs of the program write the same bytes, and what each format is for opens it. Mermaid's, draw.io's and TeX's programs are
check_tools.sh's matter. Prints TAP; what is not installed is skipped and said so.
usage: check_hostile.py UNIT (the program of unit tests)"""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from xml.etree import ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "svg"))
import browser

SCRIPT = "</script><script>alert(1)</script>"
# As readers find them in a picture, blanks aside.
TEXTS = [SCRIPT, "<img src=x onerror=alert(1)>", "\\input{/etc/passwd}", "$x$", "&amp;", "&#1;", "]]>", "--><!--", "%s%n", "#35;",
         "\\u202e!", "\\x01", "\\x1b[31m", "\\u061c", "\\xad", "\\U000e0001", "a\\nb"]
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffe\uffff\U000e0001]")
count = failed = 0


def check(what, good, more=""):
    global count, failed
    count += 1
    failed += not good
    print("ok" if good else "not ok", count, "-", what, flush=True)
    if not good:
        print("#", str(more)[:2000].replace("\n", "\n# "))


def skip(what, why):
    global count
    count += 1
    print("ok", count, "-", what, "# SKIP", why)


def run(*command):
    return subprocess.run(command, capture_output=True, timeout=300)


def bare(text):
    return re.sub(r"\s", "", text)


def has_texts(what, text):
    missing = [t for t in TEXTS if bare(t) not in bare(text)]
    check(f"{what} shows every text", not missing, missing)


def check_bytes(first, second):
    names = sorted(os.listdir(first))
    check("every format is written", len(names) >= 30 and names == sorted(os.listdir(second)), names)
    for name in names:
        with open(f"{first}/{name}", "rb") as a, open(f"{second}/{name}", "rb") as b:
            check(f"{name}: the same bytes again", a.read() == b.read())


def check_xml(work, kind):
    with open(f"{work}/hostile.{kind}", "rb") as f:
        text = f.read().decode()
    check(f"{kind}: nothing hidden in it", not HIDDEN.search(text), HIDDEN.findall(text))
    root = ElementTree.fromstring(text)
    ids = [e.get("id") for e in root.iter() if e.get("id") is not None]
    check(f"{kind}: every id once", ids and len(ids) == len(set(ids)), [i for i in ids if ids.count(i) > 1][:5])
    has_texts(kind, "\n".join([*root.itertext(), *(v for e in root.iter() for v in e.attrib.values())]))
    if not shutil.which("xmllint"):
        skip(f"{kind} is well-formed", "xmllint is not installed")
        return
    done = run("xmllint", "--noout", "--nonet", f"{work}/hostile.{kind}")
    check(f"{kind} is well-formed", done.returncode == 0, done.stderr.decode())


def check_dot(work):
    if not shutil.which("dot"):
        skip("Graphviz reads dot", "dot is not installed")
        return
    done = run("dot", "-Tcanon", f"{work}/hostile.dot")
    said = [line for line in done.stderr.decode(errors="replace").splitlines() if "size too small for label" not in line]
    check("Graphviz reads dot", done.returncode == 0 and not said, said)
    with open(f"{work}/hostile.svg", encoding="utf-8") as f:
        svg = f.read()
    for kind in ("node", "edge"):
        have = len(re.findall(r" -> ", done.stdout.decode())) if kind == "edge" else len(re.findall(r'\bid="?node-', done.stdout.decode()))
        check(f"with every {kind}", have == svg.count(f'<g id="{kind}-') > 100, have)
    # Its own picture of it is XML: no entity of a text became a character that XML forbids.
    done = run("dot", "-Tsvg", "-Gsplines=line", "-Gnslimit=1", f"{work}/hostile.dot")
    shown = done.stdout.decode()
    try:
        has_texts("Graphviz' own picture", "".join(ElementTree.fromstring(shown).itertext()).replace("\xa0", " "))
    except ElementTree.ParseError as e:
        check("Graphviz' own picture is XML", False, e)


def check_pdf(work):
    if not shutil.which("pdftotext"):
        skip("pdf is read", "pdftotext is not installed")
        return
    done = run("pdftotext", "-layout", f"{work}/hostile.pdf", "-")
    check("pdf is read", done.returncode == 0 and not done.stderr, done.stderr.decode(errors="replace"))
    has_texts("pdf", done.stdout.decode())
    with open(f"{work}/hostile.pdf", "rb") as f:
        data = f.read()
    check("pdf runs nothing", not re.search(rb"/(JavaScript|JS|OpenAction|AA|Launch|SubmitForm)\b", data))


def check_png(work):
    """Every chunk is what its sum says, and the rows are as many and as long as the head says."""
    with open(f"{work}/hostile.png", "rb") as f:
        data = f.read()
    at, rows, size, good = 8, b"", None, data[:8] == b"\x89PNG\r\n\x1a\n"
    while good and at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        good = struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0] == zlib.crc32(kind + body)
        if kind == b"IHDR":
            size = struct.unpack(">IIBBBBB", body)
        rows += body if kind == b"IDAT" else b""
        at += 12 + length
    check("png: every chunk is whole, the last one is its end", good and kind == b"IEND", at)
    width, height, depth, color = size[:4]
    pixel = depth * {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[color]
    pixels = zlib.decompress(rows)
    check("png: every row is there", len(pixels) == height * (1 + (width * pixel + 7) // 8), (size, len(pixels)))
    check("png: something is on it", len(set(pixels)) > 50)


def check_browser(work):
    if not browser.find():
        skip("a browser opens svg and html", "no Chromium is installed")
        return
    page = browser.Browser()
    try:
        page.call("Page.addScriptToEvaluateOnNewDocument", source="window.alerts = 0; window.alert = () => window.alerts++")
        for kind in ("svg", "html"):
            path = f"{work}/hostile.{kind}"
            page.open(path)
            page.settle()
            check(f"a browser opens {kind}, nothing on its console", page.console == [], page.console)
            check(f"{kind}: nothing ran", page.js("window.alerts") == 0)
            check(f"{kind}: nothing else is loaded", [u.split("#")[0] for u in page.requests] == ["file://" + path], page.requests)
            foreign = "document.querySelectorAll('img, iframe, object, embed, foreignObject, svg script, parsererror').length"
            check(f"{kind}: no text became an element", page.js(foreign) == 0)
            if kind == "svg":
                has_texts("a browser's svg", page.js("document.documentElement.textContent"))
                check("svg: no script in it", page.js("document.querySelectorAll('script').length") == 0)
                continue
            for _ in range(2):
                page.key("e")
            check("html: all modules open", page.js("fxscope.shown()").count(SCRIPT) == 1, page.js("fxscope.shown()"))
            page.js("window.dispatchEvent(new Event('beforeprint'))")
            has_texts("a browser's html", page.js("document.querySelector('#print svg').textContent"))
            page.js("window.dispatchEvent(new Event('afterprint'))")
            check("html: nothing ran with all modules open", page.js("window.alerts") == 0 and page.console == [], page.console)
    finally:
        page.close()


def main():
    with tempfile.TemporaryDirectory() as work:
        first, second = f"{work}/first", f"{work}/second"
        for folder in (first, second):
            os.mkdir(folder)
            subprocess.run([sys.argv[1], "test_writers", folder], check=True)
        check_bytes(first, second)
        for kind in ("svg", "graphml", "drawio"):
            check_xml(first, kind)
        check_dot(first)
        check_pdf(first)
        check_png(first)
        check_browser(first)
    print(f"1..{count}")
    return failed > 0


sys.exit(main())
