"""The states of conversations in the list: answers that are being written, that wait, and that were not read yet."""

from __future__ import annotations

import uuid

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.answering.turns.finish import Ending, end_turn
from chat.messages.answer import Answer
from chat.models import Conversation, Project, Turn, User
from chat.models.list_states import mark_answer_read, with_live_status
from tests.factories import make_conversation, make_model_message
from tests.parsed_html import ParsedHtml

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


def states(html: str) -> dict[str, str]:
    """Return the states of the entries that have one, by title."""
    entries = ParsedHtml(html).select("li")
    return {
        entry.only("bdi", class_="name").text: state.attributes["data-state"]
        for entry in entries
        for state in entry.select("span", class_="state")
    }


def listed(browser: Client) -> dict[str, str]:
    return states(browser.get("/conversations/", headers=HTMX).content.decode())


def asked(browser: Client, *conversations: Conversation) -> str:
    ids = ",".join(str(conversation.pk) for conversation in conversations)
    return browser.get(f"/conversations/states/?ids={ids}").content.decode()


def end(conversation: Conversation) -> None:
    turn = conversation.turns.get(status__in=Turn.LIVE)
    end_turn(turn, Ending(Turn.Status.DONE, Answer()))


def test_state_of_an_answer_is_running_waiting_or_unread_until_the_answer_is_read(browser: Client, owner: User) -> None:
    asking = make_conversation(owner, title="Asking")
    make_conversation(owner, title="Silent")
    make_model_message(asking, status=Turn.Status.QUEUED)
    assert listed(browser) == {"Asking": "running"}
    for status, state in ((Turn.Status.RUNNING, "running"), (Turn.Status.WAITING, "waiting")):
        asking.turns.update(status=status)
        assert listed(browser) == states(asked(browser, asking)) == {"Asking": state}
    asking.turns.update(status=Turn.Status.RUNNING)
    end(asking)
    assert listed(browser) == states(asked(browser, asking)) == {"Asking": "unread"}
    assert "New answer" in asked(browser, asking)
    browser.get(f"/c/{asking.pk}/")
    assert listed(browser) == {}


def test_page_that_shows_the_end_of_an_answer_marks_it_as_read(browser: Client, owner: User) -> None:
    asking = make_conversation(owner, title="Asking")
    answer = make_model_message(asking, status=Turn.Status.RUNNING)
    browser.get(f"/c/{asking.pk}/")
    end(asking)
    assert listed(browser) == {"Asking": "unread"}
    assert browser.post(f"/c/{asking.pk}/read/").status_code == 400
    assert browser.post(f"/c/{asking.pk}/read/", {"message_id": answer.pk}).status_code == 204
    assert listed(browser) == {}
    # What is read already is not written again.
    with CaptureQueriesContext(connection) as captured:
        browser.post(f"/c/{asking.pk}/read/", {"message_id": answer.pk})
    assert not any(query["sql"].startswith("UPDATE") for query in captured)


def test_newer_answer_stays_unread_if_the_page_reports_an_older_answer_as_read(browser: Client, owner: User) -> None:
    asking = make_conversation(owner, title="Asking")
    seen = make_model_message(asking, status=Turn.Status.RUNNING)
    browser.get(f"/c/{asking.pk}/")
    end(asking)
    make_model_message(asking, status=Turn.Status.RUNNING)
    end(asking)
    assert browser.post(f"/c/{asking.pk}/read/", {"message_id": seen.pk}).status_code == 204
    assert listed(browser) == {"Asking": "unread"}


def test_newer_answer_that_ends_while_an_older_one_is_marked_as_read_stays_unread(owner: User) -> None:
    asking = make_conversation(owner)
    seen = make_model_message(asking, status=Turn.Status.RUNNING)
    end(asking)
    asking.refresh_from_db()
    make_model_message(asking, status=Turn.Status.RUNNING)
    end(Conversation.objects.get(pk=asking.pk))
    # This simulates that both answers were stored after the messages were read.
    asking.messages.filter(index__gt=seen.index).update(is_shown=False)
    mark_answer_read(asking, seen.pk)
    assert Conversation.objects.get(pk=asking.pk).is_unread


def test_conversation_without_an_answer_time_and_the_open_conversation_are_shown_as_read(
    browser: Client, owner: User
) -> None:
    old = make_conversation(owner, title="Old")
    make_model_message(old)
    assert listed(browser) == {}
    Conversation.objects.filter(pk=old.pk).update(answered_at=timezone.now())
    assert states(browser.get(f"/conversations/?open={old.pk}", headers=HTMX).content.decode()) == {}


def test_states_of_other_users_conversations_are_not_returned(browser: Client, owner: User) -> None:
    foreign = make_conversation(title="Foreign")
    make_model_message(foreign, status=Turn.Status.RUNNING)
    html = asked(browser, foreign)
    assert "Foreign" not in html
    assert f'hx-target="#entry-{foreign.pk}" hx-swap="delete"' in html
    assert browser.post(f"/c/{foreign.pk}/read/", {"message_id": uuid.uuid4()}).status_code == 404
    assert Client().get(f"/conversations/states/?ids={foreign.pk}").status_code == 302


def test_response_has_no_body_if_states_have_not_changed(browser: Client, owner: User) -> None:
    asking = make_conversation(owner, title="Asking")
    make_model_message(asking, status=Turn.Status.RUNNING)
    path = f"/conversations/states/?ids={asking.pk}"
    first = browser.get(path)
    again = browser.get(path, headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    end(asking)
    assert browser.get(path, headers={"If-None-Match": first["ETag"]}).status_code == 200


def test_number_of_queries_does_not_depend_on_the_number_of_states(browser: Client, owner: User) -> None:
    def count(*paths: str) -> list[int]:
        numbers = []
        for path in paths:
            with CaptureQueriesContext(connection) as captured:
                browser.get(path, headers=HTMX)
            numbers.append(len(captured))
        return numbers

    rows = [make_conversation(owner, title=f"Number {number}") for number in range(20)]
    make_model_message(rows[0], status=Turn.Status.RUNNING)
    paths = "/conversations/", f"/conversations/states/?ids={rows[0].pk}"
    few = count(*paths)
    for row in rows[1:]:
        make_model_message(row, status=Turn.Status.RUNNING)
    assert count(paths[0], f"/conversations/states/?ids={','.join(str(row.pk) for row in rows)}") == few
    # The session, the user, and one for all states.
    assert few[1] == 3


@pytest.mark.parametrize("ids", ["x", ",".join(["6a5b2a35-7d4c-4a2e-8d86-0ff8c9b3a001"] * 101), ","])
def test_invalid_ids_are_refused_with_a_sentence(browser: Client, ids: str) -> None:
    response = browser.get(f"/conversations/states/?ids={ids}")
    assert response.status_code == 400


def test_query_for_live_turns_uses_the_database_index(owner: User) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("the planner of PostgreSQL reads such small tables as a whole")
    plan = with_live_status(Conversation.objects.owned_by(owner.pk)).explain()
    assert "one_live_turn_per_conversation" in plan


def test_lists_of_conversations_do_not_load_the_instructions_from_the_database(browser: Client, owner: User) -> None:
    project = Project.objects.start(owner.pk, name="Harbour")
    conversation = make_conversation(owner, title="Cranes", project=project)
    for path in ("/conversations/", f"/conversations/states/?ids={conversation.pk}", project.get_absolute_url()):
        with CaptureQueriesContext(connection) as queries:
            assert "Cranes" in browser.get(path).content.decode()
        assert not [query for query in queries if '"chat_conversation"."system_instruction"' in query["sql"]]
