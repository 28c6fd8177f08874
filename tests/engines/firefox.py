"""Starts the system's Firefox with Playwright."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, Playwright

#: Pages may write to the clipboard and read it without a question, as in Chromium with its permissions granted.
#: Without a window of the system, Firefox knows of no mouse, and pages would take it for a phone: 6 is a fine pointer
#: that hovers. A connection that failed is tried again at once, where Firefox waits up to a minute, and its panel of
#: downloads does not open, because it takes the focus from the page.
PREFERENCES: dict[str, str | float | bool] = {
    "dom.events.testing.asyncClipboard": True,
    "ui.primaryPointerCapabilities": 6,
    "ui.allPointerCapabilities": 6,
    "network.websocket.delay-failed-reconnects": False,
    "browser.download.alwaysOpenPanel": False,
}
ROOT = Path(__file__).resolve().parents[2]


def start_firefox(playwright: Playwright) -> Browser:
    """Start Firefox through `firefox_bidi`, whose program Playwright runs as if it were Firefox."""
    with TemporaryDirectory(prefix="firefox-") as folder:
        program = Path(folder) / "firefox"
        program.write_text(
            f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m tests.engines.firefox_bidi "$@"\n'
        )
        program.chmod(0o700)
        return playwright.firefox.launch(executable_path=program, channel="moz-firefox", firefox_user_prefs=PREFERENCES)
