"""Quotas when turns start and end, and the limit of live turns of one person in several processes."""

from __future__ import annotations

import threading

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from chat.answering.turns.finish import Ending, end_turn
from chat.answering.turns.start import Ask, RunCode, Start, create_turns
from chat.answering.turns.start_plan import PlannedTurn
from chat.answering.turns.start_rules import StartRefused
from chat.messages.answer import Answer
from chat.messages.changes import Reported, RoundStarted
from chat.models import Conversation, QuotaUse, Turn, User
from chat.people.quotas.enforcement import count_usage
from chat.people.quotas.resources import QuotaExceeded, Resource, day_of
from chat.people.quotas.usage import read_usage
from chat.vocabulary.stream_events import Usage, UsageReported
from tests.chat.turn_driver import create_turn, make_question
from tests.factories import make_conversation, make_user

pytestmark = pytest.mark.django_db


def limits(settings: Settings, **changed: int) -> None:
    settings.QUOTAS = {**settings.QUOTAS, **changed}


def start(*starts: Start) -> list[PlannedTurn | Exception]:
    return create_turns(starts, lease_owner="test")


def are_started(outcomes: list[PlannedTurn | Exception]) -> list[bool]:
    return [isinstance(outcome, PlannedTurn) for outcome in outcomes]


def used(user: User) -> QuotaUse:
    return QuotaUse.objects.get(user=user, day=day_of(timezone.now()))


def test_turns_that_start_in_one_batch_are_counted_exactly(settings: Settings) -> None:
    limits(settings, turns_per_day=3)
    ada, ben = make_user(), make_user()
    outcomes = start(*(make_question(make_conversation(owner)) for owner in (ada, ada, ben, ada, ada)))
    assert are_started(outcomes) == [True, True, True, True, False]
    assert "You have started 3 answers today, of at most 3 answers a day." in str(outcomes[-1])
    assert (used(ada).turns, used(ben).turns) == (3, 1)
    assert are_started(start(make_question(make_conversation(ada)))) == [False]
    assert used(ada).turns == 3


def test_refused_and_repeated_starts_are_not_counted_for_the_quota(settings: Settings) -> None:
    limits(settings, turns_per_day=2)
    ada = make_user()
    conversation = make_conversation(ada)
    start(make_question(conversation, client_id="a"))
    refused, again, foreign = start(
        make_question(conversation, "while the first is live"),
        make_question(conversation, client_id="a"),
        Ask(make_user(), conversation.pk, "not mine"),
    )
    assert are_started([refused, again, foreign]) == [False, True, False]
    assert used(ada).turns == 1
    assert are_started(start(make_question(make_conversation(ada)))) == [True]


def test_repeated_client_id_returns_its_turn_even_if_the_quota_is_used_up(settings: Settings) -> None:
    limits(settings, turns_per_day=1)
    conversation = make_conversation()
    [first] = start(make_question(conversation, client_id="a"))
    [again] = start(make_question(conversation, client_id="a"))
    assert isinstance(first, PlannedTurn)
    assert isinstance(again, PlannedTurn)
    assert first.turn.pk == again.turn.pk


def test_tokens_are_counted_when_a_turn_ends_and_too_many_prevent_the_next_turn(settings: Settings) -> None:
    limits(settings, tokens_per_day=1_000)
    conversation = make_conversation()
    for tokens in (999, 5):
        turn = create_turn(make_question(conversation)).turn
        answer = Answer()
        answer.apply(Reported(UsageReported(Usage(total=tokens))))
        end_turn(turn, Ending(Turn.Status.DONE, answer))
    with pytest.raises(QuotaExceeded, match="Your answers have used 1,004 tokens today, of at most 1,000 tokens a day"):
        create_turn(make_question(conversation))
    assert used(conversation.owner).turns == 2


def test_estimated_tokens_count_for_the_quota_and_the_refusal_says_how_many_are_estimated(settings: Settings) -> None:
    limits(settings, tokens_per_day=1_000)
    conversation = make_conversation()
    turn = create_turn(make_question(conversation)).turn
    Turn.objects.filter(pk=turn.pk).update(first_part_at=timezone.now())
    answer = Answer()
    answer.apply(Reported(UsageReported(Usage(total=400))))
    answer.apply(RoundStarted(1))
    answer.apply(Reported(UsageReported(Usage(estimated=700))))
    end_turn(turn, Ending(Turn.Status.DONE, answer))
    with pytest.raises(QuotaExceeded, match=r"used 1,100 tokens today, .* About 700 tokens of these are an estimate"):
        create_turn(make_question(conversation))
    usage = read_usage(conversation.owner_id, [Resource.TOKENS], day=day_of(timezone.now()))[Resource.TOKENS]
    assert (usage.used, usage.estimated) == (1_100, 700)


def test_code_that_a_person_runs_is_refused_if_their_kernel_time_is_used_up(settings: Settings) -> None:
    limits(settings, kernel_seconds_per_day=10)
    conversation = make_conversation()
    count_usage(conversation.owner_id, Resource.KERNEL_TIME, 10_000)
    with pytest.raises(QuotaExceeded, match="has run for 10 seconds today, of at most 10 seconds a day"):
        create_turn(RunCode(conversation.owner, conversation.pk, "1"))
    create_turn(make_question(conversation))


def test_starts_in_a_batch_are_counted_with_one_statement() -> None:
    conversations = [make_conversation() for _ in range(3)]
    with CaptureQueriesContext(connection) as queries:
        start(*map(make_question, conversations))
    assert len([query for query in queries if "quota" in query["sql"]]) == 1


@pytest.mark.django_db(transaction=True)
def test_simultaneous_starts_cannot_exceed_the_limit_of_live_turns(settings: Settings) -> None:
    settings.LIVE_TURNS_LIMIT = 2
    ada = make_user()
    conversations = [make_conversation(ada) for _ in range(6)]
    barrier = threading.Barrier(len(conversations))
    outcomes: list[bool] = []

    def start_one(conversation: Conversation) -> None:
        barrier.wait()
        try:
            create_turn(make_question(conversation))
            outcomes.append(True)
        except StartRefused:
            outcomes.append(False)
        finally:
            connection.close()

    threads = [threading.Thread(target=start_one, args=[one]) for one in conversations]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [False] * 4 + [True] * 2
    assert used(ada).turns == 2
