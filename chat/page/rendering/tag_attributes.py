"""Attributes of HTML tags that models write: addresses in the web, descriptions of images, the first number of a list.

`rest` is the escaped source of a tag after its name.
"""

from __future__ import annotations

import html
import re

from chat.page.rendering.marks import MARK

_ATTRIBUTE = r"""[ \t]{}[ \t]*+=[ \t]*+(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+))"""
_HREF = re.compile(_ATTRIBUTE.format("href"), re.IGNORECASE)
_SRC = re.compile(_ATTRIBUTE.format("src"), re.IGNORECASE)
_ALT = re.compile(_ATTRIBUTE.format("alt"), re.IGNORECASE)
_START = re.compile(r"[ \t]start[ \t]*+=[ \t]*+[\"']?(\d{1,9})\b", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://|mailto:", re.IGNORECASE)


def link_address(rest: str) -> str:
    """Return the address of `<a href="…">`; empty if it is no web or mail address."""
    return _address(_HREF, rest)


def image_element(rest: str) -> str:
    """Return an image as the parser writes it; empty if its address is no web or mail address."""
    address = _address(_SRC, rest)
    return f'<img src="{html.escape(address)}" alt="{html.escape(_value(_ALT, rest))}" />' if address else ""


def start_attribute(rest: str) -> str:
    """Return the attribute `start` of a list; empty if it has none."""
    number = _START.search(html.unescape(rest))
    return f' start="{number[1]}"' if number else ""


def _address(attribute: re.Pattern[str], rest: str) -> str:
    """Return the address in an attribute of a tag's escaped source; empty if it is no web or mail address."""
    address = _value(attribute, rest)
    return address if _ADDRESS.match(address) else ""


def _value(attribute: re.Pattern[str], rest: str) -> str:
    match = attribute.search(html.unescape(rest.replace(MARK, "")))
    return next(filter(None, match.groups()), "").strip() if match else ""
