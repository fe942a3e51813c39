"""A real browser for tests: headless Chromium, driven through pipes, without further libraries.

Chromium reads commands of its DevTools protocol from file descriptor 3 and answers on 4: JSON
messages, each ended by a zero byte.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip
# Seconds for an answer. Nothing but a clock tells a browser that hangs from one on a busy machine,
# so this is far more than any answer takes.
_PATIENCE = 300.0


class Browser:
    """One Chromium process with one tab.

    ``events`` holds what the pages have reported since the last :meth:`open`.
    """

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.process, self._write, self._read = self._start()
        self._last, self._rest, self.events = 0, b"", []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Security"):
            self.send(f"{domain}.enable")

    session: str | None = None

    def _start(self):
        commands_out, commands_in = os.pipe()
        answers_out, answers_in = os.pipe()
        # The child finds the pipes at 3 and 4, wherever they are here.
        redirect = f'exec "$0" "$@" 3<&{commands_out} 4>&{answers_in}'
        process = subprocess.Popen(
            ["/bin/bash", "-c", redirect, CHROMIUM, *_FLAGS, f"--user-data-dir={self.folder.name}",
             "about:blank"],
            pass_fds=(commands_out, answers_in), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        os.close(commands_out)
        os.close(answers_in)
        return process, commands_in, answers_out

    def close(self) -> None:
        """End the browser."""
        try:
            self.session = None
            self.send("Browser.close")
            self.process.wait(10)
        except (OSError, TimeoutError, subprocess.TimeoutExpired):
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self._write)
        os.close(self._read)
        self.folder.cleanup()

    def send(self, method: str, **parameters) -> dict:
        """Give a command and return its answer; events on the way are kept."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def _next(self, patience: float = _PATIENCE) -> dict:
        deadline = time.monotonic() + patience
        while b"\0" not in self._rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._read], [], [], left)[0]:
                raise TimeoutError("The browser does not answer.")
            data = os.read(self._read, 1 << 16)
            if not data:
                raise OSError("The browser has ended.")
            self._rest += data
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def wait_for(self, event: str) -> None:
        """Wait until an event has come."""
        while not any(e.get("method") == event for e in self.events):
            self.events.append(self._next())

    def open(self, path: Path) -> None:
        """Load a file, and wait until it is there."""
        self.events.clear()
        self.send("Page.navigate", url=Path(path).resolve().as_uri())
        self.wait_for("Page.loadEventFired")

    def run(self, expression: str):
        """The value of a JavaScript expression."""
        answer = self.send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:2000])
        return answer["result"].get("value")

    def resize(self, width: int, height: int = 900) -> None:
        """Size of the window, in pixels."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip

    def media(self, kind: str = "", **features: str) -> None:
        """Kind of medium ("print"), and features such as prefers_color_scheme="dark"."""
        pairs = [{"name": k.replace("_", "-"), "value": v} for k, v in features.items()]
        self.send("Emulation.setEmulatedMedia", media=kind, features=pairs)

    def press(self, key: str) -> None:
        """Press a key."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38,
                 "ArrowRight": 39, "ArrowDown": 40, "End": 35, "Home": 36}  # fmt: skip
        common = {"key": key, "code": key, "windowsVirtualKeyCode": codes[key]}
        text = {"text": "\r"} if key == "Enter" else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", **common, **text)
        self.send("Input.dispatchKeyEvent", type="keyUp", **common)

    def point_at(self, selector: str, *, click: bool = False) -> None:
        """Move the mouse to the middle of an element, and click."""
        x, y = self.run(
            f"(async () => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center', behavior: 'instant'});"
            "await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));"
            "const b = e.getBoundingClientRect();"
            "return [b.left + b.width / 2, b.top + b.height / 2]; })()"
        )
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        if click:
            for kind in ("mousePressed", "mouseReleased"):
                self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left",
                          clickCount=1)  # fmt: skip

    def screenshot(self, path: Path, *, whole: bool = True) -> None:
        """Save a picture of the page."""
        answer = self.send("Page.captureScreenshot", captureBeyondViewport=whole)
        Path(path).write_bytes(base64.b64decode(answer["data"]))

    def pdf(self) -> bytes:
        """The page as it is printed."""
        return base64.b64decode(self.send("Page.printToPDF", printBackground=False)["data"])

    def complaints(self) -> list[str]:
        """Errors, warnings, violated policies, dialogs, and requests that left the file."""
        found = []
        for event in self.events:
            method, told = event.get("method"), event.get("params", {})
            if method == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning"):
                found.append(json.dumps(told["args"]))
            elif method == "Runtime.exceptionThrown":
                found.append(json.dumps(told["exceptionDetails"]))
            elif method == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
                found.append(told["entry"]["text"])
            elif method == "Page.javascriptDialogOpening":
                found.append(f"dialog: {told['message']}")
            elif method == "Network.requestWillBeSent":
                url = told["request"]["url"]
                if not url.startswith(("file:", "data:")):
                    found.append(f"request: {url}")
        return found
