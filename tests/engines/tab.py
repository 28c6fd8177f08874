"""A tab of a browser, with the few methods that journeys in several engines need."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Protocol

import requests
from playwright.sync_api import BrowserContext, Page

from tests.child_processes import terminate, tied
from tests.polling import wait_until
from tests.ports import free_port

MINI_BROWSERS = "/usr/lib/*/webkit2gtk-4.1/MiniBrowser"
#: WebDriver's characters for keys.
KEYS = {
    "Enter": "\ue007",
    "Escape": "\ue00c",
    "Tab": "\ue004",
    "End": "\ue010",
    "ArrowUp": "\ue013",
    "ArrowDown": "\ue015",
}
CENTER = """
const element = document.querySelector(a[0]);
element.scrollIntoView({ block: "nearest" });
const { left, top, width, height } = element.getBoundingClientRect();
return [Math.round(left + width / 2), Math.round(top + height / 2)];
"""
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Tab(Protocol):
    """A tab of a browser in a separate window."""

    def goto(self, url: str) -> None:
        """Open a page and wait until it is loaded."""

    def js(self, code: str, *values: str) -> object:
        """Run the body of a function whose arguments are `a`, and return its result, which JSON can hold."""

    def click(self, selector: str) -> None:
        """Click the first element of a selector with the mouse."""

    def type(self, selector: str, text: str) -> None:
        """Give the focus to an element, and press the keys of a text."""

    def press(self, key: str) -> None:
        """Press a key of `KEYS`."""

    def upload(self, selector: str, path: Path) -> None:
        """Choose a file in a field."""

    def resize(self, width: int, height: int) -> None:
        """Give the page another size in CSS pixels; that of WebKit's browser is at least 447 wide."""

    def other(self) -> Tab:
        """Open another tab of the same person."""

    def close(self) -> None:
        """Close the tab."""


def until(tab: Tab, code: str, *values: str) -> object:
    """Return the first true result of `Tab.js`."""
    return wait_until(lambda: tab.js(code, *values))


class PlaywrightTab:
    """A tab that Playwright drives."""

    def __init__(self, window: BrowserContext) -> None:
        """Open a tab."""
        self._window = window
        self.page: Page = window.new_page()

    def goto(self, url: str) -> None:
        self.page.goto(url)

    def js(self, code: str, *values: str) -> object:
        result: object = self.page.evaluate(f"(a) => {{ {code} }}", list(values))
        return result

    def click(self, selector: str) -> None:
        self.page.locator(selector).first.click()

    def type(self, selector: str, text: str) -> None:
        self.page.locator(selector).first.focus()
        self.page.keyboard.type(text)

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)

    def upload(self, selector: str, path: Path) -> None:
        self.page.set_input_files(selector, path)

    def resize(self, width: int, height: int) -> None:
        self.page.set_viewport_size({"width": width, "height": height})

    def other(self) -> Tab:
        return PlaywrightTab(self._window)

    def close(self) -> None:
        self.page.close()


class WebKitDriver:
    """WebKitGTK with its small browser, on an invisible screen, as WebKitWebDriver controls it."""

    def __init__(self) -> None:
        """Start the driver and the browser."""
        port = free_port()
        # The X server chooses a free display and prints its number.
        screen = tied(["Xvfb", "-displayfd", "1", "-screen", "0", "1600x1200x24", "-nolisten", "tcp"])
        self._screen = subprocess.Popen(screen, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self._screen.stdout
        variables = os.environ | {"DISPLAY": f":{self._screen.stdout.readline().strip()}"}
        command = tied(["WebKitWebDriver", f"--port={port}"])
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=variables)
        self._url = f"http://127.0.0.1:{port}"
        wait_until(self._is_ready)
        [browser, *_] = sorted(Path("/").glob(MINI_BROWSERS[1:]))
        options = {"binary": str(browser), "args": ["--automation"]}
        session = self.call("POST", "/session", capabilities={"alwaysMatch": {"webkitgtk:browserOptions": options}})
        assert isinstance(session, dict)
        self._url += f"/session/{session['sessionId']}"

    def _is_ready(self) -> bool:
        assert self._process.poll() is None, "WebKitWebDriver ended"
        try:
            return requests.get(f"{self._url}/status", timeout=60).ok
        except requests.ConnectionError:
            return False

    def call(self, method: str, path: str, **body: object) -> object:
        """Send a command of WebDriver and return its value. Raises RuntimeError with the error of the driver."""
        content = json.dumps(body) if method == "POST" else None
        response = requests.request(method, self._url + path, data=content, timeout=180)
        value: object = response.json()["value"]
        if not response.ok:
            raise RuntimeError(value)
        return value

    def quit(self) -> None:
        """End the browser and the driver."""
        self.call("DELETE", "")
        terminate(self._process, 10)
        terminate(self._screen, 10)
        assert self._screen.stdout
        self._screen.stdout.close()


class WebKitTab:
    """A tab of WebKit. Its methods switch to it first."""

    def __init__(self, driver: WebKitDriver, handle: str) -> None:
        """`handle`: WebDriver's name of the tab."""
        self._driver = driver
        self._handle = handle

    @classmethod
    def first(cls, driver: WebKitDriver) -> WebKitTab:
        """Return the tab with which the browser has started."""
        return cls(driver, str(driver.call("GET", "/window")))

    def _call(self, path: str, **body: object) -> object:
        self._driver.call("POST", "/window", handle=self._handle)
        return self._driver.call("POST", path, **body)

    def _find(self, selector: str) -> str:
        found = wait_until(lambda: self._call("/elements", using="css selector", value=selector))
        assert isinstance(found, list)
        return str(found[0][ELEMENT])

    def goto(self, url: str) -> None:
        self._call("/url", url=url)

    def js(self, code: str, *values: str) -> object:
        return self._call("/execute/sync", script=f"const a = arguments; {code}", args=list(values))

    def click(self, selector: str) -> None:
        # The command `click` refuses buttons that are visible only under the pointer.
        self._find(selector)
        center = self.js(CENTER, selector)
        assert isinstance(center, list)
        strokes = [
            {"type": "pointerMove", "x": center[0], "y": center[1], "duration": 0},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        self._call("/actions", actions=[{"type": "pointer", "id": "mouse", "actions": strokes}])

    def type(self, selector: str, text: str) -> None:
        self._call(f"/element/{self._find(selector)}/value", text=text)

    def press(self, key: str) -> None:
        strokes = [{"type": kind, "value": KEYS.get(key, key)} for kind in ("keyDown", "keyUp")]
        self._call("/actions", actions=[{"type": "key", "id": "keyboard", "actions": strokes}])

    def upload(self, selector: str, path: Path) -> None:
        self._call(f"/element/{self._find(selector)}/value", text=str(path))

    def resize(self, width: int, height: int) -> None:
        self._call("/window/rect", width=width, height=height)
        # The frame and the bar of the window take a part of the size.
        inner = self.js("return [innerWidth, innerHeight]")
        assert isinstance(inner, list)
        self._call("/window/rect", width=2 * width - inner[0], height=2 * height - inner[1])

    def other(self) -> Tab:
        opened = self._call("/window/new", type="tab")
        assert isinstance(opened, dict)
        return WebKitTab(self._driver, opened["handle"])

    def close(self) -> None:
        self._driver.call("POST", "/window", handle=self._handle)
        self._driver.call("DELETE", "/window")
