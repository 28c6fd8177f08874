"""Archives: what is in them, under names that lead nowhere else."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import PurePosixPath, PureWindowsPath

import pytest
from django.utils import timezone
from jsonschema import Draft202012Validator

from attachments.models import Attachment
from chat.exports.names import distinct
from chat.exports.registry import UnknownFormat, export_all, export_conversation
from chat.models import Conversation
from tests.chat.exports.building import exported, exported_bytes, png, rich_conversation
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
    """Whether it stays in its folder on every system."""
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
        kept = {found["name"]: opened.read(f"{folder}/{found['file']}") for found in document["attachments"]}
        assert kept == {"sales.csv": b"month,sales\nJan,3\nFeb,5\n", "graph.png": png()}
        markdown = opened.read(f"{folder}/conversation.md").decode()
        assert "](<attachments/" in markdown
        assert "base64" not in markdown


@pytest.mark.django_db
def test_hostile_names_lead_nowhere() -> None:
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
            beside = [name for name in names if "attachments/" in name] or [n for n in names if not n.endswith("ipynb")]
            assert {opened.read(name) for name in beside} == {f"file {n}".encode() for n in range(len(HOSTILE))}


def test_names_that_differ_by_case_alone_are_made_distinct() -> None:
    assert distinct(["a.csv", "A.csv", "a-2.csv", "a.csv", "b", "B"]) == [
        "a.csv",
        "A-2.csv",
        "a-2-2.csv",
        "a-3.csv",
        "b",
        "B-2",
    ]


@pytest.mark.django_db
def test_all_conversations_have_a_folder_each() -> None:
    first = rich_conversation("Same title")
    second = make_conversation(first.owner, title="same title")
    make_model_message(second)
    make_conversation(first.owner, title="Empty")
    make_model_message(make_conversation(title="Somebody else's"))
    found = export_all(Conversation.objects.owned_by(first.owner_id), exported_at=timezone.now())
    with archive(b"".join(found.chunks)) as opened:
        folders = {name.partition("/")[0] for name in opened.namelist()}
    assert folders == {f"Same-title-{first.pk.hex[:12]}", f"same-title-{second.pk.hex[:12]}"}
    assert found.name.startswith("plotline-")


@pytest.mark.django_db
def test_format_that_is_not_there_is_refused_in_words() -> None:
    with pytest.raises(UnknownFormat, match="Known: html, md, ipynb, json, zip"):
        export_conversation(make_conversation(), "pdf", exported_at=timezone.now())


@pytest.mark.django_db
def test_export_that_is_left_early_leaves_nothing_open() -> None:
    chunks = exported(rich_conversation(), "zip").chunks
    assert next(chunks)
    chunks.close()  # type: ignore[attr-defined]
