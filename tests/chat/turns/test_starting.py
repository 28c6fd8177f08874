"""What must be so before turns begin, one by one or many at once, and what finding out costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from pytest_django import Settings

from chat.access import NotFound
from chat.models import Conversation, Message, Turn
from chat.turns import standing
from chat.turns.deciding import StartRefused
from chat.turns.starting import Ask, Continuation, Edit, Start, StartedTurn, Version, create_turn, create_turns
from chat.turns.together import TOGETHER_LIMIT
from tests.chat.turns.running import asking
from tests.factories import make_attachment, make_conversation, make_model_message, make_user

pytestmark = pytest.mark.django_db


def started(*starts: Start) -> list[StartedTurn | Exception]:
    """What comes of them at once."""
    return create_turns(starts, lease_owner="test")


def is_begun(outcome: StartedTurn | Exception) -> bool:
    """A new turn."""
    return isinstance(outcome, StartedTurn) and outcome.is_new


@contextmanager
def queries() -> Iterator[list[tuple[str, Any]]]:
    """What is asked of the database within the block."""
    asked: list[tuple[str, Any]] = []

    def listen(execute: Callable[..., Any], sql: str, parameters: Any, *told: Any) -> Any:  # noqa: ANN401 - Django's own
        asked.append((sql, parameters))
        return execute(sql, parameters, *told)

    with connection.execute_wrapper(listen):
        yield asked


# --- one by one ---------------------------------------------------------------------------------------------------


def test_nobody_has_more_answers_written_at_once_than_the_limit(settings: Settings) -> None:
    settings.LIVE_TURNS_LIMIT = 2
    ada, ben = make_user(), make_user()
    first, _ = (create_turn(asking(make_conversation(ada)), lease_owner="test") for _ in range(2))
    with pytest.raises(StartRefused, match="2 answers are being written for you already"):
        create_turn(asking(make_conversation(ada)), lease_owner="test")
    create_turn(asking(make_conversation(ben)), lease_owner="test")
    Turn.objects.filter(pk=first.turn.pk).update(status=Turn.Status.DONE)
    create_turn(asking(make_conversation(ada)), lease_owner="test")


def test_only_the_owner_starts_anything() -> None:
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
            Version(*place),
            Version(*place, answer.pk),
            Continuation(*place),
        ):
            [outcome] = started(start)
            assert isinstance(outcome, NotFound)
    assert [list(model.objects.order_by("pk").values()) for model in (Conversation, Message, Turn)] == rows


def test_deactivated_owner_starts_nothing() -> None:
    conversation = make_conversation()
    conversation.owner.is_active = False
    assert isinstance(started(asking(conversation))[0], NotFound)


def test_file_of_somebody_else_is_not_found() -> None:
    [outcome] = started(asking(make_conversation(), attachment_ids=[make_attachment(make_user(), data=b"x").pk]))
    assert isinstance(outcome, NotFound)
    assert not Turn.objects.exists()


# --- many at once -------------------------------------------------------------------------------------------------


def test_many_begin_as_each_would_alone() -> None:
    conversations = [make_conversation(title="" if number % 2 else "named") for number in range(11)]
    for conversation in conversations[::3]:
        make_model_message(conversation)
    texts = [f"question {number}" for number in range(11)]
    outcomes = started(*(asking(one, text, client_id=text) for one, text in zip(conversations, texts, strict=True)))
    for conversation, text, outcome in zip(conversations, texts, outcomes, strict=True):
        assert isinstance(outcome, StartedTurn)
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
        assert outcome.names == (not conversation.title)


def test_refused_ones_keep_back_no_other(settings: Settings) -> None:
    settings.LIVE_TURNS_LIMIT = 3
    ada, eve = make_user(), make_user()
    mine = [make_conversation(ada) for _ in range(4)]
    create_turn(asking(mine[0]), lease_owner="test")
    outcomes = started(
        asking(mine[0]),
        Ask(eve, mine[1].pk, "not mine"),
        asking(mine[1], "one"),
        asking(mine[1], "another at once"),
        Version(ada, mine[2].pk),
        asking(mine[2], "two"),
        asking(mine[3], "three is too many"),
        asking(make_conversation(eve), "hers"),
    )
    assert [is_begun(outcome) for outcome in outcomes] == [False, False, True, False, False, True, False, True]
    refusals = [str(outcome) for outcome in outcomes if isinstance(outcome, StartRefused)]
    assert [refusal[:25] for refusal in refusals] == [
        "An answer is still being ",
        "An answer is still being ",
        "There is no answer here t",
        "3 answers are being writt",
    ]
    assert isinstance(outcomes[1], NotFound)
    assert {message.text for message in Message.objects.filter(role="user")} == {"go", "one", "two", "hers"}


def test_one_client_id_begins_one_turn_however_often_it_comes() -> None:
    conversation, other = make_conversation(), make_conversation()
    first, again, elsewhere = started(
        asking(conversation, client_id="a"), asking(conversation, client_id="a"), asking(other, client_id="a")
    )
    assert [is_begun(one) for one in (first, again, elsewhere)] == [True, False, True]
    [later] = started(asking(conversation, client_id="a"))
    assert isinstance(first, StartedTurn)
    assert isinstance(again, StartedTurn)
    assert isinstance(later, StartedTurn)
    assert first.turn.pk == again.turn.pk == later.turn.pk
    assert not later.is_new


def test_defect_in_one_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> StartedTurn:
        raise ZeroDivisionError

    monkeypatch.setattr(Continuation, "plan_new", broken)
    conversation = make_conversation()
    a, defect, b = started(
        asking(make_conversation()), Continuation(conversation.owner, conversation.pk), asking(conversation)
    )
    assert isinstance(defect, ZeroDivisionError)
    assert is_begun(a)
    assert is_begun(b)


# --- what it costs ------------------------------------------------------------------------------------------------


def test_many_ask_the_database_no_more_often_than_one(settings: Settings) -> None:
    def asked(count: int) -> int:
        conversations = [make_conversation() for _ in range(count)]
        with queries() as heard:
            started(*(asking(one, client_id="a") for one in conversations))
        return len(heard)

    assert asked(13) == asked(1) < 15


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL chooses by what its tables hold")
def test_each_is_found_by_an_index() -> None:
    with queries() as heard:
        started(*(asking(make_conversation(), client_id="a") for _ in range(3)))
    plans = {}
    for sql, parameters in heard:
        if sql.startswith("SELECT"):
            with connection.cursor() as cursor:
                cursor.execute(f"EXPLAIN QUERY PLAN {sql}", parameters)
                plans[sql] = [detail for *_, detail in cursor.fetchall()]
    steps = {step for plan in plans.values() for step in plan}
    assert not [step for step in steps if step.startswith(("SCAN chat_message", "SCAN chat_conversation"))]
    [live] = [" ".join(plan) for sql, plan in plans.items() if "'running'" in sql]
    # However many conversations its owner has, and whatever was asked in them.
    assert "chat_turn USING INDEX live_turns_by_lease" in live
    assert "owner" not in live
    [known] = [" ".join(plan) for sql, plan in plans.items() if "client_id" in sql and "'running'" not in sql]
    assert "one_turn_per_client_id (conversation_id=? AND client_id=?)" in known
    [ends] = [" ".join(plan) for sql, plan in plans.items() if "index" in sql and '"is_shown"' in sql]
    assert "one_shown_message_per_index (conversation_id=?)" in ends


def test_what_is_asked_is_compiled_ahead_for_every_number(monkeypatch: pytest.MonkeyPatch) -> None:
    standing.warm_up()
    for statement in (standing._LOCKED, standing._ENDS, standing._KNOWN, standing._LIVE):
        monkeypatch.setattr(statement, "_compile", lambda *_: pytest.fail("compiled while somebody waits"))
    for count in (1, 2, 9, TOGETHER_LIMIT):
        started(*(asking(make_conversation(), client_id="a") for _ in range(count)))
