"""Archives in three layouts with many conversations and files, and clients that upload them in pieces."""

from __future__ import annotations

import json
import random
import zipfile
from base64 import b64encode
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO

from django.http import HttpResponse
from django.test import Client

from tests.chat.library.imports.test_chatgpt import conversation_of, node

TUS = {"Tus-Resumable": "1.0.0"}
PIECE = "application/offset+octet-stream"


def conversation(number: int, *, files: int = 1, turns: int = 2) -> dict[str, Any]:
    """Return a conversation of ChatGPT's export. Each of its questions but the first follows an answer."""
    began_at_s = 1_700_000_000 + number * 100
    names = [f"file-{number}x{one}" for one in range(files)]
    nodes: list[dict[str, Any]] = []
    for turn in range(turns):
        for role in ("user", "assistant"):
            parent = nodes[-1]["id"] if nodes else None
            attached = [] if nodes else [{"id": name, "name": f"{name}.bin"} for name in names]
            text = f"{role} {turn} of conversation {number}."
            fields = {"time": began_at_s + len(nodes), "metadata": {"attachments": attached}}
            nodes.append(node(f"{role}-{turn}", parent, role, text, **fields))
    titles = {"title": f"Conversation {number}", "conversation_id": f"conversation-{number}"}
    return conversation_of(*nodes, current=nodes[-1]["id"], create_time=began_at_s, **titles)


def write_archive(
    file: Path | BinaryIO, conversations: list[dict[str, Any]], *, file_bytes: int = 1000, seed: int = 1
) -> None:
    """Write an archive of these conversations, with the files that they name. The files cannot be compressed."""
    source = random.Random(seed)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps(conversations))
        for one in conversations:
            for value in one.get("mapping", {}).values():
                for attached in value["message"]["metadata"]["attachments"]:
                    archive.writestr(f"{attached['id']}.dat", source.randbytes(file_bytes), zipfile.ZIP_STORED)


def write_claude_archive(path: Path, count: int, *, file_bytes: int) -> None:
    """Write an archive in Claude's layout with `count` conversations of two questions and one file."""
    conversations = []
    for number in range(count):
        created_at = datetime(2025, 1, 1, tzinfo=UTC) + timedelta(minutes=10 * number)
        messages = [
            {
                "uuid": f"{number}-{turn}-{sender}",
                "sender": sender,
                "created_at": (created_at + timedelta(seconds=turn)).isoformat(),
                "content": [{"type": "text", "text": f"{sender} {turn} of conversation {number}."}],
                "files": [{"file_name": f"upload-{number}.bin"}] if not turn and sender == "human" else [],
            }
            for turn in range(2)
            for sender in ("human", "assistant")
        ]
        fields = {"uuid": f"c-{number}", "name": f"Conversation {number}", "created_at": created_at.isoformat()}
        conversations.append({**fields, "chat_messages": messages})
    document = {"conversations.json": json.dumps(conversations)}
    _write(path, document, [f"files/upload-{number}.bin" for number in range(count)], file_bytes)


def write_takeout_archive(path: Path, count: int, *, file_bytes: int) -> None:
    """Write an archive in Takeout's layout with `count` conversations of two questions and one file."""
    names = [f"upload{number}-{number:016x}.bin" for number in range(count)]
    cells = []
    for number, name in enumerate(names):
        link = f"https://gemini.google.com/app/{number:012x}"
        for turn in (1, 0):
            time = (datetime(2025, 1, 1) + timedelta(minutes=10 * number + turn)).strftime("%b %d, %Y, %I:%M:%S %p UTC")
            file = f'<br>Attached 1 file.<br>-\xa0<a href="{name}">upload{number}.bin</a>' if not turn else ""
            cells.append(
                '<div class="outer-cell mdl-cell"><div class="header-cell"><p>Gemini Apps</p></div>'
                f'<div class="content-cell">Prompted\xa0user {turn} of conversation {number}.{file}<br>{time}<br>'
                f"<p>assistant {turn} of conversation {number}.</p></div>"
                f'<div class="content-cell"><b>Details:</b><a href="{link}">{link}</a></div></div>'
            )
    folder = "Takeout/My Activity/Gemini Apps"
    document = {f"{folder}/MyActivity.html": f"<html><body>{''.join(reversed(cells))}</body></html>"}
    _write(path, document, [f"{folder}/{name}" for name in names], file_bytes)


def _write(path: Path, document: dict[str, str], names: Iterable[str], file_bytes: int) -> None:
    source = random.Random(1)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in document.items():
            archive.writestr(name, text)
        for name in names:
            archive.writestr(name, source.randbytes(file_bytes), zipfile.ZIP_STORED)


def creation_headers(size_bytes: int, name: str, fingerprint: str = "") -> dict[str, str]:
    """Return the headers of a request that begins an upload."""
    values = {"filename": name, "fingerprint": fingerprint}
    metadata = ",".join(f"{key} {b64encode(value.encode()).decode()}" for key, value in values.items() if value)
    return {**TUS, "Upload-Length": str(size_bytes), "Upload-Metadata": metadata, "Accept": "application/json"}


def begin(client: Client, size_bytes: int, name: str = "export.zip", fingerprint: str = "") -> HttpResponse:
    """Begin an upload, and return the response."""
    response: Any = client.post("/import/uploads/", headers=creation_headers(size_bytes, name, fingerprint))
    assert isinstance(response, HttpResponse)
    return response


def send_piece(client: Client, url: str, offset: int, data: bytes) -> HttpResponse:
    """Send a piece, and return the response."""
    headers = {**TUS, "Upload-Offset": str(offset), "Accept": "application/json"}
    response: Any = client.patch(url, data, content_type=PIECE, headers=headers)
    assert isinstance(response, HttpResponse)
    return response
