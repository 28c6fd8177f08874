"""What was exported comes back as it was, by JSON and by zip, and once."""

from __future__ import annotations

import json

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from jsonschema import Draft202012Validator

from chat.imports.importing import import_file
from chat.models import Conversation, ImportedConversation
from tests.chat.exports.building import exported_bytes, exported_json, rich_conversation
from tests.chat.exports.test_json import SCHEMA
from tests.chat.imports.building import comparable, conversations
from tests.factories import make_user

pytestmark = pytest.mark.django_db
VALIDATOR = Draft202012Validator(SCHEMA)


class Undone(Exception):
    """Takes an example's rows back."""


def test_generated_conversations_come_back_as_they_were() -> None:
    owner, writer = make_user(), make_user()
    seen = []

    @settings(max_examples=200, suppress_health_check=list(HealthCheck))
    @given(conversation=conversations(writer))
    def round_trip(conversation: Conversation) -> None:
        written = exported_bytes(conversation, "json")
        before = json.loads(written)
        seen.append(conversation.pk)
        # The archive holds all other formats too, which takes its time; so does the schema.
        is_thorough = len(seen) % 10 == 0
        if is_thorough:
            VALIDATOR.validate(before)
        imported = import_file(exported_bytes(conversation, "zip") if is_thorough else written, owner_id=owner.pk)
        assert len(imported.created) == 1
        after = exported_json(Conversation.objects.get(pk=imported.created[0]))
        assert comparable(after) == comparable(before)
        if is_thorough:
            again = import_file(written, owner_id=owner.pk)
            assert again.created == ()
            assert again.known == imported.created

    try:
        with transaction.atomic():
            round_trip()
            raise Undone
    except Undone:
        pass
    assert len(seen) >= 200


@pytest.mark.parametrize("format_name", ["json", "zip"])
def test_everything_comes_back_and_belongs_to_who_imported_it(format_name: str) -> None:
    conversation = rich_conversation()
    owner = make_user()
    imported = import_file(exported_bytes(conversation, format_name), owner_id=owner.pk)
    copy = Conversation.objects.get(pk=imported.created[0])
    assert comparable(exported_json(copy)) == comparable(exported_json(conversation))
    assert copy.owner == owner
    assert {row.attachment.owner for message in copy.messages.all() for row in message.message_attachments.all()} == {
        owner
    }


def test_same_conversation_is_taken_once_whatever_file_it_comes_in() -> None:
    conversation = rich_conversation()
    owner = make_user()
    first = import_file(exported_bytes(conversation, "json"), owner_id=owner.pk)
    copy = Conversation.objects.get(pk=first.created[0])
    copy.change_settings({"title": "Renamed since"})
    for file in (exported_bytes(conversation, "zip"), exported_bytes(copy, "json"), exported_bytes(copy, "zip")):
        again = import_file(file, owner_id=owner.pk)
        assert again.created == ()
        assert again.known == first.created
    assert ImportedConversation.objects.count() == 1
    somebody_else = import_file(exported_bytes(conversation, "json"), owner_id=make_user().pk)
    assert len(somebody_else.created) == 1


def test_deleted_import_can_be_imported_again() -> None:
    file = exported_bytes(rich_conversation(), "json")
    owner = make_user()
    first = import_file(file, owner_id=owner.pk)
    Conversation.objects.get(pk=first.created[0]).delete_with_attachments()
    assert len(import_file(file, owner_id=owner.pk).created) == 1
