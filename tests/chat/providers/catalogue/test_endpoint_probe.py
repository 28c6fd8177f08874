"""The test of an endpoint names each thing that works or does not, and never shows the key."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from chat.providers.catalogue import endpoint_probe
from chat.providers.catalogue.endpoint_probe import (
    ANSWER,
    FUNCTION,
    IMAGE,
    KEY,
    LIST,
    PROTOCOLS,
    USAGE,
    CheckResult,
    check_endpoint,
)
from chat.providers.provider_errors import InvalidRequest, Unauthorised, Unreachable
from chat.providers.requests import GenerateRequest
from chat.vocabulary.parts import FunctionCall, Thought
from chat.vocabulary.stream_events import Finish, Finished, PartReceived, StreamEvent
from tests.chat.providers.catalogue.fake_endpoint import FakeProvider, Server, make_capabilities, said
from tests.chat.providers.catalogue.rows import make_endpoint

pytestmark = pytest.mark.django_db


def check(name: str = "local", model: str = "") -> dict[str, CheckResult]:
    results = {result.name: result for result in check_endpoint(name, model)}
    assert list(results) == [KEY, LIST, ANSWER, PROTOCOLS, USAGE, FUNCTION, IMAGE]
    return results


def verdicts(results: dict[str, CheckResult]) -> str:
    """Return one letter for each result: works, fails, unknown."""
    return "".join({True: "w", False: "f", None: "u"}[result.ok] for result in results.values())


def test_all_checks_pass_if_the_server_can_do_everything(server: Server, settings: Settings) -> None:
    settings.ENDPOINT_API_KEYS = {"SOME_API_KEY": "secret"}
    make_endpoint(api_key_variable="SOME_API_KEY")
    results = check()
    assert [result.verdict for result in results.values()] == ["works"] * 7
    assert results[LIST].sentence == "The server was reached, and lists 2 models."
    assert results[ANSWER].sentence == "small answered “hello”."
    assert set(server.asked_models) == {"small"}
    assert "big answered" in check(model="big")[ANSWER].sentence


def test_key_is_checked_and_never_shown_in_results(server: Server, settings: Settings) -> None:
    row = make_endpoint()
    assert check()[KEY].ok is None
    row.api_key_variable = "SOME_API_KEY"
    row.save()
    assert check()[KEY] == CheckResult(
        KEY, False, "The variable SOME_API_KEY is not set. Set it, then restart the server processes."
    )
    settings.ENDPOINT_API_KEYS = {"SOME_API_KEY": "sk-secret"}
    server.text = Unauthorised("401 wrong key sk-secret")
    results = check()
    assert "401 wrong key (key)" in results[ANSWER].sentence
    assert "sk-secret" not in str(results)


def test_endpoint_from_the_settings_can_be_tested(settings_endpoint: Settings) -> None:
    assert verdicts(check("")) == "uwwwwww"
    settings_endpoint.OPENAI_API_KEY = "k"
    assert verdicts(check("")) == "wwwwwww"


@pytest.mark.parametrize(
    ("chosen", "spoken", "ok"),
    [("", "chat completions", True), ("responses", "chat completions", False), ("responses", "responses", True)],
)
def test_check_says_which_protocols_a_server_speaks(server: Server, chosen: str, spoken: str, ok: bool) -> None:
    make_endpoint(protocol=chosen)
    server.capabilities = make_capabilities(protocol=chosen)
    server.protocols = [spoken]
    result = check()[PROTOCOLS]
    [other] = {"chat completions", "responses"} - {spoken}
    assert result.ok is ok
    assert result.sentence.startswith(f"The server speaks {spoken}. By {other}: ")
    assert result.sentence.endswith("(404 page not found)")


def test_endpoint_that_is_turned_off_is_not_asked(server: Server) -> None:
    make_endpoint(is_enabled=False)
    (result,) = check_endpoint("local")
    assert (result.verdict, server.asked_models) == ("not known", [])
    assert "turned off" in result.sentence


def test_no_check_passes_if_the_server_cannot_be_reached(server: Server) -> None:
    make_endpoint()
    server.models = server.text = Unreachable("refused")
    results = check()
    assert verdicts(results) == "ufuuuuu"
    assert results[LIST].sentence.endswith("Try again. (refused)")
    assert results[IMAGE].sentence == "Not tried, because no model is known. Choose one."
    assert verdicts(check(model="big")) == "ufffuuu"


def test_chosen_model_is_tested_even_if_the_server_lists_no_models(server: Server) -> None:
    make_endpoint()
    server.models = []
    assert verdicts(check(model="hidden")) == "ufwwwww"


@pytest.mark.parametrize(
    ("answer", "sentence", "ok"),
    [
        (InvalidRequest("tools need --jinja"), "tools need --jinja", False),
        ([said("7")], "answered “7” and called no function", None),
        ([said("{}"), Finished(Finish.CALL_AS_TEXT)], "The call came as text", False),
        ([PartReceived(FunctionCall(name="report_number"))], "invalid arguments", False),
        ([PartReceived(FunctionCall(name="other", arguments={}))], "wrong name", False),
    ],
)
def test_function_check_says_what_the_model_did_instead_of_the_call(
    server: Server, answer: list[StreamEvent] | InvalidRequest, sentence: str, ok: bool | None
) -> None:
    make_endpoint()
    server.function = answer
    result = check()[FUNCTION]
    assert sentence in result.sentence
    assert result.ok is ok


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [(InvalidRequest("no vision"), "(no vision)"), ([said("Blue.")], "answered “Blue.” to a red image")],
)
def test_check_of_images_fails_if_the_model_does_not_see_the_image(
    server: Server, answer: list[StreamEvent] | InvalidRequest, sentence: str
) -> None:
    make_endpoint()
    server.image = answer
    result = check()[IMAGE]
    assert sentence in result.sentence
    assert result.ok is False


def test_functions_and_images_that_the_model_is_known_to_refuse_are_not_tried(server: Server) -> None:
    make_endpoint()
    server.capabilities = make_capabilities(functions=False, images=False)
    assert verdicts(check()) == "uwwwwff"
    # The model is asked once for the answer, and once by each protocol.
    assert len(server.asked_models) == 3


def test_check_of_token_counts_fails_if_the_answer_has_none(server: Server) -> None:
    make_endpoint()
    server.text = [said("hello"), Finished(Finish.STOP)]
    assert verdicts(check()) == "uwwwfww"


def test_check_of_answers_fails_if_the_model_sends_only_thoughts(server: Server) -> None:
    make_endpoint()
    server.text = [PartReceived(Thought("hello")), Finished(Finish.STOP)]
    assert verdicts(check()) == "uwfwuuu"


def test_test_of_a_silent_server_ends_at_its_time_limit(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    async def stream(self: FakeProvider, request: GenerateRequest) -> AsyncGenerator[list[StreamEvent], None]:
        await asyncio.Event().wait()
        yield []

    make_endpoint()
    monkeypatch.setattr(FakeProvider, "stream", stream)
    monkeypatch.setattr(endpoint_probe, "STEP_LIMIT_S", 0.01)
    assert "still loading the model" in check()[ANSWER].sentence


@pytest.mark.parametrize(
    "event", [said("words " * 100), PartReceived(FunctionCall(name="other"))], ids=["text", "calls"]
)
def test_endless_answer_is_closed_and_reported_as_too_long(
    server: Server, monkeypatch: pytest.MonkeyPatch, event: StreamEvent
) -> None:
    is_closed: list[bool] = []

    async def stream(self: FakeProvider, request: GenerateRequest) -> AsyncGenerator[list[StreamEvent], None]:
        try:
            while True:
                yield [event]
                await asyncio.sleep(0)
        finally:
            is_closed.append(True)

    make_endpoint()
    monkeypatch.setattr(FakeProvider, "stream", stream)
    result = check()[ANSWER]
    assert endpoint_probe.TOO_LONG in result.sentence
    assert len(result.sentence) < 1_000
    assert is_closed


def test_test_endpoint_command_prints_the_results_and_fails_if_a_check_fails(server: Server) -> None:
    make_endpoint()
    out = StringIO()
    call_command("test_endpoint", "local", "--model", "big", stdout=out)
    assert "Function call works. The model called a function.\n" in out.getvalue()
    server.image = [said("Blue")]
    with pytest.raises(CommandError, match=r"Does not work: Image\."):
        call_command("test_endpoint", "local", stdout=out)
