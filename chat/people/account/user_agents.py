"""Reads the browser and the system from a user agent, in plain words. Pure.

User agents name several browsers for compatibility with old servers, so the most specific name is looked for first.
"""

from __future__ import annotations

from dataclasses import dataclass

BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Vivaldi/", "Vivaldi"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chromium/", "Chromium"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
    ("curl/", "curl"),
    ("python", "Python"),
)
SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Macintosh", "macOS"),
    ("Linux", "Linux"),
)


@dataclass(frozen=True, slots=True)
class Device:
    """Browser and system in a user agent. Either may be empty, because the text is whatever a client sends."""

    browser: str
    system: str


def describe(user_agent: str) -> Device:
    """Return the browser and the system."""
    return Device(_first(BROWSERS, user_agent), _first(SYSTEMS, user_agent))


def _first(names: tuple[tuple[str, str], ...], user_agent: str) -> str:
    return next((name for token, name in names if token in user_agent), "")
