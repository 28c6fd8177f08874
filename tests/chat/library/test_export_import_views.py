"""Exports and imports by views and commands: headers, streaming and refusals."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import random
import re
import socket
import subprocess
import sys
import uuid
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from asgiref.sync import sync_to_async
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.template.loader import render_to_string
from django.test import AsyncClient, Client
from django.utils import timezone

from chat.library.conversation_list import LIST_PAGE_SIZE
from chat.library.exports import source
from chat.library.exports.registry import FORMATS, export_all
from chat.messages.records import MessageRecord, records_in_order
from chat.models import Conversation
from tests.chat.library.exports.samples import exported_bytes, rich_conversation
from tests.factories import make_conversation, make_model_message, make_user
from tests.live_server import ROOT, LiveServer, Visitor, environment, running_server
from tests.parsed_html import ParsedHtml

MANAGE = ROOT / "manage.py"
MINIMAL = Path(__file__).parent / "imports/minimal.json"
IDLE_LIMIT_BYTES = 14 * 1024 * 1024
"""Maximum memory of the server for a download that the client does not read. PostgreSQL sends 2 MB of a file as 4 MB.
"""
DOWNLOAD_LIMIT_BYTES = 28 * 1024 * 1024
"""Maximum memory of the server for a download of 32 MB, which has 43 MB in base64."""


async def download(client: AsyncClient, path: str) -> tuple[Any, bytes]:
    """Return a response and all of its body."""
    response: Any = await client.get(path)
    body = b"".join([chunk async for chunk in response.streaming_content]) if response.streaming else response.content
    return response, body


@pytest.mark.django_db(transaction=True)
async def test_every_format_is_sent_as_a_download_that_the_browser_does_not_display() -> None:
    conversation = await sync_to_async(rich_conversation)()
    client = AsyncClient()
    await client.aforce_login(await sync_to_async(lambda: conversation.owner)())
    for format_name in FORMATS:
        response, body = await download(client, f"/c/{conversation.pk}/export/{format_name}/")
        assert response.status_code == 200
        assert body
        assert response.headers["Content-Disposition"].startswith('attachment; filename="Sales-by-month')
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
        assert "no-store" in response.headers["Cache-Control"]
    response, body = await download(client, "/export/")
    assert response.headers["Content-Type"] == "application/zip"
    assert len(zipfile.ZipFile(io.BytesIO(body)).namelist()) == 7


@pytest.mark.django_db
def test_export_in_an_unknown_format_is_not_found() -> None:
    conversation = make_conversation()
    owner = Client()
    owner.force_login(conversation.owner)
    assert owner.get(f"/c/{conversation.pk}/export/odt/").status_code == 404


@pytest.mark.django_db(transaction=True)
async def test_title_of_a_conversation_cannot_add_a_response_header() -> None:
    title = 'a"\r\nSet-Cookie: x=1; filename=evil.exe \u202e日本'
    conversation = await sync_to_async(lambda: make_model_message(make_conversation(title=title)).conversation)()
    client = AsyncClient()
    await client.aforce_login(await sync_to_async(lambda: conversation.owner)())
    response, _ = await download(client, f"/c/{conversation.pk}/export/json/")
    header = response.headers["Content-Disposition"]
    assert header.startswith("attachment; filename*=utf-8''a-Set-Cookie-x-1-filename-evil-exe-")
    assert header.isascii()
    assert "Set-Cookie:" not in header
    assert "Set-Cookie" not in {name for name, _ in response.items()}


@pytest.mark.django_db
def test_import_redirects_to_the_conversation_and_an_error_contains_the_path_of_the_value() -> None:
    conversation = rich_conversation()
    client = Client()
    client.force_login(make_user())
    file = exported_bytes(conversation, "json")
    response = client.post("/import/", {"file": SimpleUploadedFile("a.json", file)})
    copy = Conversation.objects.exclude(pk=conversation.pk).get()
    assert response.headers["Location"] == f"/c/{copy.pk}/"
    assert client.get(f"/c/{copy.pk}/").status_code == 200
    again = client.post("/import/", {"file": SimpleUploadedFile("a.json", file)})
    assert again.headers["Location"] == f"/c/{copy.pk}/"
    broken = json.loads(file)
    broken["messages"][1]["parts"][0]["kind"] = "<script>"
    response = client.post("/import/", {"file": SimpleUploadedFile("a.json", json.dumps(broken).encode())})
    assert response.status_code == 400
    assert b"$.messages[1].parts[0].kind: \xe2\x80\x9c&lt;script&gt;\xe2\x80\x9d is none of" in response.content
    assert client.post("/import/").status_code == 400
    script = Client(headers={"Accept": "application/json"})
    script.cookies = client.cookies
    again = script.post("/import/", {"file": SimpleUploadedFile("a.json", file)})
    assert again.json() == {"url": f"/c/{copy.pk}/"}
    refused = script.post("/import/")
    assert (refused.status_code, refused.json()) == (400, {"detail": "Choose a file first."})
    assert Conversation.objects.count() == 2


@pytest.mark.django_db
def test_import_of_several_conversations_redirects_to_a_list_of_them() -> None:
    owner, source = make_user(), make_user()
    for number in range(LIST_PAGE_SIZE + 2):
        make_model_message(make_conversation(source, title=f"Number {number}"))
    make_model_message(make_conversation(owner, title="Not imported"))
    client = Client()
    client.force_login(owner)
    data = b"".join(export_all(source.conversations.all(), exported_at=timezone.now()).chunks)
    response = client.post("/import/", {"file": SimpleUploadedFile("a.zip", data)}, follow=True)
    page = response.content.decode()
    assert "42 conversations imported." in page
    [more] = ParsedHtml(page).only("li", class_="more").find_all("a")
    page += client.get(more["href"]).content.decode()
    imported = owner.conversations.filter(imported__isnull=False)
    assert imported.count() == LIST_PAGE_SIZE + 2
    assert all(f'href="/c/{conversation.pk}/"' in page for conversation in imported)
    assert "Not imported" not in page
    # If nothing is new, there is no list.
    response = client.post("/import/", {"file": SimpleUploadedFile("a.zip", data)}, follow=True)
    assert "0 conversations imported. 42 were here already." in response.content.decode()
    assert response.request["PATH_INFO"] == "/import/"
    # Numbers of another person's imports show nothing.
    other = Client()
    other.force_login(source)
    assert "Number" not in other.get("/conversations/", {"imported": "1"}).content.decode()


@pytest.mark.django_db
def test_export_menu_offers_every_format() -> None:
    menu = render_to_string("chat/_export_menu.html", {"conversation": make_conversation()})
    links = re.findall(r'<a href="/c/[^"]*/export/(\w+)/" download>([^<]*)<small class="muted">([^<]*)</small>', menu)
    assert links == [(one.name, one.label, one.description) for one in FORMATS.values()]


@pytest.mark.django_db
def test_export_command_writes_files_and_import_command_reads_them(tmp_path: Path) -> None:
    conversation = rich_conversation()
    name = conversation.owner.get_username()
    make_model_message(make_conversation(title="Another person's"))
    out = io.StringIO()
    call_command("export_conversations", user=name, output=tmp_path / "out", stdout=out)
    assert out.getvalue() == f"Wrote 1 conversation into {tmp_path / 'out'}.\n"
    files = [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()]
    assert files == [f"out/{name}/{conversation.pk.hex[:12]}-Sales-by-month.json"]
    call_command("export_conversations", format="zip", output=tmp_path / "all.zip", stdout=out)
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        assert len({path.partition("/")[0] for path in archive.namelist()}) == 2
    reader = make_user("reader")
    call_command("import_conversations", tmp_path / "all.zip", user="reader", stdout=out)
    call_command("import_conversations", tmp_path / files[0], user="reader", stdout=out)
    assert out.getvalue().endswith("Imported 2; 0 were there already.\nImported 0; 1 were there already.\n")
    assert Conversation.objects.owned_by(reader.pk).count() == 2
    call_command("export_conversations", since="2999-01-01", output=tmp_path / "x", stdout=out)
    assert out.getvalue().endswith(f"Wrote 0 conversations into {tmp_path / 'x'}.\n")


@pytest.mark.django_db
def test_command_leaves_out_a_conversation_that_is_deleted_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deleted, kept = sorted((make_conversation(), make_conversation()), key=lambda one: one.pk)
    for conversation in (deleted, kept):
        make_model_message(conversation)

    def read(ids: list[uuid.UUID]) -> Iterator[MessageRecord]:
        Conversation.objects.filter(pk=deleted.pk).delete()
        return records_in_order(ids)

    monkeypatch.setattr(source, "records_in_order", read)
    out = io.StringIO()
    call_command("export_conversations", output=tmp_path, stdout=out)
    assert out.getvalue() == f"Wrote 1 conversation into {tmp_path}.\n"
    files = [path.name for path in tmp_path.rglob("*") if path.is_file()]
    assert [name.partition("-")[0] for name in files] == [kept.pk.hex[:12]]


@pytest.mark.django_db
def test_commands_fail_with_an_error_message_for_invalid_arguments(tmp_path: Path) -> None:
    make_user("reader")
    (tmp_path / "a.json").write_text("{]")
    with pytest.raises(CommandError, match=r"Line 1, column 2: this is no JSON"):
        call_command("import_conversations", tmp_path / "a.json", user="reader")
    with pytest.raises(CommandError, match="There is no user “nobody”"):
        call_command("import_conversations", tmp_path / "a.json", user="nobody")
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("import_conversations", tmp_path / "b.json", user="reader")
    with pytest.raises(CommandError, match="“yesterday” is no time"):
        call_command("export_conversations", since="yesterday", output=tmp_path)


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    """Return a running server."""
    with running_server() as running:
        yield running


def large_export(megabytes: int) -> bytes:
    """Return an export of one message with files of this size."""
    document = json.loads(MINIMAL.read_text())
    random_source = random.Random(1)
    for number in range(megabytes // 2):
        key = str(uuid.UUID(int=number))
        data = b"#" + base64.b64encode(random_source.randbytes(1_500_000))
        attachment = {
            "id": key,
            "name": "a.txt",
            "mime_type": "text/plain",
            "is_graph": False,
            "size_bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
            "width": None,
            "height": None,
            "created_at": "2026-01-01",
            "data": base64.b64encode(data).decode(),
        }
        document["attachments"].append(attachment)
        document["messages"][0]["attachments"].append({"id": key, "index": number, "part_index": None})
    return json.dumps(document).encode()


def long_export(title: str) -> bytes:
    """Return an export of 150 long messages, which have 7.5 MB."""
    document = json.loads(MINIMAL.read_text())
    (question,) = document["messages"]
    document["conversation"]["title"] = title
    document["messages"] = [
        question | {"id": str(number), "parent": str(number - 1) if number else None, "text": "word " * 10_000}
        for number in range(150)
    ]
    return json.dumps(document).encode()


def import_on_server(server: LiveServer, file: Path, data: bytes, title: str) -> uuid.UUID:
    """Import data for the user demo by the command, and return the id of the conversation with this title."""
    file.write_bytes(data)
    command = [sys.executable, str(MANAGE), "import_conversations", str(file), "--user", "demo"]
    subprocess.run(command, cwd=ROOT, env=environment(server.var_dir), check=True, capture_output=True)
    ((conversation_id,),) = server.rows("select id from chat_conversation where title = ?", title)
    return uuid.UUID(conversation_id)


@contextmanager
def unread_download(
    server: LiveServer, visitor: Visitor, path: str, *, buffer_bytes: int = 4096
) -> Iterator[socket.socket]:
    """Request a download, and yield its connection, of whose response nothing is read yet.

    `buffer_bytes`: what the system may receive. Through the smallest buffer, 0.5 MB take 10 s.
    """
    cookies = "; ".join(f"{name}={value}" for name, value in visitor.http.cookies.items())
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer_bytes)
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookies}\r\n\r\n".encode())
        yield connection


@pytest.mark.drill
def test_slow_client_fills_no_memory_and_delays_no_other_request(server: LiveServer, tmp_path: Path) -> None:
    visitor = Visitor(server)
    conversation_id = import_on_server(server, tmp_path / "large.json", large_export(32), "Minimal")
    path = f"/c/{conversation_id}/export/json/"
    assert server.process
    process = psutil.Process(server.process.pid)
    # The first export loads modules and opens connections.
    visitor.http.get(f"{server.url}/c/{visitor.new_conversation()}/export/json/", timeout=60)
    before_bytes = process.memory_info().rss
    with unread_download(server, visitor, path) as connection:
        assert connection.recv(4096).startswith(b"HTTP/1.1 200")
        # While the server answers these requests, it could make the whole download.
        for _ in range(200):
            assert visitor.http.get(f"{server.url}/healthz", timeout=60).status_code == 200
            assert process.memory_info().rss - before_bytes < IDLE_LIMIT_BYTES
    response = visitor.http.get(f"{server.url}{path}", timeout=60)
    assert len(json.loads(response.content)["attachments"]) == 16
    assert process.memory_info().rss - before_bytes < DOWNLOAD_LIMIT_BYTES


@pytest.mark.drill
def test_download_is_cut_off_if_its_conversation_is_deleted_meanwhile(server: LiveServer, tmp_path: Path) -> None:
    visitor = Visitor(server)
    conversation_id = import_on_server(server, tmp_path / "long.json", long_export("Deleted soon"), "Deleted soon")
    path = f"/c/{conversation_id}/export/json/"
    with unread_download(server, visitor, path, buffer_bytes=1 << 15) as connection:
        response = connection.recv(4096)
        assert response.startswith(b"HTTP/1.1 200")
        visitor.delete_conversation(str(conversation_id))
        with suppress(ConnectionResetError):
            while piece := connection.recv(1 << 20):
                response = response[-10:] + piece
    # A complete response in chunks ends with an empty chunk.
    assert not response.endswith(b"0\r\n\r\n")
    assert "HTTP response has already been started" not in server.log()
