"""Reading the parts of Plotline's own exports."""

from __future__ import annotations

from typing import Any

import pytest

from chat.library.imports.json_paths import JSONValue
from chat.library.imports.parts import READERS, read_part
from chat.library.imports.refusal import RefusedImport
from chat.vocabulary.part_json import json_names, part_to_json
from chat.vocabulary.parts import JSON, PART_TYPES, PartKind
from tests.chat.library.imports.generated import FIELDS

WRONG_VALUES: tuple[JSON, ...] = (None, True, 1, "wrong !", [1], {"thought_signature": 1})


def test_every_json_field_of_every_kind_of_part_has_a_reader() -> None:
    assert {name for kind in PartKind for name in json_names(kind)} == set(READERS)


def test_generated_test_conversations_have_parts_of_every_kind() -> None:
    assert set(FIELDS) == set(PART_TYPES.values())


@pytest.mark.parametrize("name", READERS)
def test_value_of_a_wrong_type_is_refused_with_its_json_path(name: str) -> None:
    refused = 0
    for value in WRONG_VALUES:
        try:
            READERS[name](JSONValue(value, f"$.parts[0].{name}"))
        except RefusedImport as refusal:
            assert str(refusal).startswith(f"$.parts[0].{name}")  # noqa: PT017 - some of the values are valid
            refused += 1
    assert refused >= len(WRONG_VALUES) - 2


def test_missing_fields_of_a_part_get_their_default_value() -> None:
    for kind, part_type in PART_TYPES.items():
        required: dict[str, Any] = {name: "x" for name in ("text", "code", "name") if name in json_names(kind)}
        if kind is PartKind.INLINE_DATA:
            required = {}
        part = read_part(JSONValue({"kind": kind.value, **required}), ())
        assert part == part_type(**required)
        assert read_part(JSONValue(part_to_json(part)), ()) == part


@pytest.mark.parametrize("signature", ["AP9zaWduZWQ=", "-_8", ""])
def test_signature_is_read_from_standard_and_url_safe_base64(signature: str) -> None:
    part = read_part(JSONValue({"kind": "text", "text": "", "thought_signature": signature}), ())
    assert part.provider_data == {"thought_signature": signature}
