"""Brings parts into one form in which equal parts are equal, whatever alphabet their base64 was written in.

The SDK writes URL-safe base64, the API standard base64. Both encode the same bytes.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from google.genai import types

from chat.vocabulary.parts import Part, Text, Unsupported
from tests.recordings import bytes_from

SDK_PART_KEYS = frozenset(str(field.alias) for field in types.Part.model_fields.values())
"""The keys of a part that the SDK knows. It drops all others of a response."""


def standard_base64(value: str) -> str:
    """Return base64 in the standard alphabet, padded."""
    return base64.b64encode(bytes_from(value)).decode()


def part_in_normal_form(part: Part) -> Part:
    """Return the part with its signature in standard base64."""
    signature = part.provider_data.get("thought_signature")
    if not isinstance(signature, str):
        return part
    return replace(part, provider_data={**part.provider_data, "thought_signature": standard_base64(signature)})


def part_as_the_sdk_reads(part: Part) -> Part:
    """Return the part in its normal form, without the fields that the SDK drops because it does not know them."""
    part = part_in_normal_form(part)
    fields = part.provider_data.get("fields")
    if not isinstance(part, Unsupported) or not isinstance(fields, dict):
        return part
    known = {key: value for key, value in fields.items() if key in SDK_PART_KEYS}
    others = {key: value for key, value in part.provider_data.items() if key != "fields"}
    return Unsupported(provider_data={**others, "fields": known}) if known else Text("", provider_data=others)


def wire_in_normal_form(wire: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part of a request with all its base64 in the standard alphabet."""
    normal = dict(wire)
    if "thoughtSignature" in normal:
        normal["thoughtSignature"] = standard_base64(normal["thoughtSignature"])
    if "data" in normal.get("inlineData", {}):
        normal["inlineData"] = {**normal["inlineData"], "data": standard_base64(normal["inlineData"]["data"])}
    return normal


def part_as_sent_back(wire: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a received part as it is sent back to its model; `None` if it is not sent.

    Thoughts are never sent, and keys that the SDK does not know may be refused. A signature without content is sent
    with an empty text.
    """
    known = {key: value for key, value in wire.items() if key in SDK_PART_KEYS and value != ""}
    if known.get("thought") or (not known and "text" not in wire):
        return None
    if "text" in wire or known.keys() == {"thoughtSignature"}:
        return {"text": "", **known}
    return known
