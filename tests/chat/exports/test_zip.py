"""The zip export: its contents, and safe names of its files."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import PurePosixPath, PureWindowsPath

import pytest
from django.utils import timezone
from jsonschema import Draft202012Validator

from attachments.models import Attachment
from chat.exports.file_names import make_unique
from chat.exports.registry import UnknownFormat, export_all, export_conversation
from chat.models import Conversation
from tests.chat.exports.samples import exported, exported_bytes, png, rich_conversation
from tests.chat.exports.test_json import SCHEMA
from tests.factories import attach, make_attachment, make_conversation, make_model_message, make_user_message

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
def test_hostile_file_names_stay_in_their_folder() -> None:
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


def test_names_that_differ_only_in_case_get_numbers() -> None:
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


@pytest.mark.django_db
def test_unknown_format_is_refused() -> None:
    with pytest.raises(UnknownFormat, match="Known: html, md, ipynb, json, zip"):
        export_conversation(make_conversation(), "pdf", exported_at=timezone.now())


@pytest.mark.django_db
def test_unfinished_export_can_be_closed() -> None:
    chunks = exported(rich_conversation(), "zip").chunks
    assert next(chunks)
    chunks.close()
