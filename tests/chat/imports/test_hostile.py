"""Files that somebody made to do harm, or broke: a sentence that names the place, and nothing kept."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import struct
import zipfile
import zlib
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from attachments.models import Attachment
from chat.imports.importing import UNKNOWN, import_file
from chat.imports.refusal import RefusedImport
from chat.models import Conversation, Message
from tests.chat.exports.building import exported_bytes, exported_json, png, rich_conversation
from tests.factories import make_user

pytestmark = pytest.mark.django_db
MINIMAL = json.loads((Path(__file__).parent / "minimal.json").read_text())


def refused(data: bytes) -> str:
    """The sentence; nothing is kept."""
    before = (Conversation.objects.count(), Message.objects.count(), Attachment.objects.count())
    with pytest.raises(RefusedImport) as caught:
        import_file(data, owner_id=make_user().pk, name="file")
    assert (Conversation.objects.count(), Message.objects.count(), Attachment.objects.count()) == before
    return str(caught.value)


def changed(path: str, value: object, document: dict[str, Any] | None = None) -> bytes:
    """A document with another value at a place such as `messages.0.role`."""
    document = deepcopy(MINIMAL if document is None else document)
    *above, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    holder: Any = document
    for step in above:
        holder = holder[step]
    holder[last] = value
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("version", 2, "$.version: only version 1"),
        ("conversation.title", "x" * 201, "$.conversation.title: the text has 201 characters"),
        ("conversation.title", 5, "$.conversation.title: there must be a text"),
        ("conversation.code_execution", "perhaps", "$.conversation.code_execution: “perhaps” is none of"),
        ("conversation.side_tokens", -1, "$.conversation.side_tokens: there must be a whole number"),
        ("conversation.side_cost", "NaN", "$.conversation.side_cost: there must be an amount"),
        ("conversation.side_cost", "1e99", "$.conversation.side_cost: there must be an amount"),
        ("conversation.created_at", "soon", "$.conversation.created_at: there must be a time"),
        ("messages", {}, "$.messages: there must be a list"),
        ("messages.0", 7, "$.messages[0]: there must be an object"),
        ("messages.0.role", "system", "$.messages[0].role: “system” is none of user, model"),
        ("messages.0.is_shown", 1, "$.messages[0].is_shown: there must be true or false"),
        ("messages.0.parent", "nobody", "$.messages[0]: its parent is not before it"),
        ("messages.0.last_shown", 2**31, "$.messages[0].last_shown: there must be a whole number"),
        ("messages.0.parts.0.index", 3, "$.messages[0].parts[0].index: parts count from 0"),
        ("messages.0.parts.0.kind", "video", "$.messages[0].parts[0].kind: “video” is none of"),
        (
            "messages.0.parts.0.thought_signature",
            "???",
            "$.messages[0].parts[0].thought_signature: there must be base64",
        ),
        ("messages.0.parts.0.attachment_index", 0, "$.messages[0]: part 0 has its bytes in an attachment"),
        ("messages.0.parts.0.fields", {"dataUris": [{"offset": 99}]}, "fields.dataUris[0].offset: there must be"),
        (
            "messages.0.attachments",
            [{"id": "x", "index": 0, "part_index": None}],
            "$.attachments: there is none with id",
        ),
    ],
)
def test_refusal_names_the_place(path: str, value: object, sentence: str) -> None:
    assert sentence in refused(changed(path, value))


def test_broken_tree_is_refused() -> None:
    document = exported_json(rich_conversation())
    assert "an answer must follow a question" in refused(changed("messages.1.parent", None, document))
    assert "the messages in view are no path" in refused(changed("messages.2.is_shown", True, document))
    key = document["messages"][0]["id"]
    assert "there is a message with this id" in refused(changed("messages.1.id", key, document))
    assert "$.messages[1].turn.chosen: “evil”" in refused(changed("messages.1.turn.chosen", {"evil": 1}, document))
    assert "$.messages[1].turn.usage: “x”" in refused(changed("messages.1.turn.usage", {"x": 1}, document))
    for number in (-1, 10**400):
        assert "there must be a number from 0" in refused(changed("messages.1.turn.retry_after_s", number, document))


def with_file(content: bytes, **about: object) -> bytes:
    """The small conversation with a file."""
    said = {
        "id": "file",
        "name": "a.png",
        "mime_type": "image/png",
        "is_graph": True,
        "size_bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "width": 1,
        "height": 1,
        "created_at": "2026-01-31",
        "data": base64.b64encode(content).decode(),
    }
    document = deepcopy(MINIMAL)
    document["attachments"].append(said | about)
    document["messages"][0]["attachments"].append({"id": "file", "index": 0, "part_index": None})
    return json.dumps(document).encode()


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def bomb(width: int, height: int) -> bytes:
    """A PNG of a few bytes and very many pixels."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("data", "about", "sentence"),
    [
        (bomb(30_000, 30_000), {}, "has too many pixels"),
        (bomb(30_000, 30_000), {"is_graph": False}, "has too many pixels"),
        (png()[:60], {}, "a PNG image that ends too early"),
        (b"<svg onload=alert(1)>", {}, "is not a PNG, JPEG, GIF or WebP image"),
        (b"MZ\x90\x00\x03\x00\x00\x00", {"is_graph": False, "name": "a.exe"}, "cannot be attached"),
        (b"", {"is_graph": False}, "is empty"),
        (png(), {"sha256": "0" * 64}, "its bytes are not those that were exported"),
        (png(), {"data": "%%%"}, "there must be base64"),
    ],
)
def test_file_that_no_upload_could_be_is_refused(data: bytes, about: dict[str, object], sentence: str) -> None:
    words = refused(with_file(data, **about))
    assert sentence in words
    assert words.startswith("$.attachments[0]")


def test_what_a_file_says_of_itself_is_not_believed() -> None:
    data = png()
    file = with_file(data, name="../../evil\x00.html", mime_type="image/png", width=99_999, height=5, size_bytes=1)
    import_file(file, owner_id=make_user().pk)
    kept = Attachment.objects.get()
    assert (kept.name, kept.mime_type, kept.width, kept.height) == ("evil\ufffd.html", "image/png", 64, 48)
    assert kept.size_bytes == len(data)


def test_files_count_as_uploads_do(settings: Settings) -> None:
    settings.UPLOAD_QUOTA_BYTES = 100
    assert "is too much for today" in refused(with_file(png()))


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", UNKNOWN),
        (b"hello", UNKNOWN),
        (b"\x89PNG\r\n\x1a\n", UNKNOWN),
        (b"{}", UNKNOWN),
        (b"[]", UNKNOWN),
        (b'{"format": "plotline-conversation"', "Line 1, column 35: this is no JSON"),
        (b'{"a": NaN}', "NaN is no number"),
        (b'{"a": [-1e999]}', "-1e999 is too large a number"),
        (b'{"a": "\xff"}', "no text in UTF-8: byte 7"),
        (b"[" * 100_000, "100000 levels deep"),
        (b'{"a":' * 65 + b"1" + b"}" * 65, "65 levels deep"),
        (b"[" + b"[]," * 1_100_000 + b"[]]", "values; at most"),
        (b'{"a": ' + b"9" * 5000 + b"}", "cannot be read"),
    ],
)
def test_no_document_is_refused_in_words(data: bytes, sentence: str) -> None:
    assert sentence in refused(data)


def test_brackets_in_texts_are_no_depth() -> None:
    file = changed("messages.0.text", '[{"\\' * 5000)
    import_file(file, owner_id=make_user().pk)
    assert Message.objects.get().text == '[{"\\' * 5000


def test_characters_that_no_database_keeps_are_replaced() -> None:
    file = changed("messages.0.text", "a\0b").replace(b"Hello", b"half \\ud83d")
    import_file(file, owner_id=make_user().pk)
    message = Message.objects.get()
    assert message.text == "a\ufffdb"
    assert message.parts.get().text == "half \ufffd"


def zipped(entries: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", compression) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return written.getvalue()


def test_zip_bomb_is_not_unpacked() -> None:
    words = refused(zipped({"a/conversation.json": b" " * 80_000_000}))
    assert words == "a/conversation.json: “a/conversation.json” unpacks to more than is taken."


def test_archive_of_too_many_entries_is_not_even_listed() -> None:
    assert "more than 20000 entries" in refused(zipped({f"{number}": b"" for number in range(20_001)}))


def test_broken_archives_are_refused() -> None:
    whole = exported_bytes(rich_conversation(), "zip")
    assert "broken" in refused(whole[: len(whole) // 2])
    damaged = bytearray(zipped({"conversation.json": json.dumps(MINIMAL).encode()}))
    damaged[60] ^= 0xFF
    assert "is broken" in refused(bytes(damaged))
    assert "packed in a way" in refused(zipped({"conversation.json": b"{}"}, zipfile.ZIP_LZMA))
    assert refused(zipped({"readme.txt": b"hello"})) == UNKNOWN


@pytest.mark.parametrize("path", ["../secret.txt", "/etc/passwd", "attachments/../../secret.txt", "C:\\boot.ini"])
def test_paths_of_an_archive_lead_nowhere_else(path: str) -> None:
    document = json.loads(with_file(b"x", is_graph=False))
    del document["attachments"][0]["data"]
    document["attachments"][0]["file"] = path
    file = zipped({"a/conversation.json": json.dumps(document).encode(), "secret.txt": b"x"})
    assert refused(file).startswith("a/conversation.json: $.attachments[0].file: there is no such file")


def test_one_bad_conversation_keeps_all_out() -> None:
    good, bad = json.dumps(MINIMAL).encode(), changed("messages.0.role", "system")
    assert refused(zipped({"a/conversation.json": good, "b/conversation.json": bad})).startswith(
        "b/conversation.json: $"
    )


def test_file_for_the_api_does_not_break_the_next_turn() -> None:
    document = exported_json(rich_conversation())
    part = {"index": 0, "kind": "function_call", "fields": {"name": 5, "args": "x"}}
    words = refused(changed("messages.1.parts.0", part, document))
    assert words.startswith("$.messages[1].parts[0].fields.name: there must be a text")
