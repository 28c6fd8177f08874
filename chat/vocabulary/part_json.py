"""Converts parts to JSON and back: in stored rows, the log of a live turn, the REST API and JSON exports. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from enum import StrEnum
from typing import Any

from chat.vocabulary.parts import (
    JSON,
    PART_TYPES,
    Engine,
    JSONObject,
    Part,
    PartKind,
    PrintedImage,
    Refusal,
    WrittenFile,
)

SIGNATURE = "thought_signature"

JSON_NAMES = {"call_id": "id", "bundle": "display"}
"""Fields that have another name in JSON."""

ALWAYS_IN_JSON = frozenset({"round", "engine"})
"""Fields that JSON holds even with their default value."""


_JSON_FIELDS: Mapping[PartKind, tuple[tuple[str, str, object], ...]] = {
    kind: tuple(
        (one.name, JSON_NAMES.get(one.name, one.name), {} if one.default_factory is dict else one.default)
        for one in fields(part_type)
        if one.name not in ("data", "provider_data")
    )
    for kind, part_type in PART_TYPES.items()
}
"""Name, name in JSON and default value of each field that JSON holds."""


def part_to_json(part: Part) -> JSONObject:
    """Return the part as JSON, without bytes. Most fields that have their default value are left out.

    The thought signature is a key of its own. All other keys of `provider_data` are under `provider_data`.
    """
    json: JSONObject = {"kind": part.kind.value}
    for name, json_name, default in _JSON_FIELDS[part.kind]:
        value = getattr(part, name)
        if value != default or name in ALWAYS_IN_JSON:
            json[json_name] = _json_value(value)
    if part.provider_data:
        provider_data = dict(part.provider_data)
        if SIGNATURE in provider_data:
            json[SIGNATURE] = provider_data.pop(SIGNATURE)
        if provider_data:
            json["provider_data"] = provider_data
    return json


def part_from_json(json: Mapping[str, Any]) -> Part:
    """Return the part that `part_to_json` wrote. Raises KeyError, TypeError or ValueError for anything else."""
    kind = PartKind(json["kind"])
    values = {name: json[json_name] for name, json_name, _ in _JSON_FIELDS[kind] if json_name in json}
    if "engine" in values:
        values["engine"] = Engine(values["engine"])
    if "refusal" in values:
        values["refusal"] = Refusal(values["refusal"])
    if "images" in values:
        values["images"] = tuple(PrintedImage(**image) for image in values["images"])
    for name in ("cleared", "table_changes", "missing_cells"):
        if name in values:
            values[name] = tuple(map(str, values[name]))
    if "files" in values:
        values["files"] = tuple(WrittenFile(**file) for file in values["files"])
    provider_data = dict(json.get("provider_data", {}))
    if SIGNATURE in json:
        provider_data[SIGNATURE] = json[SIGNATURE]
    return PART_TYPES[kind](**values, provider_data=provider_data)


def json_names(kind: PartKind) -> tuple[str, ...]:
    """Return the names that `part_to_json` may write for parts of this kind, besides `kind` itself."""
    return (*(json_name for _, json_name, _ in _JSON_FIELDS[kind]), SIGNATURE, "provider_data")


def _json_value(value: object) -> JSON:
    match value:
        case StrEnum():
            return value.value
        case tuple():
            return [item if isinstance(item, str) else asdict(item) for item in value]
        case Mapping():
            return dict(value)
        case str() | int() | None:
            return value
        case _:
            raise TypeError(f"{type(value).__name__} is no value of a part")
