"""Outputs that code has cleared stay in the details of its answer, and are shown nowhere else."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from attachments.models import Attachment
from chat.api.serializers.messages import MessageSerializer
from chat.library.imports.shared_copy import copy_share
from chat.messages.answer import Answer
from chat.messages.changes import AnswerAttachment, AttachmentAdded, OutputCut, PartStarted
from chat.messages.cleared_outputs import GRAPHS_LIMIT_COUNT
from chat.messages.records import records_by_id
from chat.models import CLEARED_INDEX, Message, MessageAttachment, Part, Share
from chat.models.deletion import delete_conversation
from chat.page.fragments import message_html
from chat.page.readers import OWNER
from chat.page.transcript.views import message_view
from chat.vocabulary.parts import OUTCOME_OK, CodeExecutionResult, Engine, ExecutableCode, InlineData
from chat.vocabulary.parts import Part as AnyPart
from tests.chat.library.exports.samples import exported_bytes, exported_json, png
from tests.factories import attach, make_attachment, make_conversation, make_model_message, make_user


def answer_that_cleared() -> Message:
    """Create an answer with one graph, and with one that its code has cleared."""
    message = make_model_message(make_conversation(), parts=())
    owner = message.conversation.owner
    shown = make_attachment(owner, is_graph=True, data=png("teal"))
    attach(message, shown, part_index=1)
    parts: list[AnyPart] = [
        ExecutableCode("plot()", "PYTHON", engine=Engine.SESSION),
        InlineData("image/png"),
        CodeExecutionResult("done", OUTCOME_OK, engine=Engine.SESSION, cleared=("was working",), cleared_left_out=2),
    ]
    for index, part in enumerate(parts):
        Part.from_value(part, index=index, message=message, attachment=shown if index == 1 else None).save()
    cleared = attach(message, make_attachment(owner, is_graph=True, name="cleared.png", data=png("red")))
    MessageAttachment.objects.filter(pk=cleared.pk).update(index=CLEARED_INDEX, part_index=0)
    return message


@pytest.mark.django_db
def test_cleared_outputs_are_shown_only_in_the_details() -> None:
    message = answer_that_cleared()
    record = records_by_id([message.pk])[message.pk]
    assert [placed.index for placed in record.attachments] == [0]
    assert [placed.index for placed in record.cleared] == [CLEARED_INDEX]
    assert record.kept_files == []
    assert record.unplaced == []
    html = message_html(message_view(record, OWNER))
    before, details = html.split('class="fold cleared"')
    assert "was working" not in before
    assert "was working" in details
    cleared_id = str(record.cleared[0].attachment.pk)
    assert cleared_id not in before
    assert cleared_id in details
    assert 'loading="lazy"' in details
    assert html.count("data-graph-index") == 1
    assert [one["index"] for one in MessageSerializer(record).data["attachments"]] == [0]
    for form in ("md", "html", "ipynb"):
        assert "was working" not in exported_bytes(message.conversation, form).decode()


@pytest.mark.django_db
def test_cleared_graph_is_readable_but_not_in_the_gallery() -> None:
    message = answer_that_cleared()
    browser = Client()
    browser.force_login(message.conversation.owner)
    [cleared] = Attachment.objects.filter(name="cleared.png")
    assert browser.get(reverse("attachment-content", args=[cleared.pk])).status_code == 200
    assert str(cleared.pk) not in browser.get("/gallery/").content.decode()


@pytest.mark.django_db
def test_cleared_outputs_are_exported_as_json_and_deleted_but_not_shared() -> None:
    message = answer_that_cleared()
    [_, answer] = exported_json(message.conversation)["messages"]
    assert [one["index"] for one in answer["attachments"]] == [0, CLEARED_INDEX]
    share = Share.objects.issue(message.conversation)
    page = Client().get(share.get_absolute_url()).content.decode()
    assert "done" in page
    assert "was working" not in page
    assert list(share.links().values_list("index", flat=True)) == [0]
    copy_id = copy_share(share, owner_id=make_user("reader").pk)
    copies = MessageAttachment.objects.filter(message__conversation=copy_id)
    assert list(copies.values_list("index", "part_index")) == [(0, 1)]
    copied = Part.objects.get(message__conversation=copy_id, kind="code_execution_result").value
    assert isinstance(copied, CodeExecutionResult)
    assert (copied.cleared, copied.cleared_left_out) == ((), 0)
    names = Attachment.objects.filter(name="cleared.png", owner=message.conversation.owner)
    assert names.exists()
    delete_conversation(message.conversation)
    assert not names.exists()


def test_oldest_cleared_graphs_above_the_limit_are_dropped() -> None:
    answer = Answer()
    answer.apply(PartStarted(0, ExecutableCode("plot()", "PYTHON", engine=Engine.SESSION)))
    for number in range(GRAPHS_LIMIT_COUNT + 3):
        answer.apply(OutputCut(0))
        answer.apply(PartStarted(1, InlineData("image/png"), 0))
        graph = AnswerAttachment(0, 1, f"id-{number}", "a.png", "image/png", 10, str(number), 8, 6, is_graph=True)
        answer.apply(AttachmentAdded(graph))
    assert [one.attachment_id for one in answer.attachments] == [f"id-{GRAPHS_LIMIT_COUNT + 2}"]
    assert len(answer.cleared.graphs) == GRAPHS_LIMIT_COUNT
    assert answer.cleared.left_out == 2
    assert (answer.data_bytes, answer.stored_bytes) == (10 * (GRAPHS_LIMIT_COUNT + 1), 10 * (GRAPHS_LIMIT_COUNT + 3))
    assert answer.text == "\n[GRAPH:0]\n"
