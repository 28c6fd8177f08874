"""Positions of the live turns of other processes, and pages that have not reached them."""

from __future__ import annotations

import pytest
from pytest_django import DjangoAssertNumQueries

from chat.models import Conversation, Turn, TurnEvent
from chat.page.relay import broadcast
from chat.page.relay.frames import ExpectedPosition
from chat.page.relay.position_polling import read_positions
from chat.page.relay.stream_position import StreamPosition
from tests.factories import make_conversation, make_model_message

POSITION = StreamPosition(3, "turn", 5)


def make_live_turn(conversation: Conversation, *, lease_owner: str, steps: int) -> Turn:
    """Create a live turn of a process. `steps`: number of rows in its log."""
    message = make_model_message(conversation, status=Turn.Status.RUNNING, lease_owner=lease_owner)
    turn = Turn.objects.get(message=message)
    TurnEvent.objects.bulk_create(
        TurnEvent(turn=turn, seq=seq, name="appended", data={"text": "x"}) for seq in range(2, steps + 1)
    )
    return turn


@pytest.mark.django_db
def test_positions_are_read_for_live_turns_of_other_processes_in_followed_conversations() -> None:
    followed, not_followed, own = (make_conversation() for _ in range(3))
    turn = make_live_turn(followed, lease_owner="another", steps=7)
    make_live_turn(not_followed, lease_owner="another", steps=7)
    make_live_turn(own, lease_owner=broadcast.PROCESS, steps=7)
    found = read_positions({str(followed.pk), str(own.pk)}, {})
    assert found == {str(followed.pk): ExpectedPosition(str(followed.pk), followed.revision, str(turn.pk), 7)}


@pytest.mark.django_db
def test_positions_contain_an_ended_turn_once_more_with_the_new_revision() -> None:
    conversation = make_conversation()
    turn = make_live_turn(conversation, lease_owner="another", steps=2)
    key = str(conversation.pk)
    live = read_positions({key}, {})
    Turn.objects.filter(pk=turn.pk).update(status=Turn.Status.DONE)
    Conversation.objects.filter(pk=conversation.pk).update(revision=conversation.revision + 1)
    ended = read_positions({key}, live)
    assert ended == {key: ExpectedPosition(str(conversation.pk), conversation.revision + 1)}
    assert read_positions({key}, ended) == {}


@pytest.mark.django_db
def test_reading_positions_runs_one_query(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    conversations = [make_conversation() for _ in range(4)]
    for conversation in conversations:
        make_live_turn(conversation, lease_owner="another", steps=3)
    keys = {str(conversation.pk) for conversation in conversations}
    with django_assert_num_queries(1):
        assert len(read_positions(keys, {})) == 4


@pytest.mark.parametrize(
    ("expected", "is_behind"),
    [
        (ExpectedPosition("c", 3, "turn", 5), False),
        (ExpectedPosition("c", 3, "turn", 6), True),
        # Another turn of the same revision has just begun.
        (ExpectedPosition("c", 3, "other", 0), True),
        (ExpectedPosition("c", 3), False),
        (ExpectedPosition("c", 4), True),
        (ExpectedPosition("c", 4, "other", 1), True),
        # The page has gone on since the position was read.
        (ExpectedPosition("c", 2, "earlier", 9), False),
    ],
)
def test_page_is_behind_if_it_has_not_reached_the_expected_position(
    expected: ExpectedPosition, is_behind: bool
) -> None:
    assert POSITION.is_behind(expected, shows_end=True) is is_behind


def test_page_that_does_not_show_the_conversations_end_is_behind_only_if_its_revision_is_old() -> None:
    assert not POSITION.is_behind(ExpectedPosition("c", 3, "turn", 6), shows_end=False)
    assert POSITION.is_behind(ExpectedPosition("c", 4, "turn", 6), shows_end=False)
