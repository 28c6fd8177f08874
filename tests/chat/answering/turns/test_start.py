"""Starting turns, one by one and many at once, and how many queries that takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from pytest_django import Settings

from chat.answering.turns.start import Ask, Continue, Edit, Regenerate, Start, create_turns
from chat.answering.turns.start_plan import PlannedTurn
from chat.answering.turns.start_rules import StartRefused
from chat.models import Conversation, LanguageModel, Message, ModelEndpoint, Turn
from chat.people.access import NotFound
from tests.chat.turn_driver import create_turn, make_question
from tests.factories import make_attachment, make_conversation, make_model_message, make_user

pytestmark = pytest.mark.django_db


def start_together(*starts: Start) -> list[PlannedTurn | Exception]:
    """Start turns in one batch; return their outcomes."""
    return create_turns(starts, lease_owner="test")


def is_new(outcome: PlannedTurn | Exception) -> bool:
    """Return whether the outcome is a new turn."""
    return isinstance(outcome, PlannedTurn) and outcome.is_new


@contextmanager
def recorded_queries() -> Iterator[list[tuple[str, Any]]]:
    """Record SQL and parameters of each query in the block."""
    queries: list[tuple[str, Any]] = []

    def record(execute: Callable[..., Any], sql: str, parameters: Any, *others: Any) -> Any:  # noqa: ANN401 - of any type
        queries.append((sql, parameters))
        return execute(sql, parameters, *others)

    with connection.execute_wrapper(record):
        yield queries


# --- one by one ---------------------------------------------------------------------------------------------------


def test_user_cannot_have_more_live_turns_than_the_limit(settings: Settings) -> None:
    settings.LIVE_TURNS_LIMIT = 2
    ada, ben = make_user(), make_user()
    first, _ = (create_turn(make_question(make_conversation(ada))) for _ in range(2))
    with pytest.raises(StartRefused, match="2 answers are being written for you already"):
        create_turn(make_question(make_conversation(ada)))
    create_turn(make_question(make_conversation(ben)))
    Turn.objects.filter(pk=first.turn.pk).update(status=Turn.Status.DONE)
    create_turn(make_question(make_conversation(ada)))


def test_only_the_owner_can_start_turns() -> None:
    conversation = make_conversation(title="mine")
    answer = make_model_message(conversation)
    assert answer.parent_id
    rows = [list(model.objects.order_by("pk").values()) for model in (Conversation, Message, Turn)]
    gone = make_user()
    gone.is_active = False
    for user in (make_user(), make_user(is_superuser=True), gone, AnonymousUser()):
        place = user, conversation.pk
        for start in (
            Ask(*place, "x"),
            Edit(*place, "x", message_id=answer.parent_id),
            Regenerate(*place),
            Regenerate(*place, answer.pk),
            Continue(*place),
        ):
            [outcome] = start_together(start)
            assert isinstance(outcome, NotFound)
    assert [list(model.objects.order_by("pk").values()) for model in (Conversation, Message, Turn)] == rows


def test_deactivated_owner_cannot_start_turns() -> None:
    conversation = make_conversation()
    conversation.owner.is_active = False
    assert isinstance(start_together(make_question(conversation))[0], NotFound)


def test_attachment_of_another_user_is_not_found() -> None:
    [outcome] = start_together(
        make_question(make_conversation(), attachment_ids=[make_attachment(make_user(), data=b"x").pk])
    )
    assert isinstance(outcome, NotFound)
    assert not Turn.objects.exists()


# --- batches ----------------------------------------------------------------------------------------------------------


def test_turns_that_start_in_a_batch_are_stored_like_turns_that_start_alone() -> None:
    conversations = [make_conversation(title="" if number % 2 else "named") for number in range(11)]
    for conversation in conversations[::3]:
        make_model_message(conversation)
    texts = [f"question {number}" for number in range(11)]
    outcomes = start_together(
        *(make_question(one, text, client_id=text) for one, text in zip(conversations, texts, strict=True))
    )
    for conversation, text, outcome in zip(conversations, texts, outcomes, strict=True):
        assert isinstance(outcome, PlannedTurn)
        turn = Turn.objects.select_related("conversation", "message__parent", "user_message__parent").get(
            conversation=conversation, client_id=text
        )
        assert turn.pk == outcome.turn.pk
        assert (turn.status, turn.lease_owner, turn.user_message.text) == ("running", "test", text)
        assert [part.text for part in turn.user_message.parts.all()] == [text]
        assert turn.message.parent == turn.user_message
        before = conversation.messages.exclude(pk__in=[turn.message_id, turn.user_message_id])
        assert turn.user_message.parent == before.order_by("index").last()
        assert [turn.user_message.index, turn.message.index] == [before.count(), before.count() + 1]
        assert turn.conversation.revision == conversation.revision + 1 == outcome.turn.conversation.revision
        assert turn.conversation.title == (conversation.title or text) == outcome.turn.conversation.title
        assert outcome.names_conversation == (not conversation.title)


def test_refused_start_does_not_affect_other_starts_of_its_batch(settings: Settings) -> None:
    settings.LIVE_TURNS_LIMIT = 3
    ada, eve = make_user(), make_user()
    mine = [make_conversation(ada) for _ in range(4)]
    create_turn(make_question(mine[0]))
    outcomes = start_together(
        make_question(mine[0]),
        Ask(eve, mine[1].pk, "not mine"),
        make_question(mine[1], "one"),
        make_question(mine[1], "another at once"),
        Regenerate(ada, mine[2].pk),
        make_question(mine[2], "two"),
        make_question(mine[3], "three is too many"),
        make_question(make_conversation(eve), "hers"),
    )
    assert [is_new(outcome) for outcome in outcomes] == [False, False, True, False, False, True, False, True]
    refusals = [str(outcome) for outcome in outcomes if isinstance(outcome, StartRefused)]
    assert [refusal[:25] for refusal in refusals] == [
        "An answer is still being ",
        "An answer is still being ",
        "There is no answer here t",
        "3 answers are being writt",
    ]
    assert isinstance(outcomes[1], NotFound)
    assert {message.text for message in Message.objects.filter(role="user")} == {"go", "one", "two", "hers"}


def test_model_of_a_service_that_is_not_set_up_is_refused() -> None:
    LanguageModel.objects.create(name="far-away", provider="gemini", endpoint="elsewhere")
    conversation = make_conversation(make_user())
    with pytest.raises(StartRefused, match="is not set up here"):
        create_turn(make_question(conversation, model="far-away"))
    assert not Turn.objects.exists()


def test_start_is_refused_if_the_endpoint_of_the_default_model_is_turned_off(settings: Settings) -> None:
    settings.DEFAULT_MODEL = "llama"
    LanguageModel.objects.create(name="llama", provider="openai_compatible", endpoint="local")
    endpoint = ModelEndpoint.objects.create(name="local", base_url="http://localhost:8000/v1")
    turn = create_turn(make_question(make_conversation())).turn
    assert (turn.provider, turn.endpoint, turn.model, len(turn.account)) == ("openai_compatible", "local", "llama", 64)
    endpoint.is_enabled = False
    endpoint.save()
    with pytest.raises(StartRefused, match="The service of “llama” is not set up here"):
        create_turn(make_question(make_conversation()))


def test_repeated_client_id_starts_one_turn() -> None:
    conversation, other = make_conversation(), make_conversation()
    first, again, elsewhere = start_together(
        make_question(conversation, client_id="a"),
        make_question(conversation, client_id="a"),
        make_question(other, client_id="a"),
    )
    assert [is_new(one) for one in (first, again, elsewhere)] == [True, False, True]
    [later] = start_together(make_question(conversation, client_id="a"))
    assert isinstance(first, PlannedTurn)
    assert isinstance(again, PlannedTurn)
    assert isinstance(later, PlannedTurn)
    assert first.turn.pk == again.turn.pk == later.turn.pk
    assert not later.is_new


def test_exception_in_one_start_does_not_affect_other_starts_of_its_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> PlannedTurn:
        raise ZeroDivisionError

    monkeypatch.setattr(Continue, "plan_new", broken)
    conversation = make_conversation()
    a, defect, b = start_together(
        make_question(make_conversation()), Continue(conversation.owner, conversation.pk), make_question(conversation)
    )
    assert isinstance(defect, ZeroDivisionError)
    assert is_new(a)
    assert is_new(b)


# --- queries ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "most"), [("", 14), ("llama", 18)])
def test_number_of_queries_does_not_depend_on_the_size_of_the_batch(model: str, most: int) -> None:
    ModelEndpoint.objects.create(name="local", base_url="http://localhost:8000/v1")
    LanguageModel.objects.create(name="llama", provider="openai_compatible", endpoint="local")

    def count_queries(size: int) -> int:
        conversations = [make_conversation(model=model) for _ in range(size)]
        with recorded_queries() as queries:
            start_together(*(make_question(one, client_id="a") for one in conversations))
        return len(queries)

    assert count_queries(13) == count_queries(1) <= most


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL chooses by what its tables hold")
def test_queries_use_indexes() -> None:
    with recorded_queries() as queries:
        start_together(*(make_question(make_conversation(), client_id="a") for _ in range(3)))
    plans = {}
    for sql, parameters in queries:
        if sql.startswith("SELECT"):
            with connection.cursor() as cursor:
                cursor.execute(f"EXPLAIN QUERY PLAN {sql}", parameters)
                plans[sql] = [detail for *_, detail in cursor.fetchall()]
    steps = {step for plan in plans.values() for step in plan}
    assert not [
        step for step in steps if step.startswith(("SCAN chat_message", "SCAN shown", "SCAN chat_conversation"))
    ]
    [live] = [" ".join(plan) for sql, plan in plans.items() if "'running'" in sql]
    # Its cost depends on the number of live turns alone.
    assert "chat_turn USING INDEX live_turns_by_lease" in live
    assert "owner" not in live
    [known] = [" ".join(plan) for sql, plan in plans.items() if "client_id" in sql and "'running'" not in sql]
    assert "(conversation_id=? AND client_id=?)" in known
    [ends] = [" ".join(plan) for sql, plan in plans.items() if "is_shown" in sql]
    assert "one_shown_message_per_index (conversation_id=?)" in ends
