"""The zip export: its contents, and safe names of its files."""

from __future__ import annotations

import io
import json
import uuid
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePosixPath, PureWindowsPath

import pytest
from django.utils import timezone
from jsonschema import Draft202012Validator

from attachments.models import Attachment
from chat.library.exports import source
from chat.library.exports.as_zip import folder_name
from chat.library.exports.file_names import make_unique
from chat.library.exports.registry import UnknownFormat, export_all, export_conversation
from chat.messages.records import MessageRecord, records_in_order
from chat.models import Conversation, Message, Project
from chat.models.deletion import delete_conversation, delete_project
from chat.models.projects import move_conversation
from tests.chat.library.exports.samples import exported, exported_bytes, png, rich_conversation
from tests.chat.library.exports.test_json import SCHEMA
from tests.factories import attach, make_attachment, make_conversation, make_model_message, make_user, make_user_message

HOSTILE = [
    "../../etc/passwd",
    "..\\..\\windows\\system32\\a.csv",
    "/etc/shadow",
    "C:\\boot.ini",
    "con",
    "NUL.csv",
    "aux.tar.gz",
    "a\x01.csv",
    "a\r\nb.csv",
    "line\u2028end.csv",
    "\u202efdp.csv",
    "trailing. ",
    ".hidden",
    "a:b|c?.csv",
    "DATA.CSV",
    "data.csv",
    "x" * 255,
    "日本語.csv",
    "=cmd|' /C calc'!A0",
    "%2e%2e%2fa.csv",
]


def archive(content: bytes) -> zipfile.ZipFile:
    opened = zipfile.ZipFile(io.BytesIO(content))
    assert opened.testzip() is None
    return opened


def is_harmless(path: str) -> bool:
    """Return whether a path stays in its folder on every operating system."""
    parts = PurePosixPath(path).parts
    return (
        not path.startswith("/")
        and "\\" not in path
        and ".." not in parts
        and not PureWindowsPath(path).is_reserved()
        and not any(ord(c) < 32 or c in '<>:"|?*\u2028\u202e' for c in path)
        and all(len(part.encode()) <= 255 and part == part.rstrip(". ") for part in parts)
    )


@pytest.mark.django_db
def test_archive_holds_every_format_and_each_file() -> None:
    conversation = rich_conversation()
    with archive(exported_bytes(conversation, "zip")) as opened:
        names = opened.namelist()
        folder = f"Sales-by-month-{conversation.pk.hex[:12]}"
        assert {name.partition("/")[0] for name in names} == {folder}
        files = {str(row.pk.hex)[:12]: row.name for row in Attachment.objects.all()}
        assert {name.partition("/")[2] for name in names} == {
            "conversation.json",
            "conversation.md",
            "conversation.html",
            "notebook/conversation.ipynb",
            "notebook/sales.csv",
            *(f"attachments/{digits}-{name}" for digits, name in files.items()),
        }
        document = json.loads(opened.read(f"{folder}/conversation.json"))
        Draft202012Validator(SCHEMA).validate(document)
        contents = {file["name"]: opened.read(f"{folder}/{file['file']}") for file in document["attachments"]}
        assert contents == {"sales.csv": b"month,sales\nJan,3\nFeb,5\n", "graph.png": png()}
        markdown = opened.read(f"{folder}/conversation.md").decode()
        assert "](<attachments/" in markdown
        assert "base64" not in markdown


@pytest.mark.django_db
def test_attachment_with_a_hostile_file_name_is_stored_inside_its_folder() -> None:
    conversation = make_conversation(title="../../.ssh/\u202e<b>")
    question = make_user_message(conversation)
    for number, name in enumerate(HOSTILE):
        file = make_attachment(conversation.owner, data=f"file {number}".encode(), name=name[:255])
        attach(question, file)
    make_model_message(conversation)
    for format_name in ("zip", "ipynb"):
        with archive(exported_bytes(conversation, format_name)) as opened:
            names = opened.namelist()
            assert all(map(is_harmless, names)), [name for name in names if not is_harmless(name)]
            assert len({name.casefold() for name in names}) == len(names)
            files = [name for name in names if "attachments/" in name] or [n for n in names if not n.endswith("ipynb")]
            assert {opened.read(name) for name in files} == {f"file {n}".encode() for n in range(len(HOSTILE))}


def test_file_names_that_differ_only_in_case_get_numbers() -> None:
    assert make_unique(["a.csv", "A.csv", "a-2.csv", "a.csv", "b", "B"]) == [
        "a.csv",
        "A-2.csv",
        "a-2-2.csv",
        "a-3.csv",
        "b",
        "B-2",
    ]


@pytest.mark.django_db
def test_each_conversation_has_its_own_folder() -> None:
    first = rich_conversation("Same title")
    second = make_conversation(first.owner, title="same title")
    make_model_message(second)
    make_conversation(first.owner, title="Empty")
    make_model_message(make_conversation(title="Somebody else's"))
    download = export_all(Conversation.objects.owned_by(first.owner_id), exported_at=timezone.now())
    with archive(b"".join(download.chunks)) as opened:
        folders = {name.partition("/")[0] for name in opened.namelist()}
    assert folders == {f"Same-title-{first.pk.hex[:12]}", f"same-title-{second.pk.hex[:12]}"}
    assert download.name.startswith("plotline-")


DOCUMENTS = {"conversation.json", "conversation.md", "conversation.html", "notebook/conversation.ipynb"}


@pytest.fixture
def three() -> list[Conversation]:
    """Three conversations of one person."""
    owner = make_user()
    conversations = [make_conversation(owner, title=title) for title in ("One", "Two", "Three")]
    for conversation in conversations:
        make_model_message(conversation)
    return conversations


def files_by_title(content: bytes) -> dict[str, set[str]]:
    """Return the files of each conversation in an archive, by its title."""
    files: dict[str, set[str]] = defaultdict(set)
    with archive(content) as opened:
        for name in opened.namelist():
            folder, _, path = name.partition("/")
            files[folder.partition("-")[0]].add(path)
    return files


@pytest.mark.parametrize(
    ("reads", "whole"),
    [(0, set()), (1, set()), (2, {"conversation.json"}), (4, DOCUMENTS - {"notebook/conversation.ipynb"})],
)
@pytest.mark.django_db
def test_archive_of_all_conversations_is_complete_if_one_is_deleted_while_it_is_read(
    three: list[Conversation], monkeypatch: pytest.MonkeyPatch, reads: int, whole: set[str]
) -> None:
    """`reads`: number of reads of the conversation before its deletion. The first one finds its attachments."""
    deleted, ids_read = three[1], []

    def read(ids: list[uuid.UUID]) -> Iterator[MessageRecord]:
        if Message.objects.filter(pk__in=ids, conversation=deleted).exists():
            ids_read.append(ids)
            if len(ids_read) > reads:
                delete_conversation(Conversation.objects.get(pk=deleted.pk))
        return records_in_order(ids)

    monkeypatch.setattr(source, "records_in_order", read)
    download = export_all(Conversation.objects.all(), exported_at=timezone.now())
    files = files_by_title(b"".join(download.chunks))
    assert files == {"One": DOCUMENTS, "Three": DOCUMENTS} | ({"Two": whole} if whole else {})


@pytest.mark.django_db
def test_conversation_that_is_deleted_before_the_export_reaches_it_is_left_out(three: list[Conversation]) -> None:
    content = b""
    for chunk in export_all(Conversation.objects.all(), exported_at=timezone.now()).chunks:
        content += chunk
        if chunk.startswith(b"PK\x03\x04") and f"{folder_name(three[1])}/conversation.json".encode() in chunk:
            delete_conversation(Conversation.objects.get(pk=three[1].pk))
    assert files_by_title(content) == {"One": DOCUMENTS, "Three": DOCUMENTS}


@pytest.mark.django_db
def test_archive_of_all_conversations_is_complete_if_a_project_is_deleted_meanwhile(
    three: list[Conversation],
) -> None:
    project = Project.objects.start(three[0].owner_id, name="Harbour")
    move_conversation(three[0], project)
    content = b""
    for chunk in export_all(Conversation.objects.all(), exported_at=timezone.now()).chunks:
        content += chunk
        delete_project(project)
    assert files_by_title(content) == dict.fromkeys(("One", "Two", "Three"), DOCUMENTS)


@pytest.mark.django_db
def test_unknown_format_is_refused() -> None:
    with pytest.raises(UnknownFormat, match="Known: html, md, ipynb, json, zip, pdf, docx"):
        export_conversation(make_conversation(), "odt", exported_at=timezone.now())


@pytest.mark.django_db
def test_export_that_was_not_read_to_its_end_can_be_closed() -> None:
    chunks = exported(rich_conversation(), "zip").chunks
    assert next(chunks)
    chunks.close()
