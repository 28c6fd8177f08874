"""The details of an answer: how it was made."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from chat.models import Turn
from chat.page.readers import OWNER, guest_reader
from chat.page.transcript.answer_details import answer_details, code_place
from chat.vocabulary.parts import Engine, ExecutableCode

BEGAN_AT = datetime(2026, 1, 1, tzinfo=UTC)


def make_turn(**columns: Any) -> Turn:
    """Return a turn that has ended after 4.26 seconds."""
    ended = {"status": Turn.Status.DONE, "created_at": BEGAN_AT, "ended_at": BEGAN_AT + timedelta(seconds=4.26)}
    return Turn(**{"model": "gemini-x", "parameters": {"label": "Gemini X"}, **ended, **columns})


def test_details_of_a_turn_without_own_settings_show_only_the_model() -> None:
    details = answer_details(make_turn(), OWNER)
    assert (details.model, details.duration_s, details.engine) == ("Gemini X", 4.3, "")
    assert details.parameters == ("model gemini-x",)


def test_details_list_the_parameters_of_the_models_preset() -> None:
    parameters = {
        "label": "gemini-x",
        "thinking_level": "high",
        "temperature": 0.0,
        "max_output_tokens": 4000,
        "web_search": True,
        "url_context": True,
    }
    assert answer_details(make_turn(parameters=parameters), OWNER).parameters == (
        "thinking high",
        "temperature 0.0",
        "at most 4,000 tokens written",
        "searches the web",
        "reads web pages",
    )
    budget = answer_details(make_turn(parameters={"label": "gemini-x", "thinking_budget": 0}), OWNER).parameters
    assert budget == ("at most 0 tokens of thinking",)


def test_details_say_that_code_ran_in_the_sandbox_and_in_the_session_if_both_are_true() -> None:
    turn = make_turn(engine=Engine.NATIVE)
    native, session = ExecutableCode("1"), ExecutableCode("2", engine=Engine.SESSION, made_by="c")
    assert answer_details(turn, OWNER, [native]).engine == "in the sandbox of the model's service"
    both = answer_details(turn, OWNER, [native, session]).engine
    assert both == "in the sandbox of the model's service, and in the Python session"


def test_details_show_the_owner_and_not_guests_whose_sandbox_ran_the_code() -> None:
    google = make_turn(engine=Engine.NATIVE, provider="gemini")
    assert answer_details(google, OWNER).engine == "in Google's sandbox"
    assert answer_details(google, guest_reader(str)).engine == "in the sandbox of the model's service"
    demo = make_turn(engine=Engine.NATIVE, provider="gemini", model="plotline-demo")
    assert answer_details(demo, OWNER).engine == "in the sandbox of the demo"
    assert code_place(demo, ExecutableCode("1"), OWNER) == "in the sandbox of the demo"
    assert code_place(demo, ExecutableCode("1", engine=Engine.SESSION), OWNER) == "in the Python session"
    notebook = make_turn(engine=Engine.NATIVE, model="")
    assert code_place(notebook, ExecutableCode("1"), OWNER) == ""


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"provider": "gemini"}, "Google Gemini"),
        ({"provider": "gemini", "model": "plotline-demo"}, ""),
        ({"provider": "openai_compatible", "endpoint": "lab"}, "OpenAI-compatible, endpoint lab"),
    ],
)
def test_details_show_the_name_of_the_service_and_of_its_endpoint(columns: dict[str, str], words: str) -> None:
    assert answer_details(make_turn(**columns), OWNER).service == words


def test_details_say_that_the_demo_model_is_free() -> None:
    used = make_turn(provider="gemini", model="plotline-demo", usage={"total": 5})
    assert answer_details(used, OWNER).cost == "free: the demo model runs on this server"


def test_details_show_the_number_and_the_cost_of_searches() -> None:
    priced = {"parameters": {"prices": {"input": "1", "search": "14"}}, "cost": Decimal("0.05")}
    assert answer_details(make_turn(**priced), OWNER).searches == ""
    assert answer_details(make_turn(**priced, queries=["", "a", "b"]), OWNER).searches == "2, $0.028 of the cost"
    assert answer_details(make_turn(queries=["a"]), OWNER).searches == "1"
    by_another = make_turn(**priced, queries=["a"], model_note="Other answered in place of gemini-x.")
    assert answer_details(by_another, OWNER).searches == "1"
    running = make_turn(queries=["a"], status=Turn.Status.RUNNING, ended_at=None)
    assert answer_details(running, OWNER).searches == ""


@pytest.mark.parametrize(
    ("engine", "words"),
    [(Engine.NATIVE, "in the sandbox of the model's service"), (Engine.SESSION, "in the Python session")],
)
def test_details_say_where_code_ran_once_the_turn_has_ended(engine: Engine, words: str) -> None:
    assert answer_details(make_turn(engine=engine), OWNER).engine == words
    assert answer_details(make_turn(engine=engine, status=Turn.Status.RUNNING, ended_at=None), OWNER).engine == ""


@pytest.mark.parametrize(
    ("columns", "ended"),
    [
        ({"finish": "stop", "finish_reason": "STOP", "finish_message": "All is well."}, ""),
        (
            {"finish": "malformed_call", "finish_reason": "MALFORMED_FUNCTION_CALL", "finish_message": "print(<b>1)"},
            "MALFORMED_FUNCTION_CALL: print( 1)",
        ),
        ({"finish": "length", "finish_reason": "MAX_TOKENS"}, "MAX_TOKENS"),
        ({"finish": "round_limit"}, ""),
        ({"status": Turn.Status.FAILED, "finish_message": "Out of capacity."}, "Out of capacity."),
        ({"status": Turn.Status.RUNNING, "finish": "length", "finish_reason": "MAX_TOKENS"}, ""),
    ],
)
def test_details_show_the_owner_and_not_guests_why_an_answer_is_incomplete(columns: dict[str, Any], ended: str) -> None:
    assert answer_details(make_turn(**columns), OWNER).ended == ended
    assert answer_details(make_turn(**columns), guest_reader(str)).ended == ""


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        ({"usage": {"total": 7, "estimated": None}}, (7, None, False)),
        ({"usage": {"total": 7, "estimated": 5}}, (7, 5, False)),
        ({"usage": {"total": None, "estimated": 5}}, (None, 5, False)),
        # Answers of versions that made no estimate, and of processes that have died.
        ({"usage": {}}, (None, None, True)),
        ({"usage": {"total": 0}}, (None, None, True)),
        ({"usage": {}, "first_part_at": None}, (None, None, False)),
        ({"usage": {}, "chosen": {"own_code": True}}, (None, None, False)),
        ({"usage": {}, "status": Turn.Status.RUNNING}, (None, None, False)),
    ],
)
def test_unreported_token_counts_are_never_shown_as_zero(
    columns: dict[str, Any], shown: tuple[int | None, int | None, bool]
) -> None:
    details = answer_details(make_turn(**{"first_part_at": BEGAN_AT, **columns}), OWNER)
    assert (details.total, details.estimated, details.is_uncounted) == shown
