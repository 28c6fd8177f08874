"""The table of part kinds: each kind can be written and read everywhere, and a forgotten one fails here."""

from __future__ import annotations

import json
import uuid
from dataclasses import MISSING, fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.models import Part as PartRow
from chat.page.fragments import part_html, part_view
from chat.page.readers import OWNER
from chat.vocabulary.part_json import json_names, part_from_json, part_to_json
from chat.vocabulary.parts import JSON, PART_TYPES, CodeExecutionResult, FunctionCall, Part, PartKind, Text
from tests.factories import make_conversation, make_model_message
from tests.part_examples import EXAMPLES

every_example = pytest.mark.parametrize("part", EXAMPLES.values(), ids=EXAMPLES)


def test_every_kind_of_part_has_a_class_and_an_example() -> None:
    assert set(PART_TYPES) == set(EXAMPLES) == set(PartKind)


@every_example
def test_example_of_each_kind_sets_every_field(part: Part) -> None:
    for field in fields(part):
        default = field.default_factory() if field.default_factory is not MISSING else field.default
        # The bytes of inline data stand in an attachment.
        assert field.name == "data" or getattr(part, field.name) != default, field.name


@every_example
def test_part_that_is_written_as_json_and_read_back_is_equal(part: Part) -> None:
    written = part_to_json(part)
    assert part_from_json(json.loads(json.dumps(written))) == part
    assert set(written) == {"kind", *json_names(part.kind)}


@every_example
def test_part_with_default_values_that_is_written_as_json_and_read_back_is_equal(part: Part) -> None:
    required = {field.name for field in fields(part) if field.default is field.default_factory is MISSING}
    bare = type(part)(**{name: getattr(part, name) for name in required})
    assert part_from_json(part_to_json(bare)) == bare


@every_example
@pytest.mark.django_db
def test_part_that_is_stored_in_the_database_and_read_back_is_equal(part: Part) -> None:
    message = make_model_message(make_conversation(), parts=())
    PartRow.from_value(part, index=0, message=message).save()
    row = PartRow.objects.get(message=message)
    assert row.value == part
    assert (row.kind, row.text or "") == (part.kind, part.long_text)


@every_example
def test_html_of_every_kind_of_part_has_its_id_and_kind(part: Part) -> None:
    html = part_html(part_view(uuid.UUID(int=1), 3, part, reader=OWNER))
    assert f'id="part-{uuid.UUID(int=1)}-3"' in html
    assert f'data-part-kind="{part.kind}"' in html


SCALARS = st.none() | st.booleans() | st.integers() | st.text()
JSON_VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))
OBJECTS = st.dictionaries(st.text(), JSON_VALUES)


@given(text=st.text(), provider_data=OBJECTS, arguments=st.none() | OBJECTS)
def test_part_with_any_values_is_read_back(
    text: str, provider_data: dict[str, JSON], arguments: dict[str, JSON] | None
) -> None:
    for part in (
        Text(text, provider_data=provider_data),
        CodeExecutionResult(output=text, outcome=text, call_id=text),
        FunctionCall(text, arguments, text),
    ):
        assert part_from_json(part_to_json(part)) == part


def test_absent_output_and_empty_output_stay_different_in_json() -> None:
    absent, empty = CodeExecutionResult(), CodeExecutionResult(output="")
    assert part_from_json(part_to_json(absent)) == absent
    assert part_from_json(part_to_json(empty)) == empty


def test_json_of_a_part_has_the_thought_signature_in_a_key_of_its_own() -> None:
    part = replace(Text("a"), provider_data={"thought_signature": "cw==", "more": 1})
    assert part_to_json(part) == {
        "kind": "text",
        "round": 0,
        "text": "a",
        "thought_signature": "cw==",
        "provider_data": {"more": 1},
    }


@pytest.mark.parametrize("json_value", [{}, {"kind": "hologram"}, {"kind": "text"}])
def test_json_that_is_not_a_part_raises_an_error(json_value: dict[str, str]) -> None:
    with pytest.raises((KeyError, ValueError, TypeError)):
        part_from_json(json_value)


def test_json_key_that_belongs_to_another_kind_of_part_is_ignored() -> None:
    assert part_from_json({"kind": "text", "text": "a", "images": 5}) == Text("a")
