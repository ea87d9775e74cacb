#!/usr/bin/python3
"""Compares fxscope with its peers, interleaved in one job, and prints ratios. Called by `./dev bench`.

  ./dev bench [--only a,b,...]      whole command, forward pass and memory on resnet18, or on other networks of
                                    tests/golden/models that torchvision has
  ./dev bench --models [a,b,...]    forward passes against PyTorch and ONNX Runtime on eight networks, or on some of them
  ./dev bench --rounds N            how often each is run (the minimum counts; default 5)
  ./dev bench --threads 1,2         how many threads --models takes
  ./dev bench --layout [a,b,...]    pictures of all networks, or of some: crossings, length, bends, size and time for the
                                    layered layout, dot, dagre and elk; --seconds N: what each may take (default 60)
  ./dev bench --page                the interactive page in headless Chromium: when it is there, frames while it moves, size
  ./dev bench --python              ResNet-18 from its PyTorch source to the picture, without PyTorch and with it
  ./dev bench --graphs              microseconds a node of building, checking, copying, printing, cleaning large graphs

The peers: article_tool.py (torch.fx, ResultProbe, Graphviz, as the article that fxscope follows does it), and torch's own
forward pass. Threads are pinned to one for both sides (OMP_NUM_THREADS, OPENBLAS_NUM_THREADS; --threads 1). For --models
also onnxruntime-node, which npm puts into .cache.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "..", "golden", "models")
ENV = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

TORCH_FORWARD = """
import sys, time, torch, torchvision, warnings
warnings.simplefilter("ignore")
torch.set_num_threads(1)
kw = {"init_weights": False} if sys.argv[1] in ("googlenet", "inception_v3") else {}
m = getattr(torchvision.models, sys.argv[1])(weights=None, **kw).eval()
x = torch.randn(1, 3, 299 if sys.argv[1] == "inception_v3" else 224, 299 if sys.argv[1] == "inception_v3" else 224)
best = 1e9
with torch.no_grad():
    for _ in range(int(sys.argv[2])):
        a = time.perf_counter()
        m(x)
        best = min(best, time.perf_counter() - a)
print(best)
"""


def model_file(name, folder):
    """Module tree, declarations and graph in one file, as a user has them."""
    path = os.path.join(folder, name + ".fx")
    with open(path, "w") as out:
        out.write(open(f"{GOLDEN}/{name}.modules.txt").read())
        for line in open(f"{GOLDEN}/{name}.params.tsv"):
            kind, param, dtype, sizes = line.rstrip("\n").split("\t")
            out.write(f"{kind} {param}: torch.{dtype}{sizes}\n")
        out.write(open(f"{GOLDEN}/{name}.graph.txt").read())
    shape = open(f"{GOLDEN}/{name}.inputs.txt").readline()
    shape = "x".join(shape[shape.index("[") + 1 : shape.index("]")].split(", "))
    return path, shape


def timed(command):
    """Seconds, peak memory in MiB of one run."""
    start = time.perf_counter()
    p = subprocess.Popen(command, env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = p.communicate()
    seconds = time.perf_counter() - start
    if p.returncode != 0:
        sys.exit(f"{command[0]}: status {p.returncode}: {err.decode()[-500:]}")
    return seconds, out.decode()


def peak_memory(command):
    """MiB, by GNU time's way: the largest resident set of the process and its children."""
    code = (
        "import resource, subprocess, sys;"
        "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)"
    )
    return float(subprocess.run([sys.executable, "-c", code, *command], env=ENV, capture_output=True, text=True, check=True).stdout)


def forward_seconds(fxscope, path, shape):
    """The sum of all nodes' times, as fxscope measures them itself (statistics are apart)."""
    out = subprocess.run(
        [fxscope, "table", path, "-i", shape, "--format", "json", "--stats", "--threads", "1"],
        env=ENV, capture_output=True, text=True, check=True).stdout
    return sum(n.get("seconds", 0) for n in json.loads(out)["nodes"])


def bench(fxscope, name, rounds, folder):
    path, shape = model_file(name, folder)
    draw = [fxscope, "draw", path, "-i", shape, "-o", os.path.join(folder, name + ".svg"), "--threads", "1"]
    article = [sys.executable, os.path.join(HERE, "article_tool.py"), name, folder, "--render", "svg"]
    torch_forward = [sys.executable, "-c", TORCH_FORWARD, name, "5"]
    ours, theirs, forward, torch = [], [], [], []
    for _ in range(rounds):
        ours.append(timed(draw)[0])
        theirs.append(timed(article)[0])
        forward.append(forward_seconds(fxscope, path, shape))
        torch.append(float(timed(torch_forward)[1]))
    memory = peak_memory(draw), peak_memory(article)
    print(f"{name}, {rounds} rounds interleaved, one thread, minimum of each")
    print(f"  draw to SVG, whole command: {min(ours):8.3f} s    article's tool: {min(theirs):8.3f} s    {min(theirs) / min(ours):6.1f} times faster")
    print(f"  forward of every node:      {min(forward):8.3f} s    torch eager:    {min(torch):8.3f} s    {min(forward) / min(torch):6.2f} of torch's time")
    print(f"  peak memory:                {memory[0]:8.1f} MiB  article's tool: {memory[1]:8.1f} MiB  {memory[0] / memory[1]:6.2f} of its memory")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fxscope")
    parser.add_argument("--only", default="resnet18")
    parser.add_argument("--models", nargs="?", const="")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--graphs", action="store_true")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--layout", nargs="?", const="")
    parser.add_argument("--python", action="store_true")
    parser.add_argument("--seconds", type=int, default=60)
    args = parser.parse_args()
    build = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(args.fxscope))))
    if args.page:
        import page
        return page.run(args.fxscope, args.rounds)
    if args.layout is not None:
        import layouts
        names = [n for n in args.layout.split(",") if n]
        return layouts.run(os.path.join(build, "tests", "bench_layout"), names, args.seconds, model_file)
    if args.graphs:
        sys.exit(subprocess.run([os.path.join(build, "tests", "bench_graphs")]).returncode)
    with tempfile.TemporaryDirectory() as folder:
        if args.python:
            import python_front
            return python_front.run(os.path.abspath(args.fxscope), args.rounds, folder, sys.modules[__name__])
        if args.models is not None:
            import models
            names = [n for n in args.models.split(",") if n]
            return models.run(os.path.abspath(args.fxscope), names, args.rounds, [int(t) for t in args.threads.split(",")], folder)
        for name in args.only.split(","):
            bench(os.path.abspath(args.fxscope), name, args.rounds, folder)


main()
