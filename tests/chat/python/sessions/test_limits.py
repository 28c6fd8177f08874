"""Who gets a kernel: limits, the order of the queue, and which session is ended for another."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from pytest_django import Settings

from chat.models import PythonSession, Turn, User
from chat.python.sessions import lifetime, limits, rows
from chat.python.sessions.limits import AlreadyRunning, EvictKernel, StartKernel, Step, Wait, admit, leave_queue
from chat.python.sessions.rows import State, begin_cell
from chat.vocabulary.parts import Engine
from tests.chat.python.sessions.session_rows import make_session, make_stopped, soon
from tests.factories import make_model_message, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def small_limits(settings: Settings) -> None:
    """Set the limits: three kernels for all people, two for each person."""
    settings.KERNELS_LIMIT, settings.KERNELS_PER_USER_LIMIT = 3, 2


def state_of(session: PythonSession) -> str:
    """Return the stored state."""
    return PythonSession.objects.get(pk=session.pk).state


def evicted(step: Step) -> PythonSession:
    """Return the session that is ended for another."""
    assert isinstance(step, EvictKernel)
    assert state_of(step.session) == State.STOPPING
    return step.session


def queue(session: PythonSession, *, since_s: float) -> PythonSession:
    """Put a session into the queue, where it has been for so many seconds."""
    PythonSession.objects.filter(pk=session.pk).update(queued_at=soon(-since_s), busy_until=soon(5))
    return session


def test_stopped_session_starts_at_once_if_a_kernel_is_free() -> None:
    make_session(), make_session()
    session = make_stopped(generation=4, note="It was idle.")
    assert admit(session.pk) == StartKernel(5)
    session.refresh_from_db()
    assert (session.state, session.generation, session.queued_at, session.note) == ("starting", 5, None, "It was idle.")
    assert session.busy_until
    # A second process that asks for the same session waits for the first.
    assert isinstance(admit(session.pk), Wait)


def test_session_that_is_running_gets_no_new_kernel() -> None:
    assert admit(make_session().pk) == AlreadyRunning()


def test_start_of_a_session_is_repeated_if_the_process_that_began_it_has_died() -> None:
    session = make_session(state=State.STARTING, kernel_id="", busy_until=soon(-1))
    assert admit(session.pk) == StartKernel(2)


def test_next_start_clears_the_reason_of_a_failed_start() -> None:
    session = make_stopped(state=State.ERROR, note="The service does not run.")
    assert isinstance(admit(session.pk), StartKernel)
    assert PythonSession.objects.get(pk=session.pk).note == ""


def test_session_that_its_owner_keeps_is_not_ended_for_another_if_one_is_unused() -> None:
    make_session(unused_s=100, kept_until=soon()), make_session(unused_s=5)
    used_before = make_session(unused_s=20)
    assert evicted(admit(make_stopped().pk)) == used_before


def test_number_of_sessions_that_can_be_kept_is_limited_per_person_and_server() -> None:
    owner = make_user()
    session, second, of_another = make_session(owner), make_session(owner), make_session()
    assert lifetime.keep(session)
    assert lifetime.keep(session)
    with pytest.raises(lifetime.KeepRefused, match="one person may keep 1"):
        lifetime.keep(second)
    with pytest.raises(lifetime.KeepRefused, match="keeps 1 Python sessions already"):
        lifetime.keep(of_another)
    assert lifetime.stop_keeping(session)
    assert lifetime.keep(of_another)
    assert lifetime.stop_keeping(of_another)
    assert not lifetime.keep(make_stopped())


def test_least_recently_used_session_is_ended_for_a_new_one() -> None:
    make_session(unused_s=5), make_session(unused_s=20)
    oldest = make_session(unused_s=30)
    session = make_stopped()
    victim = evicted(admit(session.pk))
    assert victim == oldest
    assert PythonSession.objects.get(pk=oldest.pk).note == limits.EVICTED
    # The kernel of that session is being ended. Until it has ended, no other session is ended.
    assert admit(session.pk) == Wait(limits.SERVER_IS_FULL.format(limit=3))
    PythonSession.objects.filter(pk=oldest.pk).update(state=State.STOPPED)
    assert isinstance(admit(session.pk), StartKernel)


def test_session_of_the_person_with_the_most_kernels_is_ended_first() -> None:
    ada = make_user()
    make_session(unused_s=300)
    first, _ = make_session(ada, unused_s=20), make_session(ada, unused_s=10)
    assert evicted(admit(make_stopped().pk)) == first


def test_sessions_in_use_are_not_ended_for_a_new_one() -> None:
    make_session(unused_s=300, busy_until=soon())
    live = make_session(unused_s=200)
    assert live.conversation
    message = make_model_message(live.conversation, status=Turn.Status.RUNNING)
    Turn.objects.filter(message=message).update(engine=Engine.SESSION)
    make_session(state=State.STARTING, kernel_id="", busy_until=soon())
    session = make_stopped()
    assert admit(session.pk) == Wait("All 3 Python sessions of this server are in use.")
    # A turn that waits for a decision does not protect its session, because it may wait for a day.
    Turn.objects.filter(message=message).update(status=Turn.Status.WAITING)
    assert evicted(admit(session.pk)) == live


def test_session_can_be_ended_for_another_if_the_process_that_ran_its_cell_has_died() -> None:
    make_session(busy_until=soon()), make_session(busy_until=soon())
    dead = make_session(busy_until=soon(-1))
    assert evicted(admit(make_stopped().pk)) == dead


def test_new_session_of_a_person_at_the_limit_ends_the_least_recently_used_of_that_person() -> None:
    ada = make_user()
    older, newer = make_session(ada, unused_s=20), make_session(ada, unused_s=10)
    make_session(unused_s=300)
    session = make_stopped(ada)
    victim = evicted(admit(session.pk))
    assert victim == older
    assert "one person may have 2 at once" in PythonSession.objects.get(pk=older.pk).note
    PythonSession.objects.filter(pk__in=[older.pk, newer.pk]).update(state=State.RUNNING, busy_until=soon())
    assert admit(session.pk) == Wait("2 Python sessions run code for you already; one person may have no more at once.")


def test_no_second_session_is_ended_while_the_kernel_of_the_first_is_still_ending() -> None:
    ada = make_user()
    make_session(ada, unused_s=20), make_session(ada, unused_s=10)
    session = make_stopped(ada)
    evicted(admit(session.pk))
    assert isinstance(admit(session.pk), Wait)
    states = PythonSession.objects.filter(owner=ada).values_list("state", flat=True)
    assert sorted(states) == sorted([State.RUNNING, State.STOPPING, State.STOPPED])


def test_queue_is_ordered_by_the_persons_kernels_and_then_by_waiting_time() -> None:
    ada, ben, eve = make_user(), make_user(), make_user()
    make_session(ada, busy_until=soon())
    make_session(busy_until=soon())
    second_of_ada = queue(make_stopped(ada), since_s=90)
    of_ben, of_eve = queue(make_stopped(ben), since_s=10), queue(make_stopped(eve), since_s=20)
    order = [of_eve, of_ben, second_of_ada]
    for position, session in enumerate(order):
        for later in reversed(order[position + 1 :]):
            assert isinstance(admit(later.pk), Wait)
        assert isinstance(admit(session.pk), StartKernel)
        # The kernel ends, so the next session in the queue can start.
        PythonSession.objects.filter(pk=session.pk).update(state=State.STOPPED, busy_until=None)


def test_waiting_session_does_not_block_the_queue_if_its_process_has_died() -> None:
    make_session(busy_until=soon()), make_session(busy_until=soon())
    dead = queue(make_stopped(), since_s=100)
    PythonSession.objects.filter(pk=dead.pk).update(busy_until=soon(-1))
    assert isinstance(admit(make_stopped().pk), StartKernel)


def test_person_at_the_limit_does_not_block_the_queue() -> None:
    ada = make_user()
    make_session(ada, busy_until=soon()), make_session(ada, busy_until=soon())
    queue(make_stopped(ada), since_s=100)
    assert isinstance(admit(make_stopped().pk), StartKernel)


def test_person_may_have_at_most_as_many_waiting_sessions_as_live_turns(settings: Settings) -> None:
    settings.LIVE_TURNS_LIMIT = 2
    ada = make_user()
    make_session(ada, busy_until=soon()), make_session(ada, busy_until=soon())
    first, second, third = make_stopped(ada), make_stopped(ada), make_stopped(ada)
    assert isinstance(admit(first.pk), Wait)
    assert isinstance(admit(second.pk), Wait)
    refused = "2 Python sessions wait for you already. Try again when one of them has ended."
    assert admit(third.pk) == limits.Refuse(refused)
    third.refresh_from_db()
    assert third.queued_at is None
    # Waiting sessions may ask again, and the limit does not apply to other people.
    assert isinstance(admit(second.pk), Wait)
    assert isinstance(admit(make_stopped().pk), StartKernel)
    leave_queue(first.pk)
    assert isinstance(admit(third.pk), Wait)


def test_leaving_the_queue_clears_the_lease_of_a_waiting_session() -> None:
    for _ in range(3):
        make_session(busy_until=soon())
    session = make_stopped()
    assert isinstance(admit(session.pk), Wait)
    leave_queue(session.pk)
    session.refresh_from_db()
    assert (session.queued_at, session.busy_until) == (None, None)


def test_session_that_begins_a_cell_just_before_it_would_be_ended_is_not_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = [make_session(unused_s=age) for age in (30, 20, 10)]
    begin_stop = rows.begin_stop

    def begin_a_cell_first(session_id: int, generation: int, sentence: str, *, only_idle: bool = False) -> bool:
        if session_id == sessions[0].pk:
            assert begin_cell(session_id, generation, None)
        return begin_stop(session_id, generation, sentence, only_idle=only_idle)

    monkeypatch.setattr(limits, "begin_stop", begin_a_cell_first)
    assert evicted(admit(make_stopped().pk)) == sessions[1]


@pytest.mark.django_db(transaction=True)
def test_simultaneous_starts_never_exceed_the_limits_of_kernels() -> None:
    users: list[User] = [make_user() for _ in range(3)]
    generator = random.Random(5)
    sessions = [make_stopped(generator.choice(users)) for _ in range(10)]

    def ask(session: PythonSession) -> bool:
        try:
            return isinstance(admit(session.pk), StartKernel)
        finally:
            connection.close()

    with ThreadPoolExecutor(5) as threads:
        admitted = sum(threads.map(ask, sessions))
    alive = list(PythonSession.objects.alive())
    assert admitted == len(alive) == 3
    assert max(sum(session.owner == user for session in alive) for user in users) <= 2
