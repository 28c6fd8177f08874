"""google-genai accepts the requests that this package writes, and the package reads each type of google-genai."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from google.genai import interactions

from chat.providers.google.interactions.body import request_body
from chat.providers.google.interactions.events import CUT, FAILED, FINISHES, MEDIA, STEP_OF_DELTA, InteractionDecoder
from chat.providers.requests import Content, GenerateRequest
from chat.vocabulary.parts import JSONObject, Role, Text
from chat.vocabulary.stream_events import Finish, Finished, PartReceived
from tests.chat.providers.conftest import parts_of
from tests.chat.providers.test_interaction_requests import QUESTION, full_request
from tests.interaction_streams import completed, step
from tests.interactions_recordings import Recording, interaction_recordings


def names_in(union: object) -> list[str]:
    """Return the values of the field `type` that the members of a union have."""
    members = get_args(get_args(union)[0])
    return [str(one.model_fields["type"].default) for one in members if "raw" not in one.model_fields]


def as_the_sdk_writes(body: dict[str, Any]) -> dict[str, Any]:
    """Return a request after the SDK has read and written it. Raises ValidationError."""
    request = interactions.CreateModelInteraction.model_validate(body)
    written: dict[str, Any] = request.model_dump(mode="json", exclude_none=True, by_alias=True)
    return written


def test_request_is_unchanged_after_the_sdk_has_read_and_written_it() -> None:
    body = json.loads(request_body(full_request()))
    assert as_the_sdk_writes(body) == body


@pytest.mark.parametrize("name", names_in(interactions.Step))
def test_each_step_type_of_the_sdk_is_read_and_sent_back(name: str) -> None:
    known: dict[str, JSONObject] = {
        "thought": {"signature": "dA=="},
        "model_output": {"content": [{"type": "text", "text": "One."}]},
        "function_call": {"id": "x", "name": "f", "arguments": {"a": 1}},
    }
    call: JSONObject = {"id": "x", "arguments": {"code": "1"}}
    result: JSONObject = {"call_id": "x", "result": []}
    sent = {"type": name, **known.get(name, result if name.endswith("_result") else call)}
    decoder = InteractionDecoder()
    events = [*decoder.decode({"object": "interaction", "status": "completed", "steps": [sent]}), *decoder.end()]
    history = GenerateRequest("m", (QUESTION, Content(Role.MODEL, tuple(parts_of(events))), QUESTION))
    back = json.loads(request_body(history))["input"][1:-1]
    assert back == ([] if name == "user_input" else [sent])


@pytest.mark.parametrize("name", names_in(interactions.StepDeltaData))
def test_each_delta_type_of_the_sdk_is_read(name: str) -> None:
    delta = (
        {"type": name, "data": "YQ==", "mime_type": "image/png"} if name in MEDIA else {"type": name, "text": "One."}
    )
    events = step(0, {"type": STEP_OF_DELTA.get(name, name)}, delta)
    decoder = InteractionDecoder()
    found = [one for event in [*events, completed()] for one in decoder.decode(event)]
    assert any(isinstance(one, Finished) for one in found)
    is_shown = any(isinstance(one, PartReceived) and one.part != Text("") for one in found)
    # These deltas are empty here.
    assert is_shown or name in ("thought_summary", "thought_signature", "text_annotation_delta")


def test_each_interaction_status_of_the_sdk_is_handled_except_budget_exceeded() -> None:
    known = get_args(get_args(interactions.InteractionStatus)[0])
    assert set(known) - CUT - FINISHES.keys() - {FAILED} == {"budget_exceeded"}
    assert FINISHES["idle"] is Finish.STOP


@pytest.mark.parametrize("recorded", interaction_recordings(), ids=lambda one: one.name)
def test_sdk_reads_and_writes_the_same_steps_that_are_sent_back(recorded: Recording) -> None:
    body = {"model": "m", "input": recorded.back}
    assert as_the_sdk_writes(body)["input"] == recorded.back
