"""Exports in JSON and zip are imported unchanged, and only once."""

from __future__ import annotations

import json
import uuid

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from jsonschema import Draft202012Validator

from attachments.store import create_within_quota
from attachments.validation import inspect_file_of_code
from chat.library.imports.importer import import_file
from chat.models import Conversation, ImportedConversation, MessageAttachment, Project, Turn
from chat.models.deletion import delete_conversation
from chat.models.projects import move_conversation
from chat.providers import untrusted_json
from tests.chat.library.exports.samples import exported_bytes, exported_json, rich_conversation, session_conversation
from tests.chat.library.exports.test_json import SCHEMA
from tests.chat.library.imports.comparison import comparable
from tests.chat.library.imports.documents import changed
from tests.chat.library.imports.generated import conversations
from tests.factories import attach, make_attachment, make_conversation, make_model_message, make_user, make_user_message

pytestmark = pytest.mark.django_db
VALIDATOR = Draft202012Validator(SCHEMA)


class RollbackError(Exception):
    """Rolls back the rows of all examples."""


@pytest.mark.drill
def test_generated_conversations_are_imported_unchanged() -> None:
    owner, writer = make_user(), make_user()
    examples: list[uuid.UUID] = []

    @settings(max_examples=200, suppress_health_check=list(HealthCheck))
    @given(conversation=conversations(writer))
    def round_trip(conversation: Conversation) -> None:
        file = exported_bytes(conversation, "json")
        before = json.loads(file)
        examples.append(conversation.pk)
        # Only every tenth example is tested with an archive and the schema, because these take long.
        is_thorough = len(examples) % 10 == 0
        if is_thorough:
            VALIDATOR.validate(before)
        result = import_file(exported_bytes(conversation, "zip") if is_thorough else file, owner_id=owner.pk)
        assert len(result.created) == 1
        after = exported_json(Conversation.objects.get(pk=result.created[0]))
        assert comparable(after) == comparable(before)
        if is_thorough:
            again = import_file(file, owner_id=owner.pk)
            assert again.created == ()
            assert again.existing == result.created

    try:
        with transaction.atomic():
            round_trip()
            raise RollbackError
    except RollbackError:
        pass
    assert len(examples) >= 200


@pytest.mark.parametrize("format_name", ["json", "zip"])
def test_imported_conversation_is_unchanged_and_belongs_to_the_importing_user(format_name: str) -> None:
    conversation = rich_conversation()
    owner = make_user()
    result = import_file(exported_bytes(conversation, format_name), owner_id=owner.pk)
    copy = Conversation.objects.get(pk=result.created[0])
    assert comparable(exported_json(copy)) == comparable(exported_json(conversation))
    assert copy.owner == owner
    assert {row.attachment.owner for message in copy.messages.all() for row in message.message_attachments.all()} == {
        owner
    }


def test_rounds_and_parts_made_by_functions_are_imported_unchanged() -> None:
    conversation = session_conversation()
    result = import_file(exported_bytes(conversation, "json"), owner_id=make_user().pk)
    copy = Conversation.objects.get(pk=result.created[0])
    assert comparable(exported_json(copy)) == comparable(exported_json(conversation))
    answer, original = (one.messages.get(role="model") for one in (copy, conversation))
    assert [row.value for row in answer.parts.all()] == [row.value for row in original.parts.all()]
    assert answer.turn.round_count == 2
    assert [(one.index, one.finish, one.response_id) for one in answer.turn.rounds.all()] == [
        (0, "stop", "response-1"),
        (1, "length", ""),
    ]
    assert answer.parts.get(index=2).attachment == answer.message_attachments.get().attachment


def test_approval_always_in_an_export_of_an_earlier_version_is_imported_as_auto() -> None:
    document = exported_json(session_conversation())
    old = changed("conversation.approval", "always", document)
    VALIDATOR.validate(json.loads(old))
    result = import_file(old, owner_id=make_user().pk)
    copy = Conversation.objects.get(pk=result.created[0])
    assert copy.approval == "auto"
    assert comparable(exported_json(copy)) == comparable(document)


def test_provider_account_of_an_answer_is_not_imported() -> None:
    conversation = session_conversation()
    conversation.turns.update(account="account")
    result = import_file(exported_bytes(conversation, "json"), owner_id=make_user().pk)
    assert Turn.objects.get(conversation=result.created[0]).account == ""


def test_conversation_is_imported_once_from_different_files_that_contain_it() -> None:
    conversation = rich_conversation()
    owner = make_user()
    first = import_file(exported_bytes(conversation, "json"), owner_id=owner.pk)
    copy = Conversation.objects.get(pk=first.created[0])
    copy.change_settings({"title": "Renamed since"})
    for file in (exported_bytes(conversation, "zip"), exported_bytes(copy, "json"), exported_bytes(copy, "zip")):
        again = import_file(file, owner_id=owner.pk)
        assert again.created == ()
        assert again.existing == first.created
    assert ImportedConversation.objects.count() == 1
    other = import_file(exported_bytes(conversation, "json"), owner_id=make_user().pk)
    assert len(other.created) == 1


@pytest.mark.parametrize("format_name", ["zip", "ipynb"])
def test_attachments_named_like_exported_documents_are_not_imported_as_conversations(format_name: str) -> None:
    conversation = rich_conversation()
    question = conversation.messages.get(index=0)
    files = {
        "conversation.json": exported_bytes(session_conversation(), "json"),
        "other.ipynb": exported_bytes(session_conversation(), "ipynb"),
    }
    for name, data in files.items():
        attach(question, make_attachment(conversation.owner, data=data, name=name))
    result = import_file(exported_bytes(conversation, format_name), owner_id=make_user().pk)
    assert Conversation.objects.get(pk__in=result.created).title == conversation.title


def test_binary_file_that_code_wrote_and_that_is_attached_to_a_question_is_imported() -> None:
    conversation = make_conversation()
    data = b"MZ\x90\x00\x03\x00"
    file = create_within_quota(conversation.owner_id, inspect_file_of_code("model.bin", data), data)
    attach(make_user_message(conversation), file)
    result = import_file(exported_bytes(conversation, "json"), owner_id=make_user().pk)
    copy = MessageAttachment.objects.get(message__conversation__in=result.created).attachment
    assert (copy.mime_type, copy.sha256) == (file.mime_type, file.sha256)


def test_values_with_the_maximum_nesting_depth_can_be_imported() -> None:
    conversation = session_conversation()
    value = json.loads("[" * untrusted_json.DEPTH_LIMIT + "]" * untrusted_json.DEPTH_LIMIT)
    conversation.turns.get().rounds.filter(index=1).update(metadata={"x": value})
    result = import_file(exported_bytes(conversation, "json"), owner_id=make_user().pk)
    copy = Conversation.objects.get(pk=result.created[0])
    assert comparable(exported_json(copy)) == comparable(exported_json(conversation))


def test_deleted_import_can_be_imported_again() -> None:
    file = exported_bytes(rich_conversation(), "json")
    owner = make_user()
    first = import_file(file, owner_id=owner.pk)
    delete_conversation(Conversation.objects.get(pk=first.created[0]))
    assert len(import_file(file, owner_id=owner.pk).created) == 1


@pytest.mark.django_db
def test_conversation_is_imported_into_the_owners_project_of_the_same_name() -> None:
    conversation = make_conversation()
    make_model_message(conversation)
    move_conversation(conversation, Project.objects.start(conversation.owner_id, name="Harbour"))
    file = exported_bytes(conversation, "json")
    without, with_project = make_user(), make_user()
    project = Project.objects.start(with_project.pk, name="Harbour")
    for owner, expected in ((without, None), (with_project, project)):
        import_file(file, owner_id=owner.pk)
        assert Conversation.objects.get(owner=owner).project == expected
    assert Project.objects.count() == 2
