"""A real browser for tests: Chromium without a window, controlled by its DevTools protocol."""

import itertools
import json
import shutil
import subprocess
import time
from pathlib import Path

import websocket

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--remote-debugging-port=0", "--window-size=1000,800",
)  # fmt: skip
KEYS = {"ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35, "Tab": 9}


def installed():
    """The path of the browser, or None."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Browser:
    """A running Chromium. `open(url)` shows a page; keys and mouse act like a person's."""

    def __init__(self, folder):
        self.process = subprocess.Popen(
            [installed(), *OPTIONS, f"--user-data-dir={folder}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        active = Path(folder, "DevToolsActivePort")
        until = time.monotonic() + 60
        while not (active.exists() and active.read_text().count("\n")):
            assert self.process.poll() is None, "the browser ended"
            assert time.monotonic() < until, "the browser does not answer"
            time.sleep(0.05)
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
        if self.session:
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
        self.session = None
        self.requests = []
        if self.target:
            self.call("Target.closeTarget", targetId=self.target)
        self.target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=self.target, flatten=True)
        self.session = attached["sessionId"]
        self.call("Network.enable")
        self.call("Page.enable")
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.call("Page.bringToFront")
        self.call("Page.navigate", url=url)
        until = time.monotonic() + 30
        while settle and self.evaluate("document.readyState + location.href") != "complete" + url:
            assert time.monotonic() < until, "the page does not load"
            time.sleep(0.02)

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def press(self, key):
        event = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
        self.call("Input.dispatchKeyEvent", type="rawKeyDown", **event)
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def drag(self, x, y, to):
        """Press at a point, move sideways to another, release there."""
        mouse = {"y": y, "button": "left", "clickCount": 1}
        self.call("Input.dispatchMouseEvent", type="mousePressed", x=x, **mouse)
        for i in range(1, 5):
            self.call(
                "Input.dispatchMouseEvent", type="mouseMoved", x=x + i * (to - x) / 4, **mouse
            )
        self.call("Input.dispatchMouseEvent", type="mouseReleased", x=to, **mouse)

    def emulate(self, width=1000, height=800, scheme="light", motion="reduce"):
        """Show the page on a screen of this size, to a reader with these preferences."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        preferred = {"prefers-color-scheme": scheme, "prefers-reduced-motion": motion}
        features = [{"name": name, "value": value} for name, value in preferred.items()]
        self.call("Emulation.setEmulatedMedia", features=features)

    def screenshot(self):
        """The page as PNG, in base 64."""
        return self.call("Page.captureScreenshot")["data"]

    def in_frames(self, expression):
        """The values of an expression in the frames of the page, which are separate processes."""
        page, values = self.session, []
        self.session = None
        for target in self.call("Target.getTargets")["targetInfos"]:
            if target["type"] == "iframe" and target["parentId"] == self.target:
                found = self.call(
                    "Target.attachToTarget", targetId=target["targetId"], flatten=True
                )
                self.session = found["sessionId"]
                values.append(self.evaluate(expression))
                self.session = None
        self.session = page
        return values
