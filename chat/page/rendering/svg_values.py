"""Cleaning of the values in an SVG document: attributes, styles, references and embedded images.

A cleaned value refers to nothing outside of its document, whether a browser reads it as an attribute or as a style.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import TypeAlias

from attachments.validation import UnreadableImage, inspect_image

_PRESENTATION = frozenset(
    {
        *("alignment-baseline", "baseline-shift", "clip-path", "clip-rule", "color", "color-interpolation"),
        *("direction", "display", "dominant-baseline", "fill", "fill-opacity", "fill-rule", "font", "font-family"),
        *("font-size", "font-stretch", "font-style", "font-variant", "font-weight", "letter-spacing", "marker-end"),
        *("marker-mid", "marker-start", "mask", "mix-blend-mode", "opacity", "overflow", "paint-order"),
        *("shape-rendering", "stop-color", "stop-opacity", "stroke", "stroke-dasharray", "stroke-dashoffset"),
        *("stroke-linecap", "stroke-linejoin", "stroke-miterlimit", "stroke-opacity", "stroke-width"),
        *("text-anchor", "text-decoration", "text-rendering", "transform", "transform-origin", "unicode-bidi"),
        *("vector-effect", "visibility", "white-space", "word-spacing", "writing-mode"),
    }
)
"""Allowed properties, as attributes or as declarations in styles."""
ATTRIBUTES = _PRESENTATION | {
    *("class", "style", "clipPathUnits", "cx", "cy", "d", "dx", "dy", "fx", "fy", "fr", "gradientTransform"),
    *("gradientUnits", "height", "id", "lengthAdjust", "markerHeight", "markerUnits", "markerWidth"),
    *("maskContentUnits", "maskUnits", "offset", "orient", "pathLength", "patternContentUnits", "patternTransform"),
    *("patternUnits", "points", "preserveAspectRatio", "r", "refX", "refY", "rotate", "rx", "ry", "spreadMethod"),
    *("startOffset", "textLength", "viewBox", "width", "x", "x1", "x2", "y", "y1", "y2"),
}

ID = re.compile(r"[^\s\"'()<>&\\]{1,100}")
_REFERENCE = re.compile(r"url\(\s*+[\"']?#([^\s\"'()<>&\\]{1,100}+)[\"']?\s*+\)")
_HARMLESS_VALUE = re.compile(r"[^\\<>@;{}&]*")
_FUNCTION = re.compile(r"([\w-]{0,30}) ?\(")
_FUNCTIONS = frozenset(
    {
        *("", "rgb", "rgba", "hsl", "hsla", "matrix", "translate", "translatex", "translatey", "scale", "scalex"),
        *("scaley", "rotate", "skewx", "skewy", "calc"),
    }
)
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_RULE = re.compile(r"([\w\s.#*,>:()-]{1,200}+)\{([^{}]{0,2000}+)\}\s*")
_DATA_URI = re.compile(r"data:(image/(?:png|jpeg|gif|webp));base64,([A-Za-z0-9+/\s]{1,400000}+={0,2}+\s*+)")


Cleaned: TypeAlias = tuple[str, tuple[str, ...]]
"""A cleaned value, which is empty if it must be left out, and the ids that it refers to."""
NOTHING: Cleaned = ("", ())


def clean_value(name: str, value: str) -> Cleaned:
    """Return the cleaned value of an allowed attribute, and the ids that it refers to."""
    if name == "style":
        return _clean_declarations(value)
    if name == "id":
        return (value if ID.fullmatch(value) else ""), ()
    if "(" not in value:
        return (value if _HARMLESS_VALUE.fullmatch(value) else ""), ()
    rest = _REFERENCE.sub("", value)
    functions = {function.lower() for function in _FUNCTION.findall(" ".join(rest.split()))}
    if not _HARMLESS_VALUE.fullmatch(rest) or not functions <= _FUNCTIONS:
        return NOTHING
    return value, tuple(_REFERENCE.findall(value))


def _clean_declarations(style: str) -> Cleaned:
    """Return the allowed declarations of a style attribute or a rule, and the ids that they refer to."""
    kept: list[str] = []
    references: list[str] = []
    for declaration in style[:4000].split(";"):
        name, _, value = declaration.partition(":")
        name = name.strip().lower()
        if name in _PRESENTATION:
            cleaned, targets = clean_value(name, value.strip())
            if cleaned:
                kept.append(f"{name}: {cleaned}")
                references += targets
    return "; ".join(kept), tuple(references)


def clean_style_sheet(text: str) -> str:
    """Return the rules of a style sheet that have allowed declarations and no references.

    A style sheet with anything but simple rules is left out: at-rules and escapes could refer to other files.
    """
    text = _COMMENT.sub("", text[:20_000]).strip()
    if "@" in text or "\\" in text or "<" in text:
        return ""
    kept: list[str] = []
    end = 0
    while rule := _RULE.match(text, end):
        declarations, references = _clean_declarations(rule[2])
        if declarations and not references:
            kept.append(f"{rule[1].strip()} {{ {declarations} }}")
        end = rule.end()
    return "\n".join(kept)


def clean_data_uri(value: str) -> str:
    """Return the `data:` URI of a raster image; empty if it is something else."""
    match = _DATA_URI.fullmatch(value.strip())
    if not match:
        return ""
    try:
        data = base64.b64decode("".join(match[2].split()), validate=True)
        image = inspect_image(data)
    except (binascii.Error, UnreadableImage):
        return ""
    return f"data:{image.mime_type};base64,{base64.b64encode(data).decode('ascii')}"
