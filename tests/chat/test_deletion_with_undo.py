"""A conversation that its owner deletes is hidden at once, can be restored for a short time, and is then deleted."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from attachments.models import Attachment, PendingUpload
from chat.answering.turns import deletions
from chat.answering.turns.deletions import delete_due
from chat.library.exports.registry import export_conversation
from chat.library.imports.importer import import_file
from chat.models import (
    Conversation,
    ConversationQuerySet,
    Message,
    MessageAttachment,
    NewerFileRun,
    Part,
    Turn,
    TurnEvent,
    User,
)
from chat.models.deletion import (
    UNDO_MARGIN_S,
    delete_conversation,
    find_due_deletions,
    hide_conversation,
    restore_conversation,
)
from chat.vocabulary.parts import PartKind
from tests.factories import (
    attach,
    make_attachment,
    make_conversation,
    make_graph,
    make_model_message,
    make_user,
    make_user_message,
)
from tests.parsed_html import ParsedHtml

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


def let_time_pass(conversation: Conversation, seconds: float) -> None:
    """Change the time of a deletion, so that the conversation was deleted this many seconds ago."""
    Conversation.with_deleted.filter(pk=conversation.pk).update(deleted_at=timezone.now() - timedelta(seconds=seconds))


def delete_for_good(browser: Client, conversation: Conversation) -> None:
    """Delete a conversation, and let the time to undo this pass."""
    browser.post(f"/c/{conversation.pk}/delete/")
    let_time_pass(conversation, 3600)
    assert delete_due() == 1


def places_of(conversation: Conversation, browser: Client, staff: Client) -> dict[str, bool]:
    """Return, for each place, whether it shows a conversation named `Needle` with a graph."""
    message = Message.objects.get(conversation=conversation.pk, role="model")
    pages = {
        "list": "/conversations/",
        "search": "/conversations/?q=needle",
        "gallery": "/gallery/",
        "REST": "/api/v1/conversations/",
        "REST search": "/api/v1/conversations/?q=needle",
    }
    own = {
        "page": f"/c/{conversation.pk}/",
        "own gallery": f"/c/{conversation.pk}/gallery/",
        "session": f"/c/{conversation.pk}/session/",
        "export": f"/c/{conversation.pk}/export/json/",
        "text": f"/messages/{message.pk}/text/",
        "REST detail": f"/api/v1/conversations/{conversation.pk}/",
        "REST messages": f"/api/v1/conversations/{conversation.pk}/messages/",
        "REST turn": f"/api/v1/turns/{message.turn.pk}/",
        "newer file": f"/attachments/{conversation.newer_file_runs.get().newer_id}/content/",
    }
    places = {name: str(conversation.pk) in browser.get(path).content.decode() for name, path in pages.items()}
    places |= {name: browser.get(path).status_code == 200 for name, path in own.items()}
    queue = staff.get("/admin/chat/conversation/").content.decode()
    places["review queue"] = str(conversation.pk) in queue
    rows = {"review": f"conversation/{conversation.pk}", "row": f"message/{message.pk}"}
    places |= {name: staff.get(f"/admin/chat/{path}/change/").status_code == 200 for name, path in rows.items()}
    return places


def test_deletion_hides_a_conversation_everywhere_and_undo_shows_it_again(browser: Client, owner: User) -> None:
    staff = Client()
    staff.force_login(make_user(is_staff=True, is_superuser=True))
    conversation = make_conversation(owner, title="Needle")
    graph = make_graph(make_model_message(conversation))
    newer, shown_elsewhere = make_attachment(owner), make_attachment(owner)
    NewerFileRun.objects.create(conversation=conversation, replaced=graph, newer=newer)
    attach(make_user_message(conversation), shown_elsewhere)
    NewerFileRun.objects.create(conversation=make_conversation(owner), replaced=graph, newer=shown_elsewhere)
    before = places_of(conversation, browser, staff)
    assert all(before.values()), before
    browser.post(f"/c/{conversation.pk}/delete/")
    hidden = places_of(conversation, browser, staff)
    assert not any(hidden.values()), hidden
    assert browser.get(f"/attachments/{shown_elsewhere.pk}/content/").status_code == 200
    for path in ("rename/", "settings/", "marks/", "delete/"):
        assert browser.post(f"/c/{conversation.pk}/{path}", {"title": "New"}).status_code == 404
    response = browser.post(f"/c/{conversation.pk}/restore/")
    assert response.headers["Location"] == conversation.get_absolute_url()
    assert places_of(conversation, browser, staff) == before
    # Pressing the button again changes nothing.
    assert browser.post(f"/c/{conversation.pk}/restore/").status_code == 302


def test_only_the_owner_can_undo(browser: Client, owner: User) -> None:
    stranger = make_user()
    conversation = make_conversation(stranger)
    visitor = Client()
    visitor.force_login(stranger)
    visitor.post(f"/c/{conversation.pk}/delete/")
    assert browser.post(f"/c/{conversation.pk}/restore/").status_code == 404
    page = browser.get("/", {"deleted": str(conversation.pk)}, follow=True)
    assert page.context["deleted"] is None
    visitor.post(f"/c/{conversation.pk}/restore/")
    assert Conversation.objects.filter(pk=conversation.pk).exists()


def test_conversation_is_deleted_only_after_the_time_to_undo(browser: Client, owner: User, settings: Settings) -> None:
    settings.DELETION_UNDO_S = 60
    conversation = make_conversation(owner)
    for seconds, can_be_restored in ((50, True), (60, False), (60 + UNDO_MARGIN_S + 1, False)):
        browser.post(f"/c/{conversation.pk}/delete/")
        let_time_pass(conversation, seconds)
        is_due = seconds > 60 + UNDO_MARGIN_S
        assert delete_due() == is_due
        assert Conversation.with_deleted.filter(pk=conversation.pk).exists() is not is_due
        status = browser.post(f"/c/{conversation.pk}/restore/").status_code
        assert status == (302 if can_be_restored else 404)


def test_failed_deletion_does_not_prevent_the_other_deletions(
    browser: Client, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = make_conversation(owner), make_conversation(owner)
    for conversation, seconds in ((first, 3600), (second, 1800)):
        browser.post(f"/c/{conversation.pk}/delete/")
        let_time_pass(conversation, seconds)

    def fail_first(conversation: Conversation) -> None:
        if conversation == first:
            raise OperationalError("could not serialize access")
        delete_conversation(conversation)

    with monkeypatch.context() as patch:
        patch.setattr("chat.answering.turns.deletions.delete_conversation", fail_first)
        assert delete_due() == 1
    assert delete_due() == 1
    assert not Conversation.with_deleted.exists()


def test_conversation_restored_at_the_last_moment_is_not_deleted(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    conversation = make_conversation(owner)
    hide_conversation(conversation)
    let_time_pass(conversation, 3600)

    found = find_due_deletions().order_by("deleted_at")
    assert list(found) == [conversation]
    # The restoration began in time, and has waited for the lock of the row.
    Conversation.with_deleted.update(deleted_at=None)
    # The thread has found the conversation before. Later queries read the rows again.
    monkeypatch.setattr(ConversationQuerySet, "order_by", lambda self, *names: found)
    assert delete_due() == 0
    monkeypatch.undo()
    assert Conversation.objects.get() == conversation


def test_conversation_cannot_be_restored_once_its_deletion_has_begun(
    owner: User, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    conversation = make_conversation(owner)
    hide_conversation(conversation)
    let_time_pass(conversation, 3600)

    def fail(conversation: Conversation) -> None:
        raise OperationalError("could not serialize access")

    with monkeypatch.context() as patch:
        patch.setattr(deletions, "delete_conversation", fail)
        assert delete_due() == 0
    # A restoration that began in time compares with the time of its start, not of its end.
    settings.DELETION_UNDO_S = 7200
    restore_conversation(conversation)
    assert not Conversation.objects.exists()
    assert delete_due() == 1


def test_page_without_scripts_says_what_was_deleted_and_offers_to_undo(browser: Client, owner: User) -> None:
    make_conversation(owner, title="Kept")
    deleted = make_conversation(owner, title="<i>Gone</i>")
    html = browser.post(f"/c/{deleted.pk}/delete/", follow=True).content.decode()
    assert "“&lt;i&gt;Gone&lt;/i&gt;” was deleted. You can undo this for 30 seconds." in html
    form = ParsedHtml(html).only("div", id="deleted").only("form", method="post")
    assert browser.post(form.attributes["action"]).headers["Location"] == deleted.get_absolute_url()


def test_deletion_and_undo_by_a_script_return_only_the_changed_parts_of_the_page(browser: Client, owner: User) -> None:
    kept, deleted = make_conversation(owner, title="Kept"), make_conversation(owner, title="Gone")
    response = browser.post(f"/c/{deleted.pk}/delete/", {"open": str(kept.pk)}, headers=HTMX)
    html = response.content.decode()
    assert f'hx-target="#entry-{deleted.pk}" hx-swap="delete"' in html
    assert f'data-action="undo-delete" data-url="/c/{deleted.pk}/restore/"' in html
    html = browser.post(f"/c/{deleted.pk}/restore/", {"open": str(kept.pk)}, headers=HTMX).content.decode()
    assert f'id="entry-{deleted.pk}"' in html
    assert "Restored: Gone" in html
    # If the open page is that of the deleted conversation, the browser leaves it.
    response = browser.post(f"/c/{deleted.pk}/delete/", {"open": str(deleted.pk)}, headers=HTMX)
    assert response.headers["HX-Redirect"] == f"/?deleted={deleted.pk}"


@pytest.mark.parametrize("status", [Turn.Status.RUNNING, Turn.Status.WAITING])
def test_deleting_a_conversation_stops_its_running_or_waiting_answer(
    browser: Client, owner: User, status: Turn.Status
) -> None:
    answer = make_model_message(make_conversation(owner), parts=[], status=status)
    browser.post(f"/c/{answer.conversation_id}/delete/")
    turn = Turn.objects.get()
    # The process that writes a running answer stops it. No process writes a waiting one, so it is stopped at once.
    assert turn.stop_requested if status == Turn.Status.RUNNING else turn.status == Turn.Status.STOPPED


def test_deleted_conversation_can_be_imported_again_while_it_can_still_be_restored(
    browser: Client, owner: User
) -> None:
    conversation = make_conversation(owner, title="Moved")
    make_model_message(conversation)
    data = b"".join(export_conversation(conversation, "json", exported_at=timezone.now()).chunks)
    # As long as the conversation is shown, an import of its own export adds nothing.
    delete_conversation(conversation)
    [first] = import_file(data, owner_id=owner.pk).created
    browser.post(f"/c/{first}/delete/")
    [second] = import_file(data, owner_id=owner.pk).created
    assert not Conversation.with_deleted.filter(pk=first).exists()
    assert browser.get(f"/c/{second}/").status_code == 200


def test_deletion_removes_every_row_of_a_conversation(browser: Client, owner: User) -> None:
    conversation = make_conversation(owner)
    attach(make_user_message(conversation), make_attachment(owner))
    message = make_model_message(conversation)
    make_graph(message, part_index=0)
    image = make_attachment(owner, is_graph=True)
    Part.objects.create(message=message, index=1, kind=PartKind.INLINE_DATA, attachment=image)
    delete_for_good(browser, conversation)
    for model in (Conversation, Message, Part, MessageAttachment, Turn, TurnEvent, Attachment, PendingUpload):
        assert not model._base_manager.exists(), model


def test_deletion_keeps_attachments_that_another_conversation_shows(browser: Client, owner: User) -> None:
    conversation, kept = make_conversation(owner), make_conversation(owner)
    linked, held, unused = (make_attachment(owner) for _ in range(3))
    for attachment in (linked, held, make_attachment(owner)):
        attach(make_user_message(conversation), attachment)
    attach(make_user_message(kept), linked)
    answer = make_model_message(kept)
    Part.objects.create(message=answer, index=1, kind=PartKind.INLINE_DATA, attachment=held)
    delete_for_good(browser, conversation)
    assert set(Attachment.objects.all()) == {linked, held, unused}
    assert browser.get(kept.get_absolute_url()).status_code == 200


def test_deletion_removes_graphs_that_are_only_in_the_log_of_a_live_answer(browser: Client, owner: User) -> None:
    conversation = make_conversation(owner)
    answer = make_model_message(conversation, status=Turn.Status.RUNNING)
    graph = make_attachment(owner, is_graph=True)
    TurnEvent.objects.create(turn=answer.turn, seq=2, name="attachment", data={"attachment_id": str(graph.pk)})
    delete_for_good(browser, conversation)
    assert not Attachment.objects.exists()


def test_number_of_queries_of_a_deletion_does_not_depend_on_the_messages(browser: Client, owner: User) -> None:
    def count_queries(messages: int) -> int:
        conversation = make_conversation(owner)
        for _ in range(messages):
            make_graph(make_model_message(conversation), part_index=0)
        with CaptureQueriesContext(connection) as queries:
            delete_for_good(browser, conversation)
        return len(queries)

    assert count_queries(5) == count_queries(10)
