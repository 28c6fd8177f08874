"""A later export of a conversation continues it, without duplicates and without loss of the person's own changes."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from django.utils import timezone

from chat.answering.turns.versions import show
from chat.library.imports import chatgpt, importer, later_export
from chat.library.imports.chatgpt_files import ArchiveFiles
from chat.library.imports.importer import import_file
from chat.library.imports.json_document import parse_json
from chat.library.imports.refusal import RefusedImport
from chat.library.imports.store import ImportResult
from chat.models import Conversation, ImportedConversation, Message, QuotaUse, Share, User
from chat.models.deletion import hide_conversation
from tests.chat.library.exports.samples import exported_bytes, exported_json, png, rich_conversation
from tests.chat.library.imports.documents import zipped
from tests.chat.library.imports.test_chatgpt import conversation_of, messages_of, node
from tests.factories import make_conversation, make_model_message, make_user, make_user_message

pytestmark = pytest.mark.django_db
NODES = (
    node("q", None, "user", "First question", time=1.7e9 + 1),
    node("a", "q", "assistant", "First answer", time=1.7e9 + 2),
    node("q2", "a", "user", "Second question", time=1.7e9 + 3),
    node("a2", "q2", "assistant", "Second answer", time=1.7e9 + 4),
)
TEXTS = ["First question", "First answer", "Second question", "Second answer"]


@pytest.fixture
def owner() -> User:
    return make_user()


def export(count: int, *more: dict[str, Any], **fields: Any) -> bytes:
    nodes = json.loads(json.dumps([*NODES[:count], *more]))
    return json.dumps([conversation_of(*nodes, current=nodes[-1]["id"], **fields)]).encode()


def send(owner: User, data: bytes) -> ImportResult:
    return import_file(data, owner_id=owner.pk)


def shown_texts(conversation: Conversation) -> list[str]:
    return [text for _, _, text, is_shown in messages_of(conversation) if is_shown]


def test_later_export_with_more_messages_continues_the_conversation_without_duplicates(owner: User) -> None:
    first = send(owner, export(2))
    conversation = Conversation.objects.get(pk=first.created[0])
    grown = send(owner, export(4))
    assert (grown.created, grown.existing, grown.continued) == ((), first.created, first.created)
    assert shown_texts(conversation) == TEXTS
    revision = Conversation.objects.get().revision
    assert revision > conversation.revision
    for data in (export(2), export(4), export(4, update_time=1.75e9, title="Renamed"), export(2, title="Renamed")):
        again = send(owner, data)
        assert (again.created, again.continued) == ((), ())
    assert Message.objects.count() == 4
    assert Conversation.objects.get().revision == revision
    # Only added content counts for the quotas.
    use = QuotaUse.objects.get()
    assert use.conversations == 1
    assert use.import_bytes == sum(len(text) for text in TEXTS)


def test_regenerated_answer_in_a_later_export_becomes_a_version(owner: User) -> None:
    send(owner, export(2))
    send(owner, export(2, node("b", "q", "assistant", "Another answer", time=1.7e9 + 9)))
    conversation = Conversation.objects.get()
    assert shown_texts(conversation) == ["First question", "Another answer"]
    assert sorted(text for _, _, text, _ in messages_of(conversation)) == [
        "Another answer",
        "First answer",
        "First question",
    ]


def test_unanswered_question_gets_its_answer_and_an_incomplete_answer_gets_the_rest(owner: User) -> None:
    for count in (1, 2):
        send(owner, export(count))
    more = node("c", "a", "assistant", "And more", time=1.7e9 + 3)
    for _ in range(2):
        send(owner, export(2, more))
    send(owner, export(2))
    conversation = Conversation.objects.get()
    assert [text for _, _, text, _ in messages_of(conversation)] == ["First question", "First answer\n\nAnd more"]
    answer = conversation.messages.get(role="model")
    assert (answer.turn.status, answer.parts.count()) == ("done", 2)


def test_messages_written_in_plotline_are_kept_and_shown_after_a_later_import(owner: User) -> None:
    send(owner, export(2))
    conversation = Conversation.objects.get()
    make_user_message(conversation, "My own question")
    make_model_message(conversation)
    send(owner, export(4))
    assert shown_texts(conversation) == ["First question", "First answer", "My own question", "An answer."]
    show(conversation.pk, conversation.messages.get(text="Second question").pk)
    assert shown_texts(conversation) == TEXTS


def test_files_missing_in_the_first_import_are_added_once_by_a_later_one(owner: User) -> None:
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_00aa"}
    question = node("q", None, "user", content={"content_type": "multimodal_text", "parts": [picture, "What?"]})
    document = json.dumps([conversation_of(question, node("a", "q", "assistant", "A label"), current="a")]).encode()
    archive = zipped({"conversations.json": document, "file_00aa-label.png": png()})
    with_two = [document, archive, archive, document]
    assert [len(send(owner, data).continued) for data in with_two] == [0, 1, 0, 0]
    row = Message.objects.get(role="user")
    assert (row.text, row.message_attachments.get().attachment.name) == ("What?", "label.png")
    assert Message.objects.count() == 2
    assert QuotaUse.objects.get().upload_bytes == len(png())


@pytest.mark.parametrize("count", [2, 4])
def test_conversation_imported_by_an_earlier_plotline_version_is_recognized_and_corrected(
    owner: User, count: int
) -> None:
    data = export(2)
    send(owner, data)
    [parsed] = chatgpt.parse_conversations(parse_json(data), ArchiveFiles())
    mark = ImportedConversation.objects.get()
    mark.digest, mark.content_digest = hashlib.sha256(parsed.earlier_source_id.encode()).hexdigest(), ""
    mark.save()
    Message.objects.filter(role="model").update(text="First answer \ue200cite\ue202turn0search3\ue201")
    for _ in range(2):
        assert send(owner, export(count)).created == ()
    assert shown_texts(Conversation.objects.get()) == TEXTS[:count]


def test_conversations_with_the_same_time_but_different_ids_are_both_imported(owner: User) -> None:
    for key in ("c-1", "c-2"):
        assert len(send(owner, export(2, conversation_id=key)).created) == 1


VERSIONS = (
    node("v", "a", "assistant", "Version one", time=1.7e9 + 9),
    node("w", "a", "assistant", "Version two", time=1.7e9 + 9),
)


def test_versions_within_one_answer_are_distinguished_by_their_texts(owner: User) -> None:
    # Both versions begin with the same node, so they have the same parent, role and time.
    send(owner, export(2, *VERSIONS))
    before = messages_of(Conversation.objects.get())
    send(owner, export(2, *VERSIONS[::-1], update_time=1.75e9))
    send(owner, export(2, *VERSIONS, node("x", "v", "assistant", "Its end", time=1.7e9 + 10)))
    texts = {text for _, _, text, _ in messages_of(Conversation.objects.get())}
    assert texts == {"First question", "First answer\n\nVersion two", "First answer\n\nVersion one\n\nIts end"}
    assert len(before) == Message.objects.count()


def test_versions_of_a_question_that_follows_an_unanswered_one_share_one_empty_answer(owner: User) -> None:
    again = (node("r", "q", "user", "Again?", time=1.7e9 + 5), node("s", "q", "user", "Or so?", time=1.7e9 + 6))
    send(owner, export(1, *again))
    assert Message.objects.count() == 6
    send(owner, export(1, *again, node("t", "s", "assistant", "So.", time=1.7e9 + 7)))
    assert Message.objects.count() == 6
    assert shown_texts(Conversation.objects.get()) == ["First question", "", "Or so?", "So."]


def test_long_continuation_is_stored_in_several_steps_and_its_end_is_shown(
    owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(later_export, "SLICE_MESSAGES", 1)
    send(owner, export(2))
    more = node("c", "a", "assistant", "And more", time=1.7e9 + 2)
    other = node("z", "q", "assistant", "Another version", time=1.7e9 + 8)
    data = json.loads(export(2, more, node("q2", "c", "user", "Second question", time=1.7e9 + 3), other))
    data[0]["current_node"] = "q2"
    send(owner, json.dumps(data).encode())
    assert shown_texts(Conversation.objects.get()) == [
        "First question",
        "First answer\n\nAnd more",
        "Second question",
        "",
    ]
    assert Message.objects.count() == 5


def test_later_import_does_not_change_messages_that_a_share_shows(owner: User) -> None:
    send(owner, export(2))
    conversation = Conversation.objects.get()
    share = Share.objects.issue(conversation)
    send(owner, export(2, node("c", "a", "assistant", "And more", time=1.7e9 + 3)))
    assert share.last_message.text == Message.objects.get(role="model").text == "First answer"


def test_answer_is_completed_by_a_longer_text_and_never_shortened_by_a_later_import(owner: User) -> None:
    send(owner, export(2))
    longer = json.loads(export(2))
    longer[0]["mapping"]["a"]["message"]["content"]["parts"] = ["First answer, complete."]
    for data in (json.dumps(longer).encode(), export(2)):
        send(owner, data)
        assert Message.objects.get(role="model").text == "First answer, complete."
    ImportedConversation.objects.update(content_digest="")
    send(owner, export(2, title="Older"))
    assert Message.objects.get(role="model").text == "First answer, complete."


def test_deleted_copy_of_a_conversation_does_not_prevent_the_continuation_of_the_first(owner: User) -> None:
    data = export(2)
    send(owner, data)
    mark = ImportedConversation.objects.get()
    [parsed] = chatgpt.parse_conversations(parse_json(data), ArchiveFiles())
    old = hashlib.sha256(parsed.earlier_source_id.encode()).hexdigest()
    ImportedConversation.objects.update(digest=old, content_digest="")
    first = Conversation.objects.get()
    hide_conversation(first)
    send(owner, data)
    hide_conversation(Conversation.objects.get())
    Conversation.with_deleted.filter(pk=first.pk).update(deleted_at=None)
    assert send(owner, export(4)).continued == (mark.conversation_id,)


@pytest.mark.parametrize("times", [{}, {"create_time": "2025-05-05T10:00:00Z"}])
def test_conversation_without_times_is_continued(owner: User, times: dict[str, Any]) -> None:
    def timeless(count: int) -> bytes:
        (document,) = json.loads(export(count, **{"create_time": None, **times}))
        for one in document["mapping"].values():
            one["message"]["create_time"] = None
        return json.dumps([document]).encode()

    send(owner, timeless(2))
    assert send(owner, timeless(4)).continued
    assert shown_texts(Conversation.objects.get()) == TEXTS


def test_content_that_was_stored_before_an_import_failed_counts_towards_the_quota_once(
    owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def both(count: int) -> bytes:
        return json.dumps([json.loads(export(count, conversation_id=key))[0] for key in ("c-1", "c-2")]).encode()

    send(owner, both(2))
    used = QuotaUse.objects.get().import_bytes
    calls: list[int] = []

    def fail_at_the_second(*args: object, **options: object) -> None:
        calls.append(1)
        if len(calls) == 2:
            raise RefusedImport("Full.")

    monkeypatch.setattr(importer, "check_stored", fail_at_the_second)
    with pytest.raises(RefusedImport):
        send(owner, both(4))
    assert Message.objects.count() == 6
    added = QuotaUse.objects.get().import_bytes - used
    monkeypatch.undo()
    send(owner, both(4))
    assert QuotaUse.objects.get().import_bytes == used + 2 * added > used


@pytest.mark.parametrize("format_name", ["json", "zip"])
def test_import_of_plotlines_own_export_adds_nothing_while_the_conversation_exists(format_name: str) -> None:
    conversation = rich_conversation()
    data = exported_bytes(conversation, format_name)
    conversation.change_settings({"title": "Renamed since"})
    result = import_file(data, owner_id=conversation.owner_id)
    assert (result.created, result.existing) == ((), (conversation.pk,))
    hide_conversation(conversation)
    assert len(import_file(data, owner_id=conversation.owner_id).created) == 1


def test_export_of_an_existing_temporary_conversation_is_imported_as_a_new_one() -> None:
    conversation = rich_conversation()
    data = exported_bytes(conversation, "json")
    Conversation.objects.filter(pk=conversation.pk).update(temporary_seen_at=timezone.now())
    assert len(import_file(data, owner_id=conversation.owner_id).created) == 1


def test_plotlines_own_export_is_imported_if_its_text_differs_or_another_user_imports_it() -> None:
    conversation = make_conversation()
    make_model_message(conversation)
    document = exported_json(conversation)
    document["messages"][-1]["text"] = "Another text"
    assert len(import_file(json.dumps(document).encode(), owner_id=conversation.owner_id).created) == 1
    other = import_file(exported_bytes(conversation, "json"), owner_id=make_user().pk)
    assert len(other.created) == 1
