"""Where the code of an answer runs: the table of settings, abilities and circumstances, and its reasons."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import pytest
from pytest_django import Settings

from attachments.models import Attachment
from attachments.validation import CSV, EXCEL, PARQUET
from chat.answering import code_tools
from chat.answering.code_tools import EngineOptions
from chat.answering.turns.engine_choice import NO_CODE_HERE, choose_engine, may_move, obstacle_to_own_code, sent_files
from chat.answering.turns.start_rules import TurnChoices, decide_code, is_data
from chat.models import Conversation, Message, Turn
from chat.providers.base import Capabilities
from chat.providers.catalogue.setups import Setup
from chat.python.tool_set import engine_rules
from chat.python.tool_set.engine_rules import reason_to_move
from chat.python.tool_set.factory import python_tools
from chat.vocabulary.parts import (
    OUTCOME_DEADLINE_EXCEEDED,
    OUTCOME_FAILED,
    OUTCOME_OK,
    CodeExecutionResult,
    Engine,
    Part,
    Text,
)

NATIVE, SESSION = Engine.NATIVE, Engine.SESSION
MIB = 1024 * 1024


@dataclass
class FakeProvider:
    """A provider with these capabilities."""

    functions: bool = True
    functions_beside_built_in: bool = True
    stores_files: bool = True
    refused_type: str = ""

    def capabilities(self, model: str) -> Capabilities:
        """Return what the fields say, for an account without a key."""
        return Capabilities(
            "account",
            self.functions,
            self.functions_beside_built_in,
            self.stores_files,
            lambda mime_type: "" if mime_type == self.refused_type else mime_type,
        )


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> FakeProvider:
    """The provider of all models."""
    fake = FakeProvider()
    monkeypatch.setattr(code_tools, "get_provider", lambda name, endpoint: fake)
    return fake


def options(setting: str = "auto", *, has_session: bool = False, size_mib: int = 0, **setup: Any) -> EngineOptions:
    """Return options of a question with one file of this size, if any."""
    files = [Attachment(name="a.csv", mime_type="text/csv", size_bytes=size_mib * MIB)] if size_mib else []
    return EngineOptions(Setup("fake", "m", label="Modello", **setup), setting, lambda: has_session, files)


NO_CODE = {"code_execution": False}


@pytest.mark.parametrize(
    ("setting", "circumstances", "engine", "reason"),
    [
        ("auto", {}, NATIVE, ""),
        ("auto", {"has_session": True}, SESSION, "holds the variables"),
        ("auto", NO_CODE, SESSION, "Modello does not run code itself"),
        ("auto", {**NO_CODE, "allows_code": False}, None, "Modello does not run code."),
        ("auto", {"image_output": True, "has_session": True}, NATIVE, ""),
        ("auto", {**NO_CODE, "image_output": True}, None, "Modello does not run code."),
        ("native", {}, NATIVE, ""),
        ("native", {"has_session": True}, NATIVE, ""),
        ("native", NO_CODE, None, "runs code nowhere else"),
        ("session", {}, SESSION, "as this conversation is set"),
        ("session", NO_CODE, SESSION, "as this conversation is set"),
        ("session", {"image_output": True}, NATIVE, "calls no functions"),
        ("session", {**NO_CODE, "allows_code": False}, None, "Modello does not run code."),
    ],
)
def test_engine_and_reason_depend_on_the_setting_and_the_models_abilities(
    provider: FakeProvider, setting: str, circumstances: dict[str, Any], engine: Engine | None, reason: str
) -> None:
    choice = choose_engine(options(setting, **circumstances))
    assert choice.engine == engine
    assert reason in choice.reason
    assert bool(choice.reason) == bool(reason)


ENGINES = {
    # (runs code itself, can use the session, setting, a reason for the session) -> (engine, offers the session beside)
    (True, True, "auto", False): (NATIVE, True),
    (True, True, "auto", True): (SESSION, False),
    (True, True, "native", False): (NATIVE, False),
    (True, True, "native", True): (NATIVE, False),
    (True, True, "session", False): (SESSION, False),
    (True, True, "session", True): (SESSION, False),
    (True, False, "auto", False): (NATIVE, False),
    (True, False, "auto", True): (NATIVE, False),
    (True, False, "native", False): (NATIVE, False),
    (True, False, "native", True): (NATIVE, False),
    (True, False, "session", False): (NATIVE, False),
    (True, False, "session", True): (NATIVE, False),
    (False, True, "auto", False): (SESSION, False),
    (False, True, "auto", True): (SESSION, False),
    (False, True, "native", False): (None, False),
    (False, True, "native", True): (None, False),
    (False, True, "session", False): (SESSION, False),
    (False, True, "session", True): (SESSION, False),
    (False, False, "auto", False): (None, False),
    (False, False, "auto", True): (None, False),
    (False, False, "native", False): (None, False),
    (False, False, "native", True): (None, False),
    (False, False, "session", False): (None, False),
    (False, False, "session", True): (None, False),
}


def test_each_combination_of_conditions_has_the_expected_engine(
    provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"none": [], "large": [Attachment(name="a.csv", mime_type=CSV, size_bytes=20 * MIB)]}
    files["of a type that is not taken"] = [Attachment(name="a.xlsx", mime_type=EXCEL, size_bytes=9)]
    provider.refused_type = EXCEL
    either = (False, True)
    seen = set()
    models, services = product(either, either, either), product(either, either)
    circumstances_of_all = product(models, services, either, either, ("auto", "native", "session"), files)
    for model_facts, service_facts, is_on, has_session, setting, kind in circumstances_of_all:
        has_code, allows_code, makes_images = model_facts
        functions, stores_files = service_facts
        provider.functions, provider.stores_files = functions, stores_files
        monkeypatch.setattr(engine_rules, "is_enabled", partial(bool, is_on))
        model = Setup(
            "fake", "m", code_execution=has_code, allows_code=allows_code, image_output=makes_images, label="Modello"
        )
        choice = choose_engine(EngineOptions(model, setting, partial(bool, has_session), files[kind]))
        can_use = is_on and functions and not makes_images and (has_code or allows_code)
        is_preferred = has_session or kind == "of a type that is not taken" or (kind == "large" and not stores_files)
        circumstances = (has_code, can_use, setting, is_preferred)
        assert (choice.engine, choice.offers_session) == ENGINES[circumstances], (circumstances, model)
        assert choice.reason or choice.engine is NATIVE
        seen.add(circumstances)
    assert seen == set(ENGINES)


AUTO_WANTED, AUTO_NOT_WANTED = "Plot a sine wave.", "Who wrote Hamlet?"


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize(
    ("mode", "text", "chosen", "runs_code"),
    [
        ("on", AUTO_NOT_WANTED, TurnChoices(), True),
        ("auto", AUTO_WANTED, TurnChoices(), True),
        ("auto", AUTO_NOT_WANTED, TurnChoices(), False),
        ("off", AUTO_WANTED, TurnChoices(), False),
        ("off", AUTO_NOT_WANTED, TurnChoices(code_mode="on"), True),
        ("on", AUTO_WANTED, TurnChoices(code_mode="off"), False),
        ("on", AUTO_WANTED, TurnChoices(without_tools=True), False),
    ],
)
def test_code_mode_decides_whether_a_turn_runs_code(
    provider: FakeProvider, native: bool, mode: str, text: str, chosen: TurnChoices, runs_code: bool
) -> None:
    setup = Setup("fake", "m", label="Modello", code_execution=native)
    decision = decide_code(
        Conversation(code_execution=mode), Message(index=0, text=text), [], chosen, setup, None, lambda: False
    )
    expected = (NATIVE if native else SESSION) if runs_code else None
    assert (decision.engine, decision.offers_session) == (expected, expected is NATIVE)
    assert decision.reason


def test_users_own_code_runs_in_the_session_even_if_model_and_conversation_run_no_code(provider: FakeProvider) -> None:
    decision = decide_code(
        Conversation(code_execution="off", engine="native"),
        Message(index=0),
        [],
        TurnChoices(own_code=True),
        Setup("fake", "m", label="Modello", code_execution=False),
        None,
        lambda: False,
    )
    assert (decision.engine, decision.offers_session) == (SESSION, False)


@pytest.mark.parametrize(
    ("before", "has_session", "engine", "offers_session"),
    [
        (NATIVE, False, NATIVE, True),
        (NATIVE, True, SESSION, False),
        (SESSION, False, SESSION, False),
        (None, True, None, False),
    ],
)
def test_continued_answer_keeps_its_session_but_native_code_may_move_to_a_session(
    provider: FakeProvider, before: Engine | None, has_session: bool, engine: Engine | None, offers_session: bool
) -> None:
    continued = Turn(engine=before or "", code_execution=before is not None, code_mode="on")
    decision = decide_code(
        Conversation(),
        Message(index=2),
        [],
        TurnChoices(continues=True),
        Setup("fake", "m", label="Modello"),
        continued,
        lambda: has_session,
    )
    assert (decision.engine, decision.offers_session) == (engine, offers_session)


@pytest.mark.parametrize(
    ("engine", "offers_session", "has_tools", "can_move"),
    [
        (NATIVE, True, True, True),
        (NATIVE, False, False, False),
        (SESSION, False, True, False),
        (SESSION, True, True, False),
        ("", False, False, False),
    ],
)
def test_tools_and_permission_to_move_depend_only_on_what_was_stored_with_the_turn(
    settings: Settings, engine: str, offers_session: bool, has_tools: bool, can_move: bool
) -> None:
    # What has changed since the decision does not matter.
    for limit, setting in product((0, 1), Conversation.Engine.values):
        settings.KERNELS_LIMIT = limit
        turn = Turn(engine=engine, offers_session=offers_session, conversation=Conversation(engine=setting))
        assert (python_tools(turn) is not None, may_move(turn)) == (has_tools, can_move)


def test_session_is_not_used_if_sessions_are_turned_off(provider: FakeProvider, settings: Settings) -> None:
    settings.KERNELS_LIMIT = 0
    assert choose_engine(options("session")).engine is NATIVE
    assert "turned off on this server" in choose_engine(options("session")).reason
    assert choose_engine(options("auto", **NO_CODE)).engine is None


def test_code_runs_only_at_the_service_if_there_is_no_tool_set_for_code(
    provider: FakeProvider, settings: Settings
) -> None:
    settings.TOOL_SETS = ["tests.chat.answering.tools.table_tools.make"]
    choice = choose_engine(options("session", has_session=True))
    assert (choice.engine, choice.offers_session) == (NATIVE, False)
    choice = choose_engine(options("session", **NO_CODE))
    assert (choice.engine, choice.reason) == (None, "Modello does not run code.")
    assert obstacle_to_own_code() == NO_CODE_HERE
    workbook = Attachment(name="a.xlsx", mime_type=EXCEL, size_bytes=9)
    assert sent_files([workbook], SESSION) == [workbook]


def test_code_runs_in_the_session_if_files_are_too_large_to_be_sent(provider: FakeProvider) -> None:
    assert choose_engine(options(size_mib=20)).engine is NATIVE
    provider.stores_files = False
    assert choose_engine(options(size_mib=10)).engine is NATIVE
    choice = choose_engine(options(size_mib=20))
    assert choice.engine is SESSION
    assert "too large to be sent" in choice.reason
    assert choose_engine(options("native", size_mib=20)).engine is NATIVE


def test_code_runs_in_the_session_if_the_model_does_not_accept_a_files_type(provider: FakeProvider) -> None:
    provider.refused_type = EXCEL
    files = [
        Attachment(name=name, mime_type=kind, size_bytes=9) for name, kind in (("a.csv", CSV), ("sales.xlsx", EXCEL))
    ]
    choice = choose_engine(replace(options(), files=files))
    assert choice.engine is SESSION
    assert "does not take files like “sales.xlsx”" in choice.reason
    assert choose_engine(replace(options(), files=files[:1])).engine is NATIVE
    assert choose_engine(replace(options("native"), files=files)).engine is NATIVE
    # A model reads images itself, if at all.
    provider.refused_type = "image/webp"
    picture = Attachment(name="a.webp", mime_type="image/webp", size_bytes=9)
    assert choose_engine(replace(options(), files=[picture])).engine is NATIVE


def test_reason_says_that_the_web_is_not_searched_if_the_session_excludes_it(provider: FakeProvider) -> None:
    both = options("session", web_search=True, functions_beside_tools=True)
    assert "web" not in choose_engine(both).reason
    provider.functions_beside_built_in = False
    assert "The web is not searched" in choose_engine(options("session", web_search=True)).reason
    assert "The web is not searched" in choose_engine(options("session", url_context=True)).reason
    assert "web" not in choose_engine(options("session")).reason


def result(outcome: str, output: str = "", engine: Engine = NATIVE) -> CodeExecutionResult:
    """Return a result of code."""
    return CodeExecutionResult(output=output, outcome=outcome, engine=engine)


FAILED = result(OUTCOME_FAILED, "Traceback\nModuleNotFoundError: No module named 'xgboost.core'\n")


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ([result(OUTCOME_DEADLINE_EXCEEDED), Text("Sorry.")], "ran out of time"),
        ([FAILED], "does not have the Python module “xgboost.core”"),
        ([result(OUTCOME_FAILED, "ImportError: No module named sklearn_extra")], "“sklearn_extra”"),
        ([FAILED, result(OUTCOME_OK, "1")], ""),
        ([result(OUTCOME_OK), FAILED], "xgboost"),
        ([result(OUTCOME_FAILED, "ZeroDivisionError: division by zero")], ""),
        ([result(OUTCOME_FAILED, "No module named '<script>'")], ""),
        ([result(OUTCOME_DEADLINE_EXCEEDED, engine=SESSION)], ""),
        ([Text("No module named 'x'")], ""),
        ([], ""),
    ],
)
def test_code_moves_to_the_session_after_a_result_that_the_session_can_improve(parts: list[Part], reason: str) -> None:
    assert reason in reason_to_move(parts)
    assert bool(reason_to_move(parts)) == bool(reason)


def test_csv_excel_and_parquet_files_are_recognized_as_data_by_their_mime_types() -> None:
    assert [is_data(mime_type, "file") for mime_type in (CSV, EXCEL, PARQUET, "text/plain")] == [
        True,
        True,
        True,
        False,
    ]
