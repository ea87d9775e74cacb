"""torch_peer.py NAME THREADS: PyTorch's eager forward as a server: for each line N on standard input it runs N times and
answers with the least seconds (of the processor with one thread, else of the clock). The first answer is of the first run.
With --meta: ShapeProp on meta tensors, seconds a node, or why there is none. With --once: one run, nothing said, for measuring memory."""
import sys
import time

import torch

import nets

name, threads = sys.argv[1], int(sys.argv[2])
torch.set_num_threads(threads)
torch.set_grad_enabled(False)
model, x = nets.make(name)
clock = time.process_time if threads == 1 else time.perf_counter
per = 1


def run():
    model(x)


if "--meta" in sys.argv:
    from torch.fx.passes.shape_prop import ShapeProp
    try:
        gm = torch.fx.symbolic_trace(model.to("meta"))
    except torch.fx.proxy.TraceError:
        print("torch.fx can't trace it")
        sys.exit()
    x, per = x.to("meta"), len(list(gm.graph.nodes))

    def run():
        ShapeProp(gm).propagate(x)


def least(n):
    best = float("inf")
    for _ in range(n):
        start = clock()
        run()
        best = min(best, clock() - start)
    return best / per


if "--once" in sys.argv:
    run()
    sys.exit()
print(least(1), flush=True)
for line in sys.stdin:
    print(least(int(line)), flush=True)
