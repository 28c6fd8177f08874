"""Invalid and malicious files are refused with a sentence that names the place, and nothing of them is stored."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib

import pytest
from pytest_django import Settings

from attachments.models import Attachment
from chat.library.imports.importer import EMPTY, UNKNOWN_KIND, import_file
from chat.library.imports.refusal import RefusedImport
from chat.models import Conversation, Message, Turn
from chat.people.quotas.enforcement import count_usage
from chat.people.quotas.resources import QuotaExceeded, Resource
from tests.chat.library.exports.samples import (
    exported_bytes,
    exported_json,
    png,
    rich_conversation,
    session_conversation,
)
from tests.chat.library.imports.documents import MINIMAL, changed, with_file, zipped
from tests.factories import make_user

pytestmark = pytest.mark.django_db


def refusal_of(data: bytes) -> str:
    """Return the sentence with which a file is refused, after checking that nothing of it is stored."""
    before = (Conversation.objects.count(), Message.objects.count(), Attachment.objects.count())
    with pytest.raises(RefusedImport) as caught:
        import_file(data, owner_id=make_user().pk, name="file")
    assert (Conversation.objects.count(), Message.objects.count(), Attachment.objects.count()) == before
    return str(caught.value)


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("version", 2, "$.version: only version 1"),
        ("conversation.title", "x" * 201, "$.conversation.title: the text has 201 characters"),
        ("conversation.title", 5, "$.conversation.title: there must be a text"),
        ("conversation.code_execution", "perhaps", "$.conversation.code_execution: “perhaps” is none of"),
        ("conversation.engine", "cloud", "$.conversation.engine: “cloud” is none of auto, native, session"),
        ("conversation.approval", "never", "$.conversation.approval: “never” is none of auto, ask"),
        (
            "conversation.system_instruction",
            "ü" * 129 * 1024,
            "$.conversation.system_instruction: the instruction has 258 KB, but at most",
        ),
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
        ("messages.0.parts.0.index", 3, "$.messages[0].parts[0].index: parts are numbered from 0"),
        ("messages.0.parts.0.kind", "video", "$.messages[0].parts[0].kind: “video” is none of"),
        (
            "messages.0.parts.0.thought_signature",
            "???",
            "$.messages[0].parts[0].thought_signature: there must be base64",
        ),
        (
            "messages.0.parts.0.attachment_index",
            0,
            "$.messages[0].parts[0].attachment_index: the message has no such attachment",
        ),
        ("messages.0.parts.0.round", -1, "$.messages[0].parts[0].round: there must be a whole number"),
        (
            "messages.0.parts.0.provider_data",
            {"thought_signature": 5},
            "$.messages[0].parts[0].provider_data.thought_signature: the signature must stand beside provider_data",
        ),
        (
            "messages.0.attachments",
            [{"id": "x", "index": 0, "part_index": None}],
            "$.attachments: there is none with id",
        ),
    ],
)
def test_error_contains_the_json_path_of_an_invalid_value(path: str, value: object, sentence: str) -> None:
    assert sentence in refusal_of(changed(path, value))


def test_inconsistent_tree_of_messages_is_refused() -> None:
    document = exported_json(rich_conversation())
    assert "an answer must follow a question" in refusal_of(changed("messages.1.parent", None, document))
    assert "the shown messages are not one path" in refusal_of(changed("messages.2.is_shown", True, document))
    key = document["messages"][0]["id"]
    assert "there is a message with this id" in refusal_of(changed("messages.1.id", key, document))
    assert "$.messages[1].turn.chosen: “evil”" in refusal_of(changed("messages.1.turn.chosen", {"evil": 1}, document))
    assert "$.messages[1].turn.usage: “x”" in refusal_of(changed("messages.1.turn.usage", {"x": 1}, document))
    for number in (-1, 10**400):
        assert "there must be a number from 0" in refusal_of(changed("messages.1.turn.retry_after_s", number, document))


def png_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_bomb(width: int, height: int) -> bytes:
    """Return a PNG of a few bytes and very many pixels."""
    header = png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + png_chunk(b"IDAT", zlib.compress(b"\0" * 100)) + png_chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("data", "fields", "sentence"),
    [
        (png_bomb(30_000, 30_000), {}, "has too many pixels"),
        (png_bomb(30_000, 30_000), {"is_graph": False}, "has too many pixels"),
        (png()[:60], {}, "a PNG image that ends too early"),
        (b"<svg onload=alert(1)>", {}, "is not a PNG, JPEG, GIF or WebP image"),
        (b"MZ\x90\x00\x03\x00\x00\x00", {"is_graph": False, "name": "a.exe"}, "cannot be attached"),
        (b"", {"is_graph": False}, "is empty"),
        (png(), {"sha256": "0" * 64}, "the bytes differ from those that were exported"),
        (png(), {"data": "%%%"}, "there must be base64"),
    ],
)
def test_import_is_refused_if_an_attachment_is_broken_or_of_a_forbidden_type(
    data: bytes, fields: dict[str, object], sentence: str
) -> None:
    refusal = refusal_of(with_file(data, **fields))
    assert sentence in refusal
    assert refusal.startswith("$.attachments[0]")


def test_type_and_size_of_a_file_are_determined_from_its_content() -> None:
    data = png()
    file = with_file(data, name="../../evil\x00.html", mime_type="image/png", width=99_999, height=5, size_bytes=1)
    import_file(file, owner_id=make_user().pk)
    stored = Attachment.objects.get()
    assert (stored.name, stored.mime_type, stored.width, stored.height) == ("evil\ufffd.html", "image/png", 64, 48)
    assert stored.size_bytes == len(data)


def test_imported_files_count_towards_the_upload_limit(settings: Settings) -> None:
    settings.QUOTAS = {**settings.QUOTAS, "upload_mb_per_day": 1}
    owner = make_user()
    count_usage(owner.pk, Resource.UPLOADS, 1024**2 - 1)
    with pytest.raises(QuotaExceeded, match=r"This file has .*, which is too much\. You have uploaded 1 MB today"):
        import_file(with_file(png()), owner_id=owner.pk)
    assert not Attachment.objects.exists()


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", UNKNOWN_KIND),
        (b"hello", UNKNOWN_KIND),
        (b"\x89PNG\r\n\x1a\n", UNKNOWN_KIND),
        (b"{}", UNKNOWN_KIND),
        # An export of DeepSeek.
        (b'[{"mapping": {"1": {"message": {"fragments": [{"type": "REQUEST", "content": "Hi"}]}}}}]', UNKNOWN_KIND),
        (b"[]", EMPTY),
        (b'{"format": "plotline-conversation"', "Line 1, column 35: this is no JSON"),
        (b'{"a": "\xff"}', "not a text in UTF-8: byte 7"),
        (b"[" * 100_000, "100000 levels deep"),
        (b'{"a":' * 129 + b"1" + b"}" * 129, "129 levels deep"),
        (b"[" + b"[]," * 1_100_000 + b"[]]", "values; at most"),
        (b'{"a": ' + b"9" * 5000 + b"}", "cannot be read"),
    ],
)
def test_file_that_is_not_a_valid_export_is_refused_with_the_reason(data: bytes, sentence: str) -> None:
    assert sentence in refusal_of(data)


def test_brackets_in_texts_do_not_count_towards_the_depth_limit_of_json() -> None:
    file = changed("messages.0.text", '[{"\\' * 5000)
    import_file(file, owner_id=make_user().pk)
    assert Message.objects.get().text == '[{"\\' * 5000


def test_characters_that_databases_cannot_store_are_replaced() -> None:
    file = changed("messages.0.text", "a\0b").replace(b"Hello", b"half \\ud83d")
    import_file(file, owner_id=make_user().pk)
    message = Message.objects.get()
    assert message.text == "a\ufffdb"
    assert message.parts.get().text == "half \ufffd"


def test_zip_entry_that_unpacks_to_too_much_is_refused() -> None:
    refusal = refusal_of(zipped({"a/conversation.json": b" " * 80_000_000}))
    assert refusal == "a/conversation.json: “a/conversation.json” is larger than allowed when it is unpacked."


def test_broken_archives_are_refused() -> None:
    whole = exported_bytes(rich_conversation(), "zip")
    assert "broken" in refusal_of(whole[: len(whole) // 2])
    damaged = bytearray(zipped({"conversation.json": json.dumps(MINIMAL).encode()}))
    damaged[60] ^= 0xFF
    assert "is broken" in refusal_of(bytes(damaged))
    assert "packed in a way" in refusal_of(zipped({"conversation.json": b"{}"}, zipfile.ZIP_LZMA))
    assert refusal_of(zipped({"readme.txt": b"hello"})) == UNKNOWN_KIND


@pytest.mark.parametrize("path", ["../secret.txt", "/etc/passwd", "attachments/../../secret.txt", "C:\\boot.ini"])
def test_paths_of_attachments_cannot_leave_the_folder_of_the_document(path: str) -> None:
    document = json.loads(with_file(b"x", is_graph=False))
    del document["attachments"][0]["data"]
    document["attachments"][0]["file"] = path
    file = zipped({"a/conversation.json": json.dumps(document).encode(), "secret.txt": b"x"})
    assert refusal_of(file).startswith("a/conversation.json: $.attachments[0].file: there is no such file")


def test_archive_with_one_invalid_conversation_is_refused_as_a_whole() -> None:
    good, bad = json.dumps(MINIMAL).encode(), changed("messages.0.role", "system")
    assert refusal_of(zipped({"a/conversation.json": good, "b/conversation.json": bad})).startswith(
        "b/conversation.json: $"
    )


@pytest.mark.parametrize(
    ("part", "sentence"),
    [
        ({"kind": "function_response"}, "name: there must be a text"),
        ({"kind": "executable_code", "engine": "native"}, "code: there must be a text"),
    ],
)
def test_error_contains_the_json_path_of_a_missing_field_of_a_part(part: dict[str, object], sentence: str) -> None:
    document = exported_json(rich_conversation())
    refusal = refusal_of(changed("messages.1.parts.0", {"index": 0, "round": 0} | part, document))
    assert refusal.startswith(f"$.messages[1].parts[0].{sentence}")


@pytest.mark.parametrize(
    ("image", "sentence"),
    [
        ({"offset": 99}, "offset: images must be in order and inside the output"),
        ({"offset": "0"}, "offset: there must be a whole number"),
        ({"attachment": 7}, "attachment: the message has no such attachment"),
        ({"header": "javascript:"}, "header: there must be the beginning of a data URI"),
        ({"line_chars": 10}, "line_chars: there must be 0, 64 or 76"),
    ],
)
def test_error_contains_the_json_path_of_an_invalid_printed_image(image: dict[str, object], sentence: str) -> None:
    document = exported_json(rich_conversation())
    valid = {"offset": 0, "header": "data:image/png;base64,", "line_chars": 76, "attachment": 0}
    refusal = refusal_of(changed("messages.1.parts.3.images", [valid | image], document))
    assert refusal.startswith(f"$.messages[1].parts[3].images[0].{sentence}")


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("endpoint", None, "endpoint: there must be a text"),
        ("endpoint", "x" * 51, "endpoint: the text has 51 characters"),
        ("engine", "cloud", "engine: “cloud” is none of"),
        ("moved_before_round", -1, "moved_before_round: there must be a whole number"),
        ("finish", "STOP", "finish: “STOP” is none of stop, length"),
        ("finish_reason", 1, "finish_reason: there must be a text"),
        ("status", "away", "status: “away” is none of"),
        ("sources", {}, "sources: there must be a list"),
        ("sources", [{"title": "x"}], "sources[0].url: there must be a text"),
        ("sources", ["x"], "sources[0]: there must be an object"),
        ("queries", [1], "queries[0]: there must be a text"),
        ("chosen", {"without_tools": "yes"}, "chosen.without_tools: there must be true or false"),
        ("parameters", {"prices": {"input": "much"}}, "parameters.prices.input: there must be an amount"),
        ("rounds", "x", "rounds: there must be a list"),
        ("rounds.1", [], "rounds[1]: there must be an object"),
        ("rounds.1.usage", {"total": -1}, "rounds[1].usage.total: there must be a whole number"),
        ("rounds.1.provider_usage", [], "rounds[1].provider_usage: there must be an object"),
        ("rounds.1.finish", "away", "rounds[1].finish: “away” is none of stop, length"),
        ("rounds.1.finish_reason", 1, "rounds[1].finish_reason: there must be a text"),
        ("rounds.1.finish_message", 1, "rounds[1].finish_message: there must be a text"),
        ("rounds.1.response_id", 1, "rounds[1].response_id: there must be a text"),
        ("rounds.1.model_version", 1, "rounds[1].model_version: there must be a text"),
        ("rounds.1.metadata", "x", "rounds[1].metadata: there must be an object"),
        ("rounds.1.started_calls", [1], "rounds[1].started_calls[0]: there must be a text"),
    ],
)
def test_error_contains_the_json_path_of_an_invalid_field_of_a_turn(path: str, value: object, sentence: str) -> None:
    file = changed(f"messages.1.turn.{path}", value, exported_json(session_conversation()))
    assert refusal_of(file).startswith(f"$.messages[1].turn.{sentence}")


def test_price_that_is_null_is_not_stored() -> None:
    prices = {"input": "1.25", "output": None}
    file = changed("messages.1.turn.parameters", {"prices": prices}, exported_json(session_conversation()))
    result = import_file(file, owner_id=make_user().pk)
    assert Turn.objects.get(conversation=result.created[0]).parameters == {"prices": {"input": "1.25"}}
