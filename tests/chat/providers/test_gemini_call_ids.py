"""Ids of function calls and their responses: the ids of Gemini are sent back, and those of Plotline are not sent."""

from __future__ import annotations

import pytest

from chat.providers.requests import Content
from chat.vocabulary.parts import FunctionCall, FunctionResponse, Role
from tests.chat.providers.conftest import sent_contents


def function_call(call_id: str, own_id: str = "") -> FunctionCall:
    """Return a call. `own_id`: the id that Gemini gave to it."""
    return FunctionCall("run", {"a": 1}, call_id, provider_data={"content": {"id": own_id}} if own_id else {})


def ids_on_wire(*contents: Content) -> list[str | None]:
    """Return the id of each function call and function response in a request."""
    parts = [part for content in sent_contents(*contents) for part in content["parts"]]
    return [next(iter(part.values())).get("id") for part in parts if "text" not in part]


def test_function_response_is_sent_with_the_id_that_gemini_gave_to_the_call() -> None:
    calls = Content(Role.MODEL, (function_call("c1", "c1"), function_call("c2", "c2")))
    responses = Content(Role.USER, (FunctionResponse("run", {}, "c1"), FunctionResponse("run", {}, "c2")))
    assert ids_on_wire(calls, responses) == ["c1", "c2", "c1", "c2"]


def test_call_id_that_plotline_made_is_not_sent() -> None:
    calls = Content(Role.MODEL, (function_call("made-by-plotline"),))
    responses = Content(Role.USER, (FunctionResponse("run", {}, "made-by-plotline"),))
    assert ids_on_wire(calls, responses) == [None, None]


def test_call_with_an_id_changed_by_plotline_is_sent_with_its_original_id() -> None:
    # Gemini gave both calls the same id, so Plotline gave the second one another id.
    calls = Content(Role.MODEL, (function_call("c1", "c1"), function_call("made-by-plotline", "c1")))
    responses = Content(Role.USER, (FunctionResponse("run", {}, "c1"), FunctionResponse("run", {}, "made-by-plotline")))
    assert ids_on_wire(calls, responses) == ["c1", "c1", "c1", "c1"]


@pytest.mark.parametrize("is_own_first", [True, False])
def test_response_to_another_models_call_has_no_id_even_if_an_own_call_has_that_id(is_own_first: bool) -> None:
    own = (
        Content(Role.MODEL, (function_call("c1", "c1"),)),
        Content(Role.USER, (FunctionResponse("run", {}, "c1"),)),
    )
    foreign = (
        Content(Role.MODEL, (function_call("c1"),), is_own=False),
        Content(Role.USER, (FunctionResponse("run", {}, "c1"),)),
    )
    expected = {True: ["c1", "c1", None, None], False: [None, None, "c1", "c1"]}
    assert ids_on_wire(*(own + foreign if is_own_first else foreign + own)) == expected[is_own_first]
