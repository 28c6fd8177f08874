"""MIME bundles: one displayed object in several forms, by MIME type, such as `{"text/html": ..., "text/plain": ...}`.
Pure.

A kernel may send any JSON as a bundle. The result of `bound_bundle` can be stored: it is small and not deeply nested,
and its texts have no NUL and no lone surrogates.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias

from chat.vocabulary.parts import JSON
from chat.vocabulary.sanitize import sanitize_json

Bundle: TypeAlias = Mapping[str, JSON]

BUNDLE_LIMIT_BYTES = 1_000_000
"""Maximum size of a stored bundle. Forms that do not fit are left out."""
TRACEBACK = "application/vnd.plotline.traceback"
"""MIME type of a traceback that is too long to be shown at once. Models do not get it, because they get its short form
as output.
"""
DEPTH_LIMIT = 64
"""Maximum nesting depth of the JSON in a bundle."""
_TYPES_LIMIT = 16
_MIME_TYPE = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,60}", re.ASCII)
_SEPARATORS_BYTES = 2


def bound_bundle(data: Mapping[str, object]) -> tuple[Bundle, int]:
    """Return the forms of a bundle that can be stored, and their size in bytes. If not all forms fit, the smallest ones
    are kept.

    Parameters of MIME types are removed. Forms with an invalid MIME type are left out.
    """
    sizes = {name: _size_bytes(value, BUNDLE_LIMIT_BYTES, DEPTH_LIMIT) for name, value in data.items()}
    types: list[str] = []
    free_bytes = BUNDLE_LIMIT_BYTES
    for name in sorted(sizes, key=lambda name: sizes[name]):
        is_mime_type = isinstance(name, str) and _MIME_TYPE.fullmatch(name.partition(";")[0])
        if is_mime_type and sizes[name] <= free_bytes and len(types) < _TYPES_LIMIT:
            types.append(name)
            free_bytes -= sizes[name]
    bundle: dict[str, JSON] = {}
    for name in data:
        if name in types:
            value: JSON = data[name]  # type: ignore[assignment] # its size is known, so it is JSON
            bundle.setdefault(name.partition(";")[0], sanitize_json(value))
    return bundle, BUNDLE_LIMIT_BYTES - free_bytes


def _size_bytes(value: object, limit_bytes: int, depth_limit: int) -> int:
    """Return the approximate size of a value as JSON in UTF-8.

    The result is greater than `limit_bytes` if the value is too long, nested too deeply, or not JSON.
    """
    too_much = limit_bytes + 1
    match value:
        case str():
            return len(value.encode(errors="replace")) + _SEPARATORS_BYTES if len(value) <= limit_bytes else too_much
        case None | bool() | int() | float():
            return len(str(value))
        case list() | dict() if depth_limit:
            size_bytes = _SEPARATORS_BYTES
            items = value if isinstance(value, list) else [item for pair in value.items() for item in pair]
            for item in items:
                size_bytes += _size_bytes(item, limit_bytes - size_bytes, depth_limit - 1) + _SEPARATORS_BYTES
                if size_bytes > limit_bytes:
                    return too_much
            return size_bytes
    return too_much
