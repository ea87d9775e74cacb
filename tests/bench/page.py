"""The interactive page of networks of many sizes in headless Chromium: how long it takes to be made, how large it is, when
the picture is there, how long a frame takes while it moves. Called by `./dev bench --page`; frames of 16.7 ms are 60 a
second, which is as fast as the browser goes."""
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "svg"))

import browser  # noqa: E402
import networks  # noqa: E402

# Moves about by the wheel, once a frame; milliseconds of the frames: median, 95th of 100, longest.
PAN = """new Promise(done => {
    const pane = document.getElementById("picture"), times = [];
    let n = 0;
    const step = now => {
        times.push(now);
        pane.dispatchEvent(new WheelEvent("wheel", { deltaX: n % 40 < 20 ? 6 : -6, deltaY: n % 120 < 60 ? 40 : -35, clientX: 400, clientY: 400, bubbles: true, cancelable: true }));
        if (n++ < 180) return requestAnimationFrame(step);
        const frames = times.slice(1).map((t, i) => t - times[i]).sort((a, b) => a - b);
        done([frames[frames.length >> 1], frames[Math.floor(frames.length * 0.95)], frames[frames.length - 1]]);
    };
    requestAnimationFrame(step);
})"""
READY = "performance.getEntriesByName('painted')[0].startTime"


def frames(page):
    return " / ".join(f"{t:.0f}" for t in page.js(PAN))


def measure(page, fxscope, work, name, size, rounds):
    path = f"{work}/{name}.html"
    start = time.perf_counter()
    subprocess.run([fxscope, "draw", f"{work}/{name}.fx", "-i", size, "--meta", "-o", path], check=True, capture_output=True)
    made, ready = time.perf_counter() - start, []
    for _ in range(rounds):
        page.open(path)
        ready.append(page.js(READY))
    closed = frames(page)
    for _ in range(6):
        page.key("e")
    boxes, opened = page.js("fxscope.shown().length"), frames(page)
    page.key("f")
    whole = frames(page)
    print(f"{name:14s} {made:7.2f} {os.path.getsize(path) / 1e6:8.2f} {min(ready):8.0f} {closed:>15s} {boxes:8d} {opened:>15s} {whole:>15s}", flush=True)


def run(fxscope, rounds):
    if not browser.find():
        print("no Chromium is installed")
        return 1
    with tempfile.TemporaryDirectory() as work:
        page = browser.Browser(1400, 900)
        print("network        made, s       MB  painted   frame, closed    boxes   frame, opened     frame, all")
        print("                                      ms  median/95/most          median/95/most  median/95/most")
        try:
            for name in ("resnet18", "densenet121"):
                measure(page, fxscope, work, name, networks.golden(name, f"{work}/{name}.fx"), rounds)
            for count in (5000, 100000):
                for modules in (True, False):
                    name = f"{count}" + ("" if modules else " flat")
                    measure(page, fxscope, work, name, networks.residual(count, f"{work}/{name}.fx", modules), rounds)
        finally:
            page.close()
    return 0
