"""Files that were made to exhaust the server: parsing takes linear time and bounded memory."""

from __future__ import annotations

import json
import threading
import tracemalloc
from collections.abc import Sequence
from typing import Any

import pytest
from pytest_django import Settings

from attachments.models import Attachment
from chat.library.imports import chatgpt, importer, json_document, rows, store
from chat.library.imports.foreign_messages import build_question
from chat.library.imports.importer import EMPTY, import_file
from chat.library.imports.json_paths import EPOCH
from chat.library.imports.matching import match_messages
from chat.library.imports.refusal import RefusedImport
from chat.library.imports.store import ONE_AT_A_TIME
from chat.models import Conversation, ImportedConversation, Message, Quota, QuotaUse
from chat.people.quotas.enforcement import count_usage
from chat.people.quotas.resources import QuotaExceeded, Resource
from tests.chat.library.exports.samples import png
from tests.chat.library.imports.documents import MINIMAL, with_file, zipped
from tests.factories import make_attachment, make_user
from tests.time_growth import GROWTH_LIMIT, time_growth

MB = 1024 * 1024
CHAIN_NODES = 19_000
"""Slightly less than the limit."""


def chatgpt_export(mapping: dict[str, Any], current: str) -> bytes:
    return json.dumps([{"title": "t", "mapping": mapping, "current_node": current}]).encode()


@pytest.mark.django_db
def test_nodes_of_a_chatgpt_export_that_form_a_cycle_are_ignored() -> None:
    question = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Hi"]}}
    file = chatgpt_export({"root": {"message": question}, "a": {"parent": "b"}, "b": {"parent": "a"}}, "a")
    import_file(file, owner_id=make_user().pk)
    assert list(Message.objects.filter(role="user").values_list("text", flat=True)) == ["Hi"]


@pytest.mark.django_db
def test_long_chain_of_empty_chatgpt_nodes_is_read_in_linear_time() -> None:
    owner = make_user()

    def refuse_chain(length: int) -> None:
        mapping: dict[str, Any] = {"root": {}}
        for number in range(length):
            mapping[str(number)] = {"parent": str(number - 1) if number else "root"}
        with pytest.raises(RefusedImport, match=EMPTY):
            import_file(chatgpt_export(mapping, ""), owner_id=owner.pk)

    assert time_growth(refuse_chain, CHAIN_NODES) < GROWTH_LIMIT


def node(parent: str | None, role: str, text: str) -> dict[str, Any]:
    message = {"author": {"role": role}, "content": {"content_type": "text", "parts": [text]}}
    return {"parent": parent, "message": message}


@pytest.mark.django_db
def test_import_is_refused_if_too_many_versions_repeat_a_long_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each version of an answer has its own copy of the text, so the text of one file could fill the memory."""
    mapping = {"u": node(None, "user", "Hi"), "long": node("u", "assistant", "x" * 1_000)}
    mapping |= {f"leaf {number}": node("long", "assistant", "y") for number in range(20)}
    export = chatgpt_export(mapping, "leaf 1")
    monkeypatch.setattr(chatgpt, "ANSWERS_LIMIT_CHARS", 20_019)
    with pytest.raises(RefusedImport, match="too many versions"):
        import_file(export, owner_id=make_user().pk)
    monkeypatch.setattr(chatgpt, "ANSWERS_LIMIT_CHARS", 20_020)
    import_file(export, owner_id=make_user().pk)
    assert Message.objects.filter(role="model").count() == 20


@pytest.mark.django_db
def test_total_text_of_all_conversations_in_a_file_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    conversation = {"title": "t", "mapping": {"u": node(None, "user", "x" * 1_000)}, "current_node": "u"}
    # A question is counted as a message and as its part. The unanswered question gets an empty answer.
    monkeypatch.setattr(importer, "TEXT_LIMIT_CHARS", 4_000)
    with pytest.raises(RefusedImport, match="too much text"):
        import_file(
            json.dumps([{**conversation, "id": str(number)} for number in range(3)]).encode(), owner_id=make_user().pk
        )
    assert not Conversation.objects.exists()
    import_file(
        json.dumps([{**conversation, "id": str(number)} for number in range(2)]).encode(), owner_id=make_user().pk
    )
    assert Conversation.objects.count() == 2


@pytest.mark.parametrize("source", ["\n" * 400_000, "*With " * 100_000, "![" * 200_000, "![](attachment:" * 30_000])
@pytest.mark.django_db
def test_notebook_cell_that_resembles_an_exported_message_is_read_in_linear_time(source: str) -> None:
    def import_cell(characters: int) -> None:
        cell = {"cell_type": "markdown", "source": source[:characters], "metadata": {"plotline": {"role": "user"}}}
        metadata = {"plotline": {"format": "plotline-notebook"}}
        file = json.dumps({"nbformat": 4, "metadata": metadata, "cells": [cell]}).encode()
        import_file(file, owner_id=make_user().pk, name="file.ipynb")

    assert time_growth(import_cell, len(source)) < GROWTH_LIMIT


@pytest.mark.parametrize(("addition", "share"), [("", 1), ("other ", 0)])
def test_versions_with_the_same_time_are_compared_with_stored_ones_in_linear_time(addition: str, share: int) -> None:
    def match(count: int) -> None:
        texts = [f"text {number}" for number in range(count)]
        messages = [build_question(text, None, text, EPOCH) for text in texts]
        rows = [Message(role="user", text=addition + text, created_at=EPOCH) for text in reversed(texts)]
        assert len(match_messages(messages, rows, {})) == count * share

    assert time_growth(match, 4_000) < GROWTH_LIMIT


def test_json_with_too_many_strings_is_refused_in_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_document, "VALUES_LIMIT", 1_000)
    text = b'["' + b'ab"' * 300_000 + b'"]'
    tracemalloc.start()
    with pytest.raises(RefusedImport, match="values; at most"):
        json_document.parse_json(text)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 3 * len(text)


@pytest.mark.django_db
def test_imported_graphs_count_towards_the_upload_limit(settings: Settings) -> None:
    owner = make_user()
    settings.QUOTAS = {**settings.QUOTAS, "upload_mb_per_day": 1}
    count_usage(owner.pk, Resource.UPLOADS, 1024**2 - int(1.5 * len(png())))
    import_file(with_file(png("red")), owner_id=owner.pk)
    with pytest.raises(QuotaExceeded, match="You have uploaded 1 MB today, of at most 1 MB a day"):
        import_file(with_file(png("blue")), owner_id=owner.pk)
    assert Attachment.objects.count() == 1


@pytest.mark.django_db
def test_amount_of_text_that_a_person_imports_in_a_day_is_limited() -> None:
    owner = make_user()
    Quota.objects.create(user=owner, import_mb_per_day=1)
    document = {**MINIMAL, "messages": [{**MINIMAL["messages"][0], "text": "é" * 300_000}]}
    import_file(json.dumps(document).encode(), owner_id=owner.pk, name="a.json")
    assert QuotaUse.objects.values_list("import_bytes", "conversations").get() == (600_000, 1)
    document["messages"][0]["text"] = "ö" * 300_000
    with pytest.raises(QuotaExceeded, match=r"“b\.json” has 586 KB of text, which is too much"):
        import_file(json.dumps(document).encode(), owner_id=owner.pk, name="b.json")
    import_file(json.dumps(document).encode(), owner_id=owner.pk, name="b.json", has_quota=False)
    assert QuotaUse.objects.get().import_bytes == 600_000


@pytest.mark.django_db
def test_import_that_adds_nothing_or_fails_is_not_counted_for_the_quota(monkeypatch: pytest.MonkeyPatch) -> None:
    owner = make_user()
    import_file(json.dumps(MINIMAL).encode(), owner_id=owner.pk)
    counted = QuotaUse.objects.values().get()
    assert counted["conversations"] == 1
    import_file(json.dumps(MINIMAL).encode(), owner_id=owner.pk)

    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(importer, "store_conversations", fail)
    with pytest.raises(ZeroDivisionError):
        import_file(json.dumps(MINIMAL).encode(), owner_id=owner.pk)
    assert QuotaUse.objects.values().get() == counted


@pytest.mark.django_db
def test_conversations_that_were_imported_before_do_not_count_towards_quotas() -> None:
    owner = make_user()
    file, other = with_file(png("red")), json.dumps(MINIMAL).encode()
    first = import_file(file, owner_id=owner.pk)
    Quota.objects.create(user=owner, conversations_per_day=2, storage_mb=0, upload_mb_per_day=0)
    assert import_file(file, owner_id=owner.pk).existing == first.created
    both = zipped({"a/conversation.json": file, "b/conversation.json": other})
    assert len(import_file(both, owner_id=owner.pk).created) == 1
    assert QuotaUse.objects.get().conversations == 2


@pytest.mark.django_db
def test_import_is_undone_if_other_files_have_used_up_the_storage_quota_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def store_after_another(*arguments: Any, **options: Any) -> store.ImportResult:
        make_attachment(owner, data=bytes(MB))
        return store.store_conversations(*arguments, **options)

    owner = make_user()
    Quota.objects.create(user=owner, storage_mb=1)
    monkeypatch.setattr(importer, "store_conversations", store_after_another)
    with pytest.raises(QuotaExceeded, match="Your files take up"):
        import_file(with_file(png("red")), owner_id=owner.pk)
    assert not Conversation.objects.exists()
    assert QuotaUse.objects.get().conversations == 0


@pytest.mark.django_db
def test_user_imports_one_file_at_a_time() -> None:
    owner, other = make_user(), make_user()
    refusals: list[str] = []

    def send_another() -> None:
        try:
            import_file(b"{}", owner_id=owner.pk)
        except RefusedImport as refusal:
            refusals.append(str(refusal))

    with importer._one_import_per_user(owner.pk):
        thread = threading.Thread(target=send_another)
        thread.start()
        thread.join()
        import_file(json.dumps(MINIMAL).encode(), owner_id=other.pk)
    assert refusals == [ONE_AT_A_TIME]
    import_file(json.dumps(MINIMAL).encode(), owner_id=owner.pk)


@pytest.mark.django_db
def test_failure_after_the_first_transaction_deletes_what_was_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "TRANSACTION_ROWS", 1)

    class FullError(Exception):
        """The disk is full."""

    def fail_for_files(parsed: Sequence[object], owner_id: int) -> dict[str, Attachment]:
        if parsed:
            assert Conversation.objects.filter(owner_id=owner_id, messages__isnull=False).exists()
            raise FullError
        return {}

    monkeypatch.setattr(rows, "_store_attachments", fail_for_files)
    file = zipped({"a/conversation.json": json.dumps(MINIMAL).encode(), "b/conversation.json": with_file(png())})
    with pytest.raises(FullError):
        import_file(file, owner_id=make_user().pk)
    assert not Conversation.objects.exists()
    assert not ImportedConversation.objects.exists()
