"""Exports and imports through their doors: who may, headers, streaming, refusals, commands."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import random
import socket
import subprocess
import sys
import time
import uuid
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from asgiref.sync import sync_to_async
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.template.loader import render_to_string
from django.test import AsyncClient, Client

from chat.exports.registry import FORMATS
from chat.models import Conversation
from tests.chat.exports.building import exported_bytes, rich_conversation
from tests.factories import make_conversation, make_model_message, make_user
from tests.live_server import ROOT, LiveServer, Visitor, environment, running_server

MANAGE = ROOT / "manage.py"


async def taken(client: AsyncClient, path: str) -> tuple[Any, bytes]:
    """A response and all of its streamed body."""
    response: Any = await client.get(path)
    body = b"".join([chunk async for chunk in response.streaming_content]) if response.streaming else response.content
    return response, body


@pytest.mark.django_db(transaction=True)
async def test_each_format_is_a_download_that_no_browser_runs() -> None:
    conversation = await _sync(rich_conversation)
    client = AsyncClient()
    await client.aforce_login(await _sync(lambda: conversation.owner))
    for format_name in FORMATS:
        response, body = await taken(client, f"/c/{conversation.pk}/export/{format_name}/")
        assert response.status_code == 200
        assert body
        assert response.headers["Content-Disposition"].startswith('attachment; filename="Sales-by-month')
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
        assert "no-store" in response.headers["Cache-Control"]
    response, body = await taken(client, "/export/")
    assert response.headers["Content-Type"] == "application/zip"
    assert len(zipfile.ZipFile(io.BytesIO(body)).namelist()) == 7


async def _sync(function: Any) -> Any:  # noqa: ANN401 - whatever it returns
    return await sync_to_async(function)()


@pytest.mark.django_db
def test_nobody_exports_what_is_not_theirs() -> None:
    conversation = rich_conversation()
    stranger, staff = Client(), Client()
    stranger.force_login(make_user())
    staff.force_login(make_user(is_staff=True, is_superuser=True))
    for client in (stranger, staff):
        for format_name in FORMATS:
            assert client.get(f"/c/{conversation.pk}/export/{format_name}/").status_code == 404
        assert client.get(f"/c/{uuid.uuid4()}/export/json/").status_code == 404
    for path in (f"/c/{conversation.pk}/export/json/", "/export/", "/import/"):
        answer = Client().get(path)
        assert answer.status_code == 302
        assert answer.headers["Location"].startswith("/accounts/login/")
    owner = Client()
    owner.force_login(conversation.owner)
    assert owner.get(f"/c/{conversation.pk}/export/pdf/").status_code == 404
    assert owner.post(f"/c/{conversation.pk}/export/json/").status_code == 405


@pytest.mark.django_db(transaction=True)
async def test_title_cannot_leave_its_header() -> None:
    title = 'a"\r\nSet-Cookie: x=1; filename=evil.exe \u202e日本'
    conversation = await _sync(lambda: make_model_message(make_conversation(title=title)).conversation)
    client = AsyncClient()
    await client.aforce_login(await _sync(lambda: conversation.owner))
    response, _ = await taken(client, f"/c/{conversation.pk}/export/json/")
    header = response.headers["Content-Disposition"]
    assert header.startswith("attachment; filename*=utf-8''a-Set-Cookie-x-1-filename-evil-exe-")
    assert header.isascii()
    assert "Set-Cookie:" not in header
    assert "Set-Cookie" not in {name for name, _ in response.items()}


@pytest.mark.django_db
def test_import_opens_the_conversation_and_refusals_name_the_place() -> None:
    conversation = rich_conversation()
    client = Client()
    client.force_login(make_user())
    file = exported_bytes(conversation, "json")
    answer = client.post("/import/", {"file": SimpleUploadedFile("a.json", file)})
    copy = Conversation.objects.exclude(pk=conversation.pk).get()
    assert answer.headers["Location"] == f"/c/{copy.pk}/"
    assert client.get(f"/c/{copy.pk}/").status_code == 200
    again = client.post("/import/", {"file": SimpleUploadedFile("a.json", file)})
    assert again.headers["Location"] == f"/c/{copy.pk}/"
    broken = json.loads(file)
    broken["messages"][1]["parts"][0]["kind"] = "<script>"
    answer = client.post("/import/", {"file": SimpleUploadedFile("a.json", json.dumps(broken).encode())})
    assert answer.status_code == 400
    assert b"$.messages[1].parts[0].kind: \xe2\x80\x9c&lt;script&gt;\xe2\x80\x9d is none of" in answer.content
    assert client.post("/import/").status_code == 400
    assert Conversation.objects.count() == 2


@pytest.mark.django_db
def test_import_wants_a_token() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(make_user())
    file = SimpleUploadedFile("a.json", exported_bytes(rich_conversation(), "json"))
    assert client.post("/import/", {"file": file}).status_code == 403
    assert Conversation.objects.count() == 1


@pytest.mark.django_db
def test_menu_offers_every_format() -> None:
    menu = render_to_string("chat/_export_menu.html", {"conversation": make_conversation()})
    places = [menu.find(f">{found.label}<small") for found in FORMATS.values()]
    assert places == sorted(places)
    assert -1 not in places
    assert all(f"/export/{name}/" in menu and found.description in menu for name, found in FORMATS.items())


@pytest.mark.django_db
def test_commands_write_files_and_take_them_in(tmp_path: Path) -> None:
    conversation = rich_conversation()
    name = conversation.owner.get_username()
    make_model_message(make_conversation(title="Another person's"))
    out = io.StringIO()
    call_command("export_conversations", user=name, output=tmp_path / "out", stdout=out)
    assert out.getvalue() == f"Wrote 1 conversation into {tmp_path / 'out'}.\n"
    found = [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()]
    assert found == [f"out/{name}/{conversation.pk.hex[:12]}-Sales-by-month.json"]
    call_command("export_conversations", format="zip", output=tmp_path / "all.zip", stdout=out)
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        assert len({path.partition("/")[0] for path in archive.namelist()}) == 2
    reader = make_user("reader")
    call_command("import_conversations", tmp_path / "all.zip", user="reader", stdout=out)
    call_command("import_conversations", tmp_path / found[0], user="reader", stdout=out)
    assert out.getvalue().endswith("Imported 2; 0 were there already.\nImported 0; 1 were there already.\n")
    assert Conversation.objects.owned_by(reader.pk).count() == 2
    call_command("export_conversations", since="2999-01-01", output=tmp_path / "x", stdout=out)
    assert out.getvalue().endswith(f"Wrote 0 conversations into {tmp_path / 'x'}.\n")


@pytest.mark.django_db
def test_commands_refuse_in_words(tmp_path: Path) -> None:
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
    """The product as `make run` serves it."""
    with running_server() as running:
        yield running


def large_export(megabytes: int) -> bytes:
    """A conversation with so much in files."""
    document = json.loads((Path(__file__).parent / "imports/minimal.json").read_text())
    chance = random.Random(1)
    for number in range(megabytes // 2):
        key = str(uuid.UUID(int=number))
        data = b"#" + base64.b64encode(chance.randbytes(1_500_000))
        about = {"id": key, "name": "a.txt", "mime_type": "text/plain", "is_graph": False, "created_at": "2026-01-01"}
        size = {"size_bytes": len(data), "width": None, "height": None}
        digest = hashlib.sha256(data).hexdigest()
        document["attachments"].append({**about, **size, "sha256": digest, "data": base64.b64encode(data).decode()})
        document["messages"][0]["attachments"].append({"id": key, "index": number, "part_index": None})
    return json.dumps(document).encode()


def test_slow_reader_fills_no_memory_and_stops_nobody(server: LiveServer, tmp_path: Path) -> None:
    visitor = Visitor(server)
    file = tmp_path / "large.json"
    file.write_bytes(large_export(16))
    command = [sys.executable, str(MANAGE), "import_conversations", str(file), "--user", "demo"]
    subprocess.run(command, cwd=ROOT, env=environment(server.var_dir), check=True, capture_output=True)
    ((conversation_id,),) = server.rows("select id from chat_conversation where title = 'Minimal'")
    path = f"/c/{uuid.UUID(conversation_id)}/export/json/"
    assert server.process
    process = psutil.Process(server.process.pid)
    visitor.http.get(f"{server.url}/import/", timeout=10)
    before = process.memory_info().rss
    cookies = "; ".join(f"{name}={value}" for name, value in visitor.http.cookies.items())
    with socket.create_connection(("127.0.0.1", server.port)) as reader:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookies}\r\n\r\n".encode())
        assert reader.recv(4096).startswith(b"HTTP/1.1 200")
        most = 0
        for _ in range(10):
            started_at = time.perf_counter()
            assert visitor.http.get(f"{server.url}/healthz", timeout=5).status_code == 200
            assert time.perf_counter() - started_at < 1
            most = max(most, process.memory_info().rss - before)
            time.sleep(0.1)
    assert most < 10 * 1024 * 1024
    # Read to its end, it is whole.
    whole = visitor.http.get(f"{server.url}{path}", timeout=60)
    assert len(json.loads(whole.content)["attachments"]) == 8
    assert process.memory_info().rss - before < 20 * 1024 * 1024


def test_download_that_cannot_go_on_is_cut_off(server: LiveServer, tmp_path: Path) -> None:
    visitor = Visitor(server)
    document = json.loads((Path(__file__).parent / "imports/minimal.json").read_text())
    (question,) = document["messages"]
    document["conversation"]["title"] = "Gone soon"
    document["messages"] = [
        question | {"id": str(number), "parent": str(number - 1) if number else None, "text": "word " * 10_000}
        for number in range(300)
    ]
    file = tmp_path / "long.json"
    file.write_text(json.dumps(document))
    command = [sys.executable, str(MANAGE), "import_conversations", str(file), "--user", "demo"]
    subprocess.run(command, cwd=ROOT, env=environment(server.var_dir), check=True, capture_output=True)
    ((found,),) = server.rows("select id from chat_conversation where title = 'Gone soon'")
    conversation_id = uuid.UUID(found)
    cookies = "; ".join(f"{name}={value}" for name, value in visitor.http.cookies.items())
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as reader:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        path = f"/c/{conversation_id}/export/json/"
        reader.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookies}\r\n\r\n".encode())
        answer = reader.recv(4096)
        assert answer.startswith(b"HTTP/1.1 200")
        visitor.post(f"/c/{conversation_id}/delete/")
        with suppress(ConnectionResetError):
            while piece := reader.recv(1 << 20):
                answer = answer[-10:] + piece
    assert not answer.endswith(b"0\r\n\r\n")
    assert "HTTP response has already been started" not in server.log()
