"""Files that are small to send and long to read: reading takes time in proportion to their size, and bounded memory."""

from __future__ import annotations

import json
import threading
import time
import tracemalloc
from collections.abc import Sequence
from typing import Any

import pytest
from pytest_django import Settings

from attachments.models import Attachment
from chat.imports import importing, places, storing
from chat.imports.importing import EMPTY, ONE_AT_A_TIME, import_file
from chat.imports.refusal import RefusedImport
from chat.models import Conversation, Message
from chat.models import ImportedConversation as Imported
from tests.chat.exports.building import png
from tests.chat.imports.test_hostile import MINIMAL, with_file, zipped
from tests.factories import make_user

LIMIT_S = 8.0
"""Each of these takes less than a second; read in quadratic time they took minutes, or for ever."""


def seconds_for(data: bytes) -> float:
    began_at = time.monotonic()
    try:
        import_file(data, owner_id=make_user().pk, name="file.ipynb")
    except RefusedImport as refusal:
        assert str(refusal) == EMPTY  # noqa: PT017 - either will do
    return time.monotonic() - began_at


def chatgpt(mapping: dict[str, Any], current: str) -> bytes:
    return json.dumps([{"title": "t", "mapping": mapping, "current_node": current}]).encode()


@pytest.mark.django_db
def test_nodes_that_hang_from_each_other_end() -> None:
    question = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Hi"]}}
    file = chatgpt({"root": {"message": question}, "a": {"parent": "b"}, "b": {"parent": "a"}}, "a")
    import_file(file, owner_id=make_user().pk)
    assert list(Message.objects.filter(role="user").values_list("text", flat=True)) == ["Hi"]


@pytest.mark.django_db
def test_long_chain_of_empty_nodes_is_walked_once() -> None:
    mapping: dict[str, Any] = {"root": {}}
    for number in range(19_000):
        mapping[str(number)] = {"parent": str(number - 1) if number else "root"}
    assert seconds_for(chatgpt(mapping, "")) < LIMIT_S


@pytest.mark.parametrize("source", ["\n" * 400_000, "*With " * 100_000, "![" * 200_000, "![](attachment:" * 30_000])
@pytest.mark.django_db
def test_cell_that_nearly_holds_what_exports_add_is_read_once(source: str) -> None:
    notebook = {
        "nbformat": 4,
        "metadata": {"plotline": {"format": "plotline-notebook"}},
        "cells": [{"cell_type": "markdown", "source": source, "metadata": {"plotline": {"role": "user"}}}],
    }
    assert seconds_for(json.dumps(notebook).encode()) < LIMIT_S


def test_strings_are_counted_without_keeping_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "VALUES_LIMIT", 1_000)
    text = b'["' + b'ab"' * 300_000 + b'"]'
    tracemalloc.start()
    with pytest.raises(RefusedImport, match="values; at most"):
        places.read_json(text)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 3 * len(text)


@pytest.mark.django_db
def test_graphs_of_files_count_too(settings: Settings) -> None:
    owner = make_user()
    settings.UPLOAD_QUOTA_BYTES = int(1.5 * len(png()))
    import_file(with_file(png("red")), owner_id=owner.pk)
    with pytest.raises(RefusedImport, match=r"is too much for today.*graphs included"):
        import_file(with_file(png("blue")), owner_id=owner.pk)
    assert Attachment.objects.count() == 1


@pytest.mark.django_db
def test_person_imports_one_file_at_a_time() -> None:
    owner, other = make_user(), make_user()
    refused: list[str] = []

    def send_another() -> None:
        try:
            import_file(b"{}", owner_id=owner.pk)
        except RefusedImport as refusal:
            refused.append(str(refusal))

    with importing._alone(owner.pk):
        thread = threading.Thread(target=send_another)
        thread.start()
        thread.join()
        import_file(json.dumps(MINIMAL).encode(), owner_id=other.pk)
    assert refused == [ONE_AT_A_TIME]
    import_file(json.dumps(MINIMAL).encode(), owner_id=owner.pk)


@pytest.mark.django_db
def test_file_that_fails_after_its_first_transaction_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storing, "ROWS_AT_ONCE", 1)
    monkeypatch.setattr(storing, "PAUSE_S", 0)

    class FullError(Exception):
        """As of a disk."""

    def fail_for_files(drafts: Sequence[object], owner_id: int) -> dict[str, Attachment]:
        if drafts:
            assert Conversation.objects.filter(owner_id=owner_id, messages__isnull=False).exists()
            raise FullError
        return {}

    monkeypatch.setattr(storing, "_store_files", fail_for_files)
    file = zipped({"a/conversation.json": json.dumps(MINIMAL).encode(), "b/conversation.json": with_file(png())})
    with pytest.raises(FullError):
        import_file(file, owner_id=make_user().pk)
    assert not Conversation.objects.exists()
    assert not Imported.objects.exists()
