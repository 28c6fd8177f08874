"""Adapts formulas of the page to pandoc: accents become combining characters, and lines and boxes become elements."""

from __future__ import annotations

from lxml.html import HtmlElement

ACCENTS = {"→": "\u20d7", "˙": "\u0307", "¨": "\u0308", "~": "\u0303", "ˇ": "\u030c", "`": "\u0300", "˚": "\u030a"}
"""Accent -> combining character. Pandoc would take the accent for a separate text above the letter."""
_LINES = {"overlined": ("mover", "\u0305"), "underlined": ("munder", "\u0332")}
_STRIKES = {"struck-up": "updiagonalstrike", "struck-down": "downdiagonalstrike"}
_BOXES = {"boxed": "box", "circled": "box", **_STRIKES}
"""Classes of the page -> notation of `menclose`. Pandoc knows no circle."""


def adapt_formula(math: HtmlElement) -> None:
    """Change a formula in place. Colours, and lines through the middle, are lost."""
    for element in list(math.iter("mover", "mrow")):
        if element.tag == "mover":
            _adapt_accent(element)
            continue
        classes = element.get("class", "").split()
        for name in classes:
            if name in _LINES:
                element.tag, sign = _LINES[name]
                row = _wrap_children(element, "mrow")
                line = row.makeelement("mo")
                line.text = sign
                element.append(line)
        if notation := " ".join(_BOXES[name] for name in classes if name in _BOXES):
            _wrap_children(element, "menclose").set("notation", notation)


def _adapt_accent(element: HtmlElement) -> None:
    sign = element[-1]
    if len(element) == 2 and sign.tag == "mo" and sign.text in ACCENTS and element[0].tag != "mo":
        sign.text = ACCENTS[sign.text]


def _wrap_children(element: HtmlElement, tag: str) -> HtmlElement:
    wrapper = element.makeelement(tag)
    wrapper.extend(list(element))
    element.append(wrapper)
    return wrapper
