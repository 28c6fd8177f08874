"""A large file gives the same conversations as the same file that is read at once, in the layouts of all products."""

from __future__ import annotations

import io
import json

import pytest

from chat.library.imports.importer import parse_file
from chat.library.imports.large_files import read_conversations
from tests.chat.library.imports import test_claude
from tests.chat.library.imports.documents import zipped
from tests.chat.library.imports.test_takeout import cell, entry, page

FOLDER = "Takeout/My Activity/Gemini Apps/MyActivity"
JSON = json.dumps(
    [
        entry("Prompted And now?", "10:05:00", "<p>Later</p>"),
        entry("Prompted What is it?", "10:00:00", "<p>A lamp</p>"),
    ]
).encode()
HTML = page(cell("Prompted And now?", "Jan 5, 2026, 10:05:00 AM UTC", "<p>Later</p>"))
CLAUDE = json.dumps(
    [
        test_claude.conversation_of(test_claude.message("a", "human", test_claude.text("One?")), uuid="c-1"),
        test_claude.conversation_of(test_claude.message("a", "human", test_claude.text("Two?")), uuid="c-2"),
    ]
).encode()
FILES = {
    "MyActivity.json": JSON,
    "MyActivity.html": HTML,
    "takeout.zip": zipped({f"{FOLDER}.json": JSON, "Takeout/My Activity/Gemini Apps/notes-1.json": b"[1]"}),
    "takeout-html.zip": zipped({f"{FOLDER}.html": HTML}),
    "conversations.json": CLAUDE,
    "utf-16.json": CLAUDE.decode().encode("utf-16"),
    "utf-16.html": HTML.decode().encode("utf-16"),
    "utf-16.zip": zipped({"conversations.json": CLAUDE.decode().encode("utf-16")}),
    "claude.zip": zipped({"conversations.json": CLAUDE, "users.json": b"[]"}),
}


@pytest.mark.parametrize("name", FILES)
def test_large_file_read_in_pieces_gives_the_same_conversations_as_when_read_at_once(name: str) -> None:
    entries = list(read_conversations(io.BytesIO(FILES[name]), name))
    assert [one.refusal for one in entries if one.conversation is None] == []
    expected = list(parse_file(FILES[name], name))
    assert expected
    read = [one.conversation for one in entries if one.conversation]
    assert [(one.source_id, one.content_digest, one.title) for one in read] == [
        (one.source_id, one.content_digest, one.title) for one in expected
    ]
