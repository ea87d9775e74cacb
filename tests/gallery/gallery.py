"""Draws every network of tests/golden/models in its best form (forms.txt) as SVG, PDF, and a small PNG, and writes a page
that shows them all. The folder holds all that the page needs. Called by `./dev gallery`.
usage: gallery.py FXSCOPE FOLDER [NETWORK...]
"""
import html
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "..", "golden", "models")
ROOM = (760, 1000)  # pixels of a small picture, twice what it is shown with
SMALLEST_DPI = 5

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Networks drawn by fxscope</title>
<style>
body { font: 15px/1.45 "DejaVu Sans", Verdana, sans-serif; margin: 2rem; background: #f4f5f7; color: #24292f; }
main { display: grid; grid-template-columns: repeat(auto-fill, minmax(380px, 1fr)); gap: 1.5rem; }
article { background: #fff; border: 1px solid #d5d9de; border-radius: 6px; padding: 1rem; display: flex; flex-direction: column; }
h2 { font-size: 1.05rem; margin: 0 0 .5rem; }
.picture { flex: 1; display: flex; align-items: center; justify-content: center; }
img { max-width: 100%%; height: auto; }
p { margin: .5rem 0 0; font-size: .8rem; color: #57606a; overflow-wrap: anywhere; }
code { font-size: .75rem; }
</style></head><body>
<h1>%d networks drawn by fxscope</h1>
<main>
%s</main>
</body></html>
"""
CARD = """<article id="{name}"><h2>{name}</h2>
<a class="picture" href="{name}.svg"><img src="{name}.png" alt="{description}" width="{w}" height="{h}" loading="lazy"></a>
<p>{description}</p>
<p><code>{command}</code></p>
<p>{links}</p></article>
"""


def forms():
    for line in open(os.path.join(HERE, "forms.txt")):
        words = line.split()
        if words and words[0] != "#":
            yield words[0], words[1:]


def write_model(name, path):
    """Module tree, declarations and graph in one file, as a user has them."""
    with open(path, "w") as out:
        out.write(open(f"{GOLDEN}/{name}.modules.txt").read())
        for line in open(f"{GOLDEN}/{name}.params.tsv"):
            kind, param, dtype, sizes = line.rstrip("\n").split("\t")
            out.write(f"{kind} {param}: torch.{dtype}{sizes}\n")
        out.write(open(f"{GOLDEN}/{name}.graph.txt").read())


def inputs(name):
    """-i options."""
    words = []
    for line in open(f"{GOLDEN}/{name}.inputs.txt"):
        if line.strip():
            dtype, sizes = line.strip().rstrip("]").split("[")
            words += ["-i", sizes.replace(", ", "x") + ("" if dtype.startswith("float") else f":{dtype}:0..1")]
    return words


def draw(fxscope, name, folder, options, outputs):
    model = os.path.join(folder, name + ".fx")
    command = [fxscope, "draw", model, *inputs(name), "--meta", *options]
    for path in outputs:
        command += ["-o", os.path.join(folder, path)]
    p = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if p.returncode != 0:
        sys.exit(f"{name}: {' '.join(command)}: status {p.returncode}: {p.stderr}")


def pages(fxscope):
    """Formats to link to, beside the picture itself: the interactive page where fxscope has it."""
    help_text = subprocess.run([fxscope, "draw", "--help"], capture_output=True, text=True).stdout
    return ["svg", "pdf"] + (["html"] if re.search(r"\.html\b", help_text) else [])


def card(fxscope, name, options, folder, formats):
    write_model(name, os.path.join(folder, name + ".fx"))
    draw(fxscope, name, folder, options, [f"{name}.{f}" for f in formats])
    head = open(os.path.join(folder, name + ".svg"), encoding="utf-8").read(100000)
    w, h = (float(x) for x in re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', head).groups())
    dpi = max(SMALLEST_DPI, min(192.0, *(72 * room / side for room, side in zip(ROOM, (w, h)))))
    draw(fxscope, name, folder, [*options, "--dpi", f"{dpi:.3f}", "--force"], [name + ".png"])
    description = html.unescape(re.search(r"<desc[^>]*>(.*?)</desc>", head, re.S).group(1))
    links = " · ".join(f'<a href="{name}.{f}">{f.upper()}</a>' for f in formats) + f' · <a href="{name}.fx">model</a>'
    command = " ".join(["fxscope draw", name + ".fx", *inputs(name), "--meta", *options, "-o", name + ".svg"])
    return CARD.format(name=name, description=html.escape(description, quote=True), command=html.escape(command), links=links,
                       w=round(w * dpi / 144), h=round(h * dpi / 144))


def main():
    fxscope, folder, *names = sys.argv[1:]
    networks = {f[: -len(".graph.txt")] for f in os.listdir(GOLDEN) if f.endswith(".graph.txt")}
    known = dict(forms())
    if set(known) != networks:
        sys.exit(f"forms.txt and tests/golden/models differ: {', '.join(sorted(set(known) ^ networks))}")
    os.makedirs(folder, exist_ok=True)
    formats = pages(fxscope)
    cards = [card(fxscope, name, options, folder, formats) for name, options in known.items() if not names or name in names]
    with open(os.path.join(folder, "index.html"), "w", encoding="utf-8") as out:
        out.write(PAGE % (len(cards), "".join(cards)))
    print(f"{len(cards)} networks: {os.path.join(folder, 'index.html')}")


main()
