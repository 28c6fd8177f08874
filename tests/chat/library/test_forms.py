"""Every invalid form is refused with a sentence, and no data of a client raise another exception."""

from __future__ import annotations

import json
import uuid

import pytest
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from chat.library.forms import EMPTY_CODE, ApprovalForm, ConversationSettingsForm, RenameForm, SendForm
from chat.models.form_fields import ATTACHMENTS_LIMIT, SentencesForm

ID = "6f1c1d6e-0000-4000-8000-000000000001"
UNSET = {"code_execution": "", "model": ""}
OTHER_ID = "6f1c1d6e-0000-4000-8000-000000000002"

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=20,
)


def cleaned(form: SentencesForm) -> dict[str, object]:
    assert form.is_valid(), form.sentence()
    assert form.sentence() == ""
    return form.cleaned_data


def sentence(form: SentencesForm) -> str:
    assert not form.is_valid()
    return form.sentence()


def test_prompt_is_kept_as_typed() -> None:
    assert cleaned(SendForm({"text": "  def f():\n    pass\n"}))["text"] == "  def f():\n    pass\n"


@pytest.mark.parametrize("data", [{}, {"text": ""}, {"text": None}, {"text": " \n\t"}, {"text": "\x00"}])
def test_empty_prompt_is_refused_with_an_error_message(data: dict[str, object]) -> None:
    assert sentence(SendForm(data)) == "Write a message first."


@pytest.mark.parametrize("text", [5, True, ["a"], {"a": "b"}])
def test_prompt_that_is_not_a_text_is_refused_with_an_error_message(text: object) -> None:
    assert sentence(SendForm({"text": text})) == "This must be text."


def test_prompt_of_exactly_the_limit_is_valid(settings: Settings) -> None:
    settings.PROMPT_LIMIT_BYTES = 2048
    assert SendForm({"text": "é" * 1024}).is_valid()


def test_error_about_a_too_long_prompt_contains_its_size_and_the_limit(settings: Settings) -> None:
    settings.PROMPT_LIMIT_BYTES = 2048
    form = SendForm({"text": "é" * 1024 + "a"})
    assert sentence(form) == "This message has 3 KB, but at most 2 KB can be sent. Shorten it."
    assert form["text"].value() == "é" * 1024 + "a"


def test_nul_characters_are_removed_from_a_prompt() -> None:
    assert cleaned(SendForm({"text": "a\x00b"}))["text"] == "ab"


def test_half_a_surrogate_pair_becomes_a_replacement_character() -> None:
    data = json.loads(r'{"text": "a \ud800 \ud83d\ude00"}')
    assert cleaned(SendForm(data))["text"] == "a � 😀"


def test_single_attachment_may_be_sent_without_a_list() -> None:
    assert cleaned(SendForm({"text": "a", "attachments": ID}))["attachments"] == [uuid.UUID(ID)]


def test_attachments_keep_their_order_and_duplicates_are_removed() -> None:
    form = SendForm({"text": "a", "attachments": [OTHER_ID, ID, "", OTHER_ID, None]})
    assert cleaned(form)["attachments"] == [uuid.UUID(OTHER_ID), uuid.UUID(ID)]


def test_send_form_reads_posted_form_data_like_json_of_the_socket() -> None:
    form = SendForm(QueryDict(f"text=a&attachments={ID}&attachments={OTHER_ID}&client_id=x"))
    expected = {"text": "a", "attachments": [uuid.UUID(ID), uuid.UUID(OTHER_ID)], "client_id": "x", **UNSET}
    assert cleaned(form) == expected


@pytest.mark.parametrize("data", [{"text": "a"}, {"text": "a", "attachments": "", "client_id": ""}])
def test_attachments_and_client_id_are_optional_in_the_send_form(data: dict[str, object]) -> None:
    assert cleaned(SendForm(data)) == {"text": "a", "attachments": [], "client_id": "", **UNSET}


def test_too_many_attachments_are_refused_with_an_error_message() -> None:
    ids = [str(uuid.UUID(int=number)) for number in range(ATTACHMENTS_LIMIT + 1)]
    assert sentence(SendForm({"text": "a", "attachments": ids})) == "At most 10 files can be attached to one message."
    assert SendForm({"text": "a", "attachments": ids[1:]}).is_valid()


def nested(depth: int) -> list[object]:
    """Return lists that are nested to this depth."""
    innermost: list[object] = []
    for _ in range(depth):
        innermost = [innermost]
    return innermost


@pytest.mark.parametrize("depth", [1, 970, 5000])
def test_attachment_ids_in_deeply_nested_lists_are_refused_with_an_error_message(depth: int) -> None:
    form = SendForm({"text": "a", "attachments": nested(depth)})
    assert sentence(form) == "An attached file is not known here. Remove it and attach it again."


def test_attachment_ids_may_be_uuid_objects() -> None:
    assert cleaned(SendForm({"text": "a", "attachments": [uuid.UUID(ID), ID]}))["attachments"] == [uuid.UUID(ID)]


@pytest.mark.parametrize("attachments", ["x", ["../../etc/passwd"], [{"id": ID}], {"id": ID}, 5, True, [[ID]]])
def test_attachment_without_a_valid_id_is_refused_with_an_error_message(attachments: object) -> None:
    form = SendForm({"text": "a", "attachments": attachments})
    assert sentence(form) == "An attached file is not known here. Remove it and attach it again."


def test_long_client_id_is_refused_with_an_error_message() -> None:
    assert SendForm({"text": "a", "client_id": "x" * 64}).is_valid()
    form = SendForm({"text": "a", "client_id": "x" * 65})
    assert sentence(form) == "client_id can have at most 64 characters."


@given(st.dictionaries(st.sampled_from(["text", "attachments", "client_id", "other"]), json_values))
def test_any_json_in_the_send_form_is_refused_with_an_error_message_or_can_be_stored(data: dict[str, object]) -> None:
    form = SendForm(data)
    if form.is_valid():
        for name in ("text", "client_id"):
            assert b"\x00" not in form.cleaned_data[name].encode()
    else:
        assert form.sentence()


def test_line_breaks_in_a_title_become_spaces() -> None:
    assert cleaned(RenameForm({"title": "  a\n\t b  "})) == {"title": "a b"}


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("", "Give the conversation a name."),
        (" \n", "Give the conversation a name."),
        ("x" * 201, "A title can have at most 200 characters."),
        (" " * 200 + "x", "A title can have at most 200 characters."),
    ],
)
def test_invalid_title_is_refused_with_an_error_message(title: str, expected: str) -> None:
    assert sentence(RenameForm({"title": title})) == expected


def test_cleaned_settings_contain_only_the_fields_that_were_sent() -> None:
    assert cleaned(ConversationSettingsForm({"code_execution": "off"})) == {"code_execution": "off"}
    assert cleaned(ConversationSettingsForm({})) == {}
    assert cleaned(ConversationSettingsForm({"system_instruction": "", "title": ""})) == {
        "system_instruction": "",
        "title": "",
    }


@pytest.mark.parametrize(
    "model",
    [
        *("", "gemini-2.5-flash", "gemini-flash-latest", "scenario-images-3", "A_b.c-001"),
        *(
            "qwen3:8b",
            "meta-llama/llama-3.3-70b:free",
            "projects/x/models/y",
            "m@2026-01-01",
            "/models/qwen.gguf",
            "Qwen 3 8B",
        ),
    ],
)
def test_model_names_in_the_forms_of_known_servers_are_valid(model: str) -> None:
    assert cleaned(ConversationSettingsForm({"model": model})) == {"model": model}


@pytest.mark.parametrize(
    "model",
    [
        *("a\nb", "a\tb", "a\x7f", "a\x1bb", "../files", "..", "models/../files", "a/.."),
    ],
)
def test_model_name_with_control_characters_or_a_parent_folder_is_refused(model: str) -> None:
    assert sentence(ConversationSettingsForm({"model": model})) == "This is not the name of a model."


@pytest.mark.parametrize("choice", ["sometimes", ["on"], 1])
def test_unknown_choice_is_refused_with_an_error_message(choice: object) -> None:
    form = ConversationSettingsForm({"code_execution": choice})
    assert sentence(form) == "Answers may run code: auto, on or off."


def test_error_about_a_too_long_instruction_contains_its_size_and_the_limit(settings: Settings) -> None:
    settings.PROMPT_LIMIT_BYTES = 1024
    form = ConversationSettingsForm({"system_instruction": "x" * 1025})
    assert sentence(form) == "This instruction has 2 KB, but at most 1 KB can be sent. Shorten it."


@pytest.mark.parametrize("data", [{}, {"code": None}])
def test_approval_form_without_code_has_no_changed_code(data: dict[str, object]) -> None:
    assert cleaned(ApprovalForm({"call_id": " c ", **data})) == {
        "call_id": " c ",
        "message_id": None,
        "code": None,
    }


def test_code_in_an_approval_form_is_kept_as_typed() -> None:
    code = "\n  print(1)\n"
    assert cleaned(ApprovalForm({"call_id": "c", "code": code}))["code"] == code


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"code": "print(1)"}, "Say what is decided: call_id."),
        ({"call_id": "c", "code": " \n"}, EMPTY_CODE),
        ({"call_id": "c", "code": ""}, EMPTY_CODE),
        ({"call_id": "c", "code": 1}, "This must be text."),
    ],
)
def test_invalid_approval_form_is_refused_with_an_error_message(data: dict[str, object], expected: str) -> None:
    assert sentence(ApprovalForm(data)) == expected
