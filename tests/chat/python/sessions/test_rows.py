"""Changes of rows: the table of states, leases of cells, and generations."""

from __future__ import annotations

import uuid
from itertools import product

import pytest
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from chat.models import PythonSession
from chat.models.deletion import delete_conversation
from chat.python.sessions import rows
from chat.python.sessions.rows import State
from tests.chat.python.sessions.session_rows import make_session, make_stopped, soon
from tests.factories import make_conversation, make_model_message

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("before", "after"), [*product(State, State)])
def test_state_changes_only_as_the_table_of_transitions_allows(before: State, after: State) -> None:
    session = make_session(state=before)
    is_allowed = after in PythonSession.TRANSITIONS[before]
    assert PythonSession.objects.filter(pk=session.pk).change_state(after) == is_allowed
    session.refresh_from_db()
    assert session.state == (after if is_allowed else before)


def test_transitions_are_defined_for_every_state() -> None:
    assert set(PythonSession.TRANSITIONS) == set(State)
    assert {state for states in PythonSession.TRANSITIONS.values() for state in states} == set(State)


def test_database_rejects_a_running_session_without_a_kernel() -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        make_session(kernel_id="")


def test_conversation_has_one_session() -> None:
    conversation = make_conversation()
    first = rows.open_session(conversation.pk, conversation.owner_id)
    assert rows.open_session(conversation.pk, conversation.owner_id) == first
    assert rows.find_session(conversation.pk) == first
    assert rows.find_session(uuid.uuid4()) is None


def test_session_outlives_its_conversation_and_its_owner() -> None:
    session = make_session()
    assert session.conversation
    assert session.owner
    delete_conversation(session.conversation)
    session.owner.delete()
    session.refresh_from_db()
    assert (session.conversation_id, session.owner_id, session.state) == (None, None, State.RUNNING)


def test_only_one_cell_of_a_session_runs_at_a_time() -> None:
    session = make_session()
    assert session.conversation
    message = make_model_message(session.conversation)
    assert rows.begin_cell(session.pk, 1, message.pk)
    assert not rows.begin_cell(session.pk, 1, message.pk)
    session.refresh_from_db()
    assert (session.message_ids, session.last_message) == ([str(message.pk)], message)
    assert rows.end_cell(session.pk, 1, {"execution_count": 1})
    session.refresh_from_db()
    assert (session.busy_until, session.execution_count) == (None, 1)
    assert rows.begin_cell(session.pk, 1, None)


def test_cell_can_begin_after_the_lease_of_a_dead_process_has_expired() -> None:
    session = make_session(busy_until=soon(-1))
    assert rows.begin_cell(session.pk, 1, None)
    assert PythonSession.objects.filter(pk=session.pk, busy_until__gt=Now()).exists()


def test_messages_of_a_session_are_ordered_by_when_their_code_last_ran() -> None:
    session = make_session()
    assert session.conversation
    first, second = make_model_message(session.conversation), make_model_message(session.conversation)
    for message in (first, second, first):
        assert rows.begin_cell(session.pk, 1, message.pk)
        rows.end_cell(session.pk, 1, {})
    session.refresh_from_db()
    assert session.message_ids == [str(second.pk), str(first.pk)]


def test_cell_can_begin_if_its_message_has_been_deleted() -> None:
    session = make_session()
    assert rows.begin_cell(session.pk, 1, uuid.uuid4())


def test_writes_with_an_earlier_generation_do_not_change_the_session() -> None:
    session = make_session(generation=2)
    assert not rows.begin_cell(session.pk, 1, None)
    assert not rows.renew_lease(session.pk, 1)
    assert not rows.end_cell(session.pk, 1, {"execution_count": 9})
    assert not rows.note_lost(session.pk, 1, "gone")
    assert not rows.begin_stop(session.pk, 1, "stop")
    assert not rows.request_stop(session.pk, 1, "stop")
    stored = PythonSession.objects.get(pk=session.pk)
    assert (stored.state, stored.execution_count, stored.note) == (State.RUNNING, 0, "")


def test_loss_of_a_kernel_clears_the_stored_contents() -> None:
    session = make_session(variables=[{"name": "x"}], files=[{"name": "a"}], execution_count=3, busy_until=soon())
    assert rows.note_lost(session.pk, 1, "It died.")
    session.refresh_from_db()
    assert (session.state, session.note, session.kernel_id) == (State.STOPPED, "It died.", "")
    assert (session.variables, session.files, session.execution_count, session.busy_until) == ([], [], 0, None)


def test_lease_of_a_starting_session_is_renewed() -> None:
    session = make_stopped(state=State.STARTING, busy_until=soon(-1))
    assert rows.renew_lease(session.pk, 0)
    session.refresh_from_db()
    assert session.busy_until > soon(0)


def test_lease_of_a_session_that_is_not_busy_is_not_renewed() -> None:
    assert not rows.renew_lease(make_session().pk, 1)


def test_start_is_taken_over_only_after_the_lease_of_its_process_has_expired() -> None:
    session = make_stopped(state=State.STARTING, generation=1, busy_until=soon())
    assert rows.note_created(session.pk, 1, kernel_id="k", place="http://127.0.0.1:1")
    assert not rows.take_over_stop(session.pk, 1, "It was not started.")
    PythonSession.objects.update(busy_until=soon(-1))
    assert not rows.take_over_stop(session.pk, 2, "It was not started.")
    assert rows.take_over_stop(session.pk, 1, "It was not started.")
    session.refresh_from_db()
    assert (session.state, session.kernel_id, session.note) == (State.STOPPING, "k", "It was not started.")
    # Another process ends it now. If that dies too, it is taken over again.
    assert not rows.take_over_stop(session.pk, 1, "again")
    PythonSession.objects.update(busy_until=soon(-1))
    assert rows.take_over_stop(session.pk, 1, "again")


def test_session_that_is_started_by_a_live_process_is_not_stopped() -> None:
    session = make_stopped(state=State.STARTING, busy_until=soon())
    assert not rows.begin_stop(session.pk, 0, "stop")
    assert not rows.request_stop(session.pk, 0, "stop")


def test_request_to_stop_an_idle_session_does_not_stop_a_running_cell() -> None:
    busy, idle = make_session(busy_until=soon()), make_session()
    assert not rows.request_stop(busy.pk, 1, "stop", only_idle=True)
    assert rows.request_stop(idle.pk, 1, "stop", only_idle=True)


def test_abandoning_the_cell_of_a_message_ends_its_lease() -> None:
    session = make_session()
    assert session.conversation
    message, other = make_model_message(session.conversation), make_model_message(session.conversation)
    assert rows.begin_cell(session.pk, 1, message.pk)
    rows.abandon_cell(other.pk)
    assert not rows.begin_cell(session.pk, 1, None)
    rows.abandon_cell(message.pk)
    assert rows.begin_cell(session.pk, 1, None)


def test_started_kernel_is_stored_only_for_the_current_generation() -> None:
    session = make_stopped(state=State.STARTING, generation=3)
    assert not rows.note_started(session.pk, 2, kernel_id="k", place="http://127.0.0.1:1")
    assert rows.note_started(session.pk, 3, kernel_id="k", place="http://127.0.0.1:1")
    assert not rows.note_failed(session.pk, 3, "too late")
    session.refresh_from_db()
    assert (session.state, session.kernel_id) == (State.RUNNING, "k")
