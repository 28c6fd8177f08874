"""When a response without content is asked for once more."""

from __future__ import annotations

import uuid

import pytest

from chat.answering.prompt.replay import Replay
from chat.answering.turns.retry import RetryPolicy
from chat.providers.provider_errors import FileRefused, InvalidRequest, ToolsRefused, ToolsUnsupported
from chat.providers.requests import BuiltInTool, GenerateRequest
from chat.vocabulary.built_in_tools import CODE_EXECUTION
from chat.vocabulary.stream_events import Finish


def make_policy() -> RetryPolicy:
    return RetryPolicy(Replay(), limit=4, first_pause_s=1, longest_pause_s=60, jitter=lambda: 0.0)


@pytest.mark.parametrize(
    ("finish", "is_empty", "is_retried"),
    [(Finish.STOP, False, True), (None, True, True), (None, False, False), (Finish.SAFETY, False, False)],
)
def test_response_without_text_is_retried_if_another_attempt_may_have_text(
    finish: Finish | None, is_empty: bool, is_retried: bool
) -> None:
    assert bool(make_policy().after_blank(finish, is_empty=is_empty)) is is_retried


def test_sent_files_are_suspected_if_they_are_few_or_the_error_is_about_files() -> None:
    few, many = [uuid.uuid4() for _ in range(4)], [uuid.uuid4() for _ in range(5)]
    for error, files, blamed in (
        (InvalidRequest(), few, few),
        (InvalidRequest(), many, []),
        (FileRefused(), many, many),
    ):
        policy = make_policy()
        retry = policy.after_failure(error, sent_files=files)
        assert retry
        assert not policy.replay.has_files
        assert policy.suspected_files == frozenset(blamed)
    # The next refusal is about tools, so it is not retried by leaving out files.
    assert policy.after_failure(ToolsRefused(), sent_files=())
    assert not policy.suspected_files


def test_blank_responses_of_one_round_are_retried_only_once() -> None:
    policy = make_policy()
    assert policy.after_blank(None, is_empty=True)
    assert policy.after_blank(Finish.STOP) is None
    assert policy.after_blank(None, is_empty=True) is None


def test_refusal_of_tools_is_retried_only_if_tools_were_offered() -> None:
    assert make_policy().after_failure(ToolsUnsupported(), sent_files=(), request=GenerateRequest("m", ())) is None
    policy = make_policy()
    with_tools = GenerateRequest("m", (), tools=(BuiltInTool(CODE_EXECUTION),))
    assert policy.after_failure(ToolsUnsupported(), sent_files=(), request=with_tools)
    assert policy.replay == Replay(has_tools=False)
    assert policy.after_failure(ToolsUnsupported(), sent_files=(), request=with_tools) is None
