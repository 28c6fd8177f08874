"""Exports of answers in which a person decided about function calls."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from chat.library.exports.sentences import EDITED_SENTENCE
from chat.models import Conversation, Turn
from chat.vocabulary.parts import (
    JSON,
    OUTCOME_OK,
    CodeExecutionResult,
    Engine,
    ExecutableCode,
    FunctionCall,
    FunctionResponse,
    Part,
    Refusal,
)
from tests.chat.library.exports.samples import add_parts, exported_bytes, exported_json
from tests.factories import make_conversation, make_model_message

pytestmark = pytest.mark.django_db

EDITED = "print('the code of the person')"


def code_call(call_id: str, response: Mapping[str, JSON], *, refusal: Refusal | None = None) -> list[Part]:
    """Return a call that ran changed code, as the tool loop stores it."""
    return [
        FunctionCall("run_python", {"code": f"print('the code of the model {call_id}')"}, call_id),
        ExecutableCode(EDITED, "PYTHON", call_id, Engine.SESSION, is_edited=True, made_by=call_id),
        CodeExecutionResult("shown\n", outcome=OUTCOME_OK, call_id=call_id, engine=Engine.SESSION, made_by=call_id),
        FunctionResponse("run_python", response, call_id, refusal is not None, refusal, made_by=call_id),
    ]


@pytest.fixture
def conversation() -> Conversation:
    """An answer with a changed call, a withheld result, a denied call, and a call of another function."""
    conversation = make_conversation(title="Decisions")
    denied = FunctionCall("run_python", {"code": "print('denied')"}, "c3")
    listed = FunctionCall("list_files", {"below": "data"}, "c4")
    add_parts(
        make_model_message(conversation, parts=[]),
        *code_call("c1", {"output": "shown\n"}),
        *code_call("c2", {"error": "Not released."}, refusal=Refusal.WITHHELD),
        denied,
        FunctionResponse("run_python", {"error": "Not allowed."}, "c3", True, Refusal.DENIED, made_by="c3"),
        listed,
        FunctionResponse("list_files", {"files": ["a.csv"]}, "c4", made_by="c4"),
    )
    return conversation


@pytest.mark.parametrize("format_name", ["md", "ipynb", "html"])
def test_export_shows_the_code_that_a_person_changed_and_not_the_models_code(
    conversation: Conversation, format_name: str
) -> None:
    text = exported_bytes(conversation, format_name).decode()
    assert text.count("the code of the person") == 2
    if format_name != "html":
        assert "the code of the model" not in text


def test_markdown_shows_changed_code_and_denied_calls_and_withheld_results(conversation: Conversation) -> None:
    text = exported_bytes(conversation, "md").decode()
    assert text.count(f"*{EDITED_SENTENCE}*\n\n```python\n{EDITED}\n```") == 2
    assert "*Result not sent to the model: run\\_python*" in text
    assert "*Function not allowed: run\\_python*" in text


def test_markdown_shows_arguments_and_result_of_a_denied_call_and_of_a_call_without_code(
    conversation: Conversation,
) -> None:
    text = exported_bytes(conversation, "md").decode()
    for value in ({"code": "print('denied')"}, {"error": "Not allowed."}, {"below": "data"}, {"files": ["a.csv"]}):
        assert json.dumps(value) in text


def test_notebook_marks_code_that_a_person_changed(conversation: Conversation) -> None:
    notebook = json.loads(exported_bytes(conversation, "ipynb"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["source"] for cell in code] == [EDITED, EDITED]
    assert all(cell["metadata"]["plotline"]["is_edited"] for cell in code)


def test_json_contains_the_models_call_the_changed_code_and_each_refusal(conversation: Conversation) -> None:
    parts = exported_json(conversation)["messages"][1]["parts"]
    assert parts[0]["arguments"] == {"code": "print('the code of the model c1')"}
    assert (parts[1]["code"], parts[1]["is_edited"]) == (EDITED, True)
    refusals = [part.get("refusal") for part in parts if part["kind"] == "function_response"]
    assert refusals == [None, "withheld", "denied", None]


def test_html_export_says_what_a_person_decided(conversation: Conversation) -> None:
    html = exported_bytes(conversation, "html").decode()
    for words in ("changed before it ran", "Result not sent to the model", "Function not allowed"):
        assert words in html


@pytest.mark.parametrize("format_name", ["md", "ipynb", "html"])
def test_export_says_that_an_answer_waited_for_a_decision_and_has_no_buttons(format_name: str) -> None:
    conversation = make_conversation()
    make_model_message(conversation, parts=[], status=Turn.Status.WAITING)
    text = exported_bytes(conversation, format_name).decode()
    assert "This answer waited for a decision when this was exported." in text
    assert 'class="approval"' not in text
