"""A page in headless Chromium, driven over a pipe: no port, no library. Used by the tests of the interactive page and by
its benchmark. Commands and events are those of the browser's DevTools protocol, JSON with a NUL behind each."""
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-extensions", "--hide-scrollbars", "--mute-audio",
         "--remote-debugging-pipe"]


def find():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    return None


class Browser:
    """One browser with one page. `console` collects errors, warnings and exceptions; `requests` what it wanted to load."""

    def __init__(self, width=1200, height=800, seconds=120):
        self.seconds = seconds
        self.profile = tempfile.mkdtemp(prefix="fxscope-page-")
        to_browser, self.out = os.pipe()
        self.input, from_browser = os.pipe()
        command = [find(), *FLAGS, f"--user-data-dir={self.profile}", f"--window-size={width},{height}", "about:blank"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False,
                                        preexec_fn=lambda: self.take_pipes(to_browser, from_browser))
        os.close(to_browser)
        os.close(from_browser)
        self.count, self.session, self.rest = 0, None, b""
        self.events, self.console, self.requests = [], [], []
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(t for t in targets if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    @staticmethod
    def take_pipes(to_browser, from_browser):
        # The browser reads from 3 and writes to 4: first out of the way, then into place.
        a, b = os.dup(to_browser), os.dup(from_browser)
        os.dup2(a, 3)
        os.dup2(b, 4)

    def call(self, method, **params):
        """The answer to one command; what the browser tells on the way is kept."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + self.seconds
        while True:
            answer = self.receive(end - time.monotonic())
            if answer is None:
                raise RuntimeError(f"the browser does not answer to {method}")
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def receive(self, seconds):
        while b"\0" not in self.rest:
            if seconds <= 0 or not select.select([self.input], [], [], seconds)[0]:
                return None
            got = os.read(self.input, 1 << 20)
            if not got:
                return None
            self.rest += got
        line, self.rest = self.rest.split(b"\0", 1)
        answer = json.loads(line)
        self.note(answer)
        return answer

    def note(self, event):
        params = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.console.append(details.get("exception", {}).get("description", details["text"]))
        elif event.get("method") == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.console.append(params["entry"]["text"])
        elif event.get("method") == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.console.append(" ".join(str(a.get("value", a)) for a in params["args"]))
        elif event.get("method") == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif "method" in event:
            self.events.append(event["method"])

    def open(self, path, fragment=""):
        """Loads a file and waits until it is there; events of the page before are forgotten."""
        self.call("Page.navigate", url="about:blank")
        self.console, self.requests, self.events = [], [], []
        self.call("Page.navigate", url="file://" + os.path.abspath(path) + fragment)
        end = time.monotonic() + self.seconds
        while self.js("document.readyState") != "complete":
            if time.monotonic() > end:
                raise RuntimeError(f"{path} does not load")
            time.sleep(0.02)

    def js(self, expression):
        """The value of a JavaScript expression; a promise is waited for."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", "exception"))
        return answer["result"].get("value")

    def settle(self):
        """Two frames later."""
        self.js("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y, modifiers=0):
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1, modifiers=modifiers)
        self.settle()

    def key(self, key, modifiers=0):
        codes = {"Enter": 13, "Escape": 27, "Tab": 9, "ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39}
        text = {} if len(key) > 1 and key != "Enter" else {"text": "\r" if key == "Enter" else key}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, modifiers=modifiers,
                  windowsVirtualKeyCode=codes.get(key, ord(key[0].upper())), **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, modifiers=modifiers)
        self.settle()

    def type(self, text):
        self.call("Input.insertText", text=text)
        self.settle()

    def screenshot(self, path):
        import base64
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (RuntimeError, OSError):
            self.process.kill()
        self.process.wait()
        os.close(self.out)
        os.close(self.input)
        shutil.rmtree(self.profile, ignore_errors=True)
