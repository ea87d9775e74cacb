"""Every network of tests/golden/models laid out by fxscope's layered layout, by dot, and by npm's @dagrejs/dagre and elkjs,
all on the same boxes; then large graphs that are made here. Called by `./dev bench --layout [names]`.

Columns: crossings, total length of edges (thousands of points), bends (where a curve turns by five degrees or more to one
side), width and height (points), their product (millions of square points) and ratio (height to width), how often the
edges are as long as with the layered layout, seconds of the layout alone. ">N": did not end within N seconds. A is the number that
predicts dot's time (nodes + edges + twice the ranks that edges pass).
"""
import math
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "..", "golden", "models")
CACHE = os.path.join(HERE, "..", "..", ".cache", "layout")
PACKAGES = ["@dagrejs/dagre@3", "elkjs@0.12"]
LARGE = ["chain:10000", "xf:10000", "xfmask:10000", "xflines:10000", "dense:10000", "chain:100000", "xf:100000", "xfmask:100000", "xflines:100000", "dense:100000"]


def others():
    """The names of the npm engines that are there; npm fetches them once."""
    try:
        if not os.path.isdir(os.path.join(CACHE, "node_modules", "elkjs")):
            os.makedirs(CACHE, exist_ok=True)
            subprocess.run(["npm", "install", "--silent", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", CACHE, *PACKAGES], check=True, timeout=300)
        return ["dagre", "elk"]
    except (OSError, subprocess.SubprocessError) as e:
        print(f"without dagre and elk: {e}", file=sys.stderr)
        return []


def inputs(name):
    specs = []
    for line in open(f"{GOLDEN}/{name}.inputs.txt").read().split("\n"):
        if line:
            dtype, sizes = line.rstrip("]").split("[")
            specs.append(sizes.replace(", ", "x") + ("" if dtype.startswith("float") else f":{dtype}:0..1"))
    return ",".join(specs)


def rows(command, limit):
    """The tool's lines by their first word."""
    p = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    return {line.split("\t")[0]: line.split("\t")[1:] for line in p.stdout.splitlines()}


def npm_layout(engine, graph, seconds):
    out = f"{graph}.{engine}"
    try:
        subprocess.run(["node", "--stack-size=60000", os.path.join(HERE, "layout.mjs"), engine, CACHE, graph, out],
                       check=True, timeout=seconds, capture_output=True)
        return out
    except subprocess.SubprocessError:
        return None


def number(text):
    """None for what is not known."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value == value else None


def show(name, engine, values, worse="", layered=None):
    values = values or ["-"] * 6
    length, w, h = (number(values[i]) for i in (1, 3, 4))
    ours = layered and number(layered[1])
    cells = [
        (values[0], 6), (f"{length / 1000:.1f}" if length is not None else "-", 8), (values[2], 6), (values[3], 6), (values[4], 7),
        (f"{w * h / 1e6:.1f}" if w and h else "-", 8), (f"{h / w:.1f}" if w and h else "-", 7),
        (f"{length / ours:.2f}" if length is not None and ours else "-", 6), (values[5], 9),
    ]
    print(f"{name:38} {engine:8} " + " ".join(f"{text:>{room}}" for text, room in cells) + f" {worse}", flush=True)


def mean(ratios):
    """Geometric."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def summary(table):
    """Every engine against the layered layout, over the networks that it finished."""
    for engine in ("dot", "dagre", "elk"):
        both = [(found[engine], found["layered"]) for found in table if found.get(engine) and number(found[engine][0]) is not None]
        if not both:
            continue
        ratio = [mean([number(a[i]) / number(b[i]) for a, b in both if number(a[i]) and number(b[i])]) for i in (1, 5)]
        area = mean([number(a[3]) * number(a[4]) / (number(b[3]) * number(b[4])) for a, b in both])
        crossings = [sum(number(x[0]) for x in column) for column in zip(*both)]
        print(f"{engine} against layered, {len(both)} networks (geometric means): crossings {crossings[0]:.0f} to {crossings[1]:.0f}, "
              f"length {ratio[0]:.2f}, area {area:.2f}, time {ratio[1]:.0f}")


def network(tool, name, path, seconds, engines, folder):
    graph = os.path.join(folder, name)
    found = rows([tool, path, inputs(name), str(seconds), graph], 10 * seconds + 60)
    made = [out for out in (npm_layout(e, graph, seconds) for e in engines) if out]
    if made:
        found.update(rows([tool, path, inputs(name), str(seconds), "-", *made], 600))
    nodes, edges, size = found["size"]
    layered, dot = found["layered"], found["dot"]
    more = dot[0] != "-" and float(layered[0]) > float(dot[0])
    show(f"{name} ({nodes}/{edges}, A {size})", "layered", layered, "more crossings than dot" if more else "", layered)
    for engine in ["dot", *engines]:
        show("", engine, found.get(engine) or ["-"] * 5 + [f">{seconds}"], layered=layered)
    return more, found


def run(tool, names, seconds, model_file):
    engines = others()
    print(f"{'network (nodes/edges, A)':38} {'engine':8} {'cross':>6} {'length':>8} {'bends':>6} {'width':>6} {'height':>7} "
          f"{'area':>8} {'aspect':>7} {'ratio':>6} {'seconds':>9}")
    names = names or sorted(f[: -len(".graph.txt")] for f in os.listdir(GOLDEN) if f.endswith(".graph.txt"))
    with tempfile.TemporaryDirectory() as folder:
        table = [network(tool, n, model_file(n, folder)[0], seconds, engines, folder) for n in names]
        print(f"{sum(more for more, _ in table)} of {len(names)} networks have more crossings than with dot")
        summary([found for _, found in table])
        for kind in LARGE:
            found = rows([tool, kind, "", "100"], 300)
            show(kind, "layered", found.get("layered"), f"{found['layered'][6]} MiB" if "layered" in found else "")
