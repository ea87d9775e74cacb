"""models.py: whole networks against PyTorch and ONNX Runtime: one table with the goals. Called by bench.py --models.

All peers live at the same time and are asked in turn, so that what else the machine does hits all of them; the least time
counts. With one thread it is processor time, else the time that passes. Threads are pinned for all."""
import json
import math
import os
import resource
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
CACHE = os.path.join(ROOT, ".cache")
MODULE = os.path.join(CACHE, "onnxruntime", "node_modules", "onnxruntime-node")
# This process stays small: a child's peak memory begins with its parent's. So PyTorch is not imported here.
ALL = ("resnet18", "resnet50", "mobilenet_v2", "vgg16", "densenet121", "vit_b_16", "text_encoder", "lstm")
FIRST_RUNS = 4  # a process has one: the least of a few, as of the runs behind it
CONVOLUTIONAL = ("resnet18", "resnet50", "mobilenet_v2", "vgg16", "densenet121")


def environment(threads):
    # libgomp's waiting threads would fight OpenBLAS's: passive is the best setting for PyTorch
    t = str(threads)
    return dict(os.environ, OMP_NUM_THREADS=t, OPENBLAS_NUM_THREADS=t, MKL_NUM_THREADS=t, OMP_WAIT_POLICY="passive",
                KMP_BLOCKTIME="0", CUDA_VISIBLE_DEVICES="")


def install_onnxruntime():
    """Into a folder that git ignores; its install scripts would fetch other builds and are not run."""
    if os.path.isdir(MODULE):
        return True
    folder = os.path.dirname(os.path.dirname(MODULE))
    os.makedirs(folder, exist_ok=True)
    try:
        subprocess.run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", folder,
                        "onnxruntime-node@1.30.0"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError) as e:
        print(f"onnxruntime-node can't be installed ({e}): its columns stay empty", file=sys.stderr)
        return False
    return True


class Server:
    def __init__(self, command, threads):
        self.p = subprocess.Popen(command, env=environment(threads), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
        self.why = "it gave no time"  # where it did not
        self.first = self.answer()
        self.best = math.inf

    def answer(self):
        line = self.p.stdout.readline()
        try:
            return float(line)
        except ValueError:
            self.why = line.strip() or self.why
            return math.nan

    def round(self, n):
        if self.p.poll() is None:
            print(n, file=self.p.stdin, flush=True)
            self.best = min(self.best, self.answer())

    def close(self):
        self.p.stdin.close()
        self.p.stdout.close()
        self.p.wait()


class Ours:
    def __init__(self, command):
        self.command, self.facts = command, {}

    def round(self, n):
        out = subprocess.run(self.command + ["--rounds", str(n)], env=environment(1), capture_output=True, text=True)
        if out.returncode:
            sys.exit(f"{' '.join(self.command)}: {out.stderr}")
        now = json.loads(out.stdout)
        if now["failed"]:
            sys.exit(f"{' '.join(self.command)}: nodes failed: {out.stderr}")
        for key, x in now.items():
            if isinstance(x, (int, float)):
                self.facts[key] = min(self.facts.get(key, math.inf), x)


def peak_memory(command, threads):
    """MiB: the largest resident set of the process."""
    p = subprocess.Popen(command, env=environment(threads), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(p.pid, 0)
    p.returncode = status
    return used.ru_maxrss / 1024 if status == 0 else math.nan


def clamp(repeat, seconds):
    """How often a peer runs in one round: about as long for all of them."""
    return max(1, min(repeat, int(0.6 / max(seconds, 1e-4))))


def measure(program, name, spec, folder, threads, rounds, ort):
    base = os.path.join(folder, name)
    shape, _, kind = spec.partition(":")
    ours = [program, "bench", base + ".fx", "-i", spec, "--weights", base + ".safetensors", "--threads", str(threads),
            "--format", "json"] + (["--processor-time"] if threads == 1 else [])
    peers = {"torch": Server([sys.executable, os.path.join(HERE, "torch_peer.py"), name, str(threads)], threads)}
    for level in ("disabled", "all") if ort else ():
        peers["ort " + level] = Server(["node", os.path.join(HERE, "ort_peer.js"), MODULE, base + ".onnx", str(threads),
                                        level, shape, "int64" if kind else "float32"], threads)
    us = Ours(ours)
    repeat = clamp(20, peers["torch"].first)
    for _ in range(rounds):
        us.round(repeat)
        for _ in range(FIRST_RUNS):
            us.round(1)
        for p in peers.values():
            p.round(repeat)
    for p in peers.values():
        p.close()
    once = [program, "table", base + ".fx", "-i", spec, "--weights", base + ".safetensors", "--threads", str(threads),
            "--stats"]
    them = [sys.executable, os.path.join(HERE, "torch_peer.py"), name, str(threads), "--once"]
    return us.facts, {k: p.best for k, p in peers.items()}, peak_memory(once, threads), peak_memory(them, threads)


def figures(name, threads, facts, peers, memory, torch_memory, one_thread):
    ours = facts["seconds_with_statistics"]
    row = {"model": name, "threads": threads, "ours": ours, "torch": peers["torch"],
           "ort off": peers.get("ort disabled", math.nan), "ort all": peers.get("ort all", math.nan)}
    row["/torch"], row["/off"], row["/all"] = (ours / row[k] for k in ("torch", "ort off", "ort all"))
    row["first"] = facts["first_seconds"] / ours
    row["stats"] = ours / facts["seconds_without_statistics"] - 1
    row["speed-up"] = one_thread / ours if one_thread else math.nan
    row["memory"], row["torch's"] = memory, torch_memory
    row["act/least"] = facts["activation_bytes"] / facts["least_activation_bytes"]
    return row


def misses(row):
    """Which goals the row misses, each as what it is about."""
    name, one = row["model"], row["threads"] == 1
    goals = [("torch", row["/torch"], 1.0), ("first", row["first"], 1.4),
             ("stats", row["stats"], 0.30 if name == "mobilenet_v2" else 0.15),
             ("memory", row["memory"] / row["torch's"], 0.8), ("activations", row["act/least"], 2.0)]
    if one:
        goals += [("ort off", row["/off"], 1.05), ("ort all", row["/all"], 2.0 if name == "mobilenet_v2" else 1.25)]
    elif name in CONVOLUTIONAL:
        goals.append(("speed-up", -row["speed-up"], -1.5))
    return [what for what, have, limit in goals if have > limit]


COLUMNS = [("model", "{:<13}"), ("threads", "{:>7}"), ("ours", "{:>7.1f}"), ("torch", "{:>7.1f}"), ("ort off", "{:>7.1f}"),
           ("ort all", "{:>7.1f}"), ("/torch", "{:>6.2f}"), ("/off", "{:>5.2f}"), ("/all", "{:>5.2f}"),
           ("first", "{:>5.2f}"), ("stats", "{:>5.0%}"), ("speed-up", "{:>8.2f}"), ("memory", "{:>6.0f}"),
           ("torch's", "{:>7.0f}"), ("act/least", "{:>9.2f}")]


def print_head():
    print("  ".join(name.ljust(13) if name == "model" else name.rjust(len(form.format(0))) for name, form in COLUMNS), " goals")


def print_row(row):
    cells = []
    for name, form in COLUMNS:
        x = row[name] * 1e3 if name in ("ours", "torch", "ort off", "ort all") else row[name]
        text = form.format(x)
        cells.append("-".rjust(len(text)) if isinstance(x, float) and math.isnan(x) else text)
    bad = misses(row)
    print("  ".join(cells), " met" if not bad else " missed: " + ", ".join(bad), flush=True)


def bench_meta(program, names, specs, folder, rounds):
    """Microseconds a node of shapes alone, against ShapeProp on meta tensors; and 10,000 nodes, the whole process.

    By the clock, the least of many rounds: asking for the processor time takes longer than a node does."""
    print("\nshapes alone, microseconds a node         ours   ShapeProp   times")
    for name in names:
        base = os.path.join(folder, name)
        us = Ours([program, "bench", base + ".fx", "-i", specs[name], "--threads", "1", "--meta", "--format", "json"])
        peer = Server([sys.executable, os.path.join(HERE, "torch_peer.py"), name, "1", "--meta"], 1)
        for _ in range(rounds):
            us.round(50)
            peer.round(5)
        peer.close()
        have = us.facts["seconds_without_statistics"] / us.facts["node_count"]
        times = peer.best / have
        if math.isinf(times) or math.isnan(times):
            print(f"  {name:<34} {have * 1e6:>9.2f} {'-':>11} {'-':>7}  ({peer.why})", flush=True)
            continue
        print(f"  {name:<34} {have * 1e6:>9.2f} {peer.best * 1e6:>11.1f} {times:>7.0f}  "
              f"{'met' if times >= 100 else 'missed'}", flush=True)
    bench_chain(program, folder, rounds)


def bench_chain(program, folder, rounds):
    path = os.path.join(folder, "chain.fx")
    with open(path, "w") as f:
        f.write("Chain()\ngraph():\n    %x : [#users=1] = placeholder[target=x]\n")
        last = "x"
        for i in range(9998):
            f.write(f"    %relu_{i} : [#users=1] = call_function[target=torch.relu](args = (%{last},), kwargs = {{}})\n")
            last = f"relu_{i}"
        f.write(f"    return {last}\n")
    best = math.inf
    for _ in range(10 * rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([program, "check", path, "-i", "1x3x8x8", "--threads", "1"], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    print(f"  10,000 nodes, shapes, whole process: {best * 1e3:.1f} ms of processor time  {'met' if best <= 0.010 else 'missed'}")


def write_files(names, folder, onnx):
    specs = {}
    for name in names:
        out = subprocess.run([sys.executable, os.path.join(HERE, "nets.py"), name, folder] + (["onnx"] if onnx else []),
                             env=environment(2), capture_output=True, text=True)
        if out.returncode:
            sys.exit(f"{name}: {out.stderr[-800:]}")
        specs[name] = out.stdout.splitlines()[-1]
    return specs


def run(program, names, rounds, threads, folder):
    names = names or ALL
    ort = install_onnxruntime()
    specs = write_files(names, folder, ort)
    print(f"milliseconds, the least of {rounds} interleaved rounds (one thread: processor time; two: elapsed); memory in MiB")
    print_head()
    rows = []
    for name in names:
        one = None
        for t in threads:
            facts, peers, memory, torch_memory = measure(program, name, specs[name], folder, t, rounds, ort)
            # one against two threads is a matter of elapsed time, which the processor time of one thread is, undisturbed
            row = figures(name, t, facts, peers, memory, torch_memory, one if t > 1 else None)
            one = row["ours"] if t == 1 else one
            rows.append(row)
            print_row(row)
    for t in threads:
        ratios = [r["/torch"] for r in rows if r["threads"] == t]
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"geometric mean of ours/torch, {t} thread{'s' * (t > 1)}: {mean:.2f}  {'met' if mean <= 0.8 else 'missed'} (0.80)")
    bench_meta(program, names, specs, folder, rounds)
