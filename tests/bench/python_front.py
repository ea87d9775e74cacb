"""ResNet-18 from its PyTorch source, without PyTorch and with it: the whole command, the tracing alone, the memory. Called by
bench.py --python; both sides trace samples/resnet18.py."""
import os
import sys

SAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples", "resnet18.py")
TRACE = """import sys, time
sys.path.append({folder!r})
import torch.fx, resnet18
graph = torch.fx.symbolic_trace(resnet18.ResNet18().eval()).graph
print(time.process_time(), len(graph.nodes))
"""


def run(fxscope, rounds, folder, bench):
    trace = os.path.join(folder, "trace.py")
    with open(trace, "w") as out:
        out.write(TRACE.format(folder=os.path.dirname(SAMPLE)))
    draw = [fxscope, "draw", SAMPLE, "-i", "1x3x224x224", "-o", os.path.join(folder, "resnet18.svg"), "--threads", "1"]
    shapes = draw + ["--meta"]
    article = [sys.executable, os.path.join(bench.HERE, "article_tool.py"), "resnet18", folder, "--render", "svg"]
    ours, meta, theirs, traced, torch = [], [], [], [], []
    for _ in range(rounds):
        ours.append(bench.timed(draw)[0])
        meta.append(bench.timed(shapes)[0])
        theirs.append(bench.timed(article)[0])
        traced.append(float(bench.timed([fxscope, "run", trace])[1].split()[0]))
        torch.append(float(bench.timed([sys.executable, "-W", "ignore", trace])[1].split()[0]))
    memory = bench.peak_memory(draw), bench.peak_memory(article)
    print(f"resnet18.py, {rounds} rounds interleaved, one thread, minimum of each")
    print(f"  draw to SVG, whole command: {min(ours):8.3f} s    article's tool: {min(theirs):8.3f} s    {min(theirs) / min(ours):6.1f} times faster")
    print(f"  the same, shapes alone:     {min(meta):8.3f} s                               {min(theirs) / min(meta):6.1f} times faster")
    print(f"  start to traced graph, CPU: {min(traced):8.3f} s    PyTorch:        {min(torch):8.3f} s    {min(torch) / min(traced):6.1f} times faster")
    print(f"  peak memory:                {memory[0]:8.1f} MiB  article's tool: {memory[1]:8.1f} MiB  {memory[0] / memory[1]:6.2f} of its memory")
