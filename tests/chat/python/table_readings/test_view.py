"""A preview is made once, in a kernel, for the owner of a file alone; without kernels there is none."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connection
from django.http import HttpResponse
from django.test import AsyncClient
from pytest_django import Settings

from attachments.models import Attachment, AttachmentPreview
from chat.python.kernels.client import JupyterClient, KernelClient
from chat.python.kernels.errors import KernelGone
from chat.python.kernels.in_kernel.table_source import Choices
from chat.python.kernels.table_reading import TableReading
from chat.python.sessions.places import close_client
from chat.python.table_readings import kernel_reading, live_readings, reading_requests, stored_readings
from chat.python.table_readings.file_for_kernel import FileForKernel
from tests.factories import make_attachment, make_user

pytestmark = pytest.mark.django_db(transaction=True)

MISSING = '<th scope="col">Missing</th>'
CSV = b"day,<b>sales</b>,city\n2024-01-01,10,Oslo\n2024-01-02,,Rome\n2024-01-03,30,Oslo\n"


async def upload(name: str = "sales.csv", data: bytes = CSV) -> tuple[AsyncClient, Attachment]:
    """Return a client that is logged in as the owner of a file."""
    owner = await sync_to_async(make_user)()
    attachment = await sync_to_async(lambda: make_attachment(owner, name=name, data=data))()
    client = AsyncClient()
    await client.aforce_login(owner)
    return client, attachment


async def preview(client: AsyncClient, attachment: Attachment) -> HttpResponse:
    response: Any = await client.post(f"/attachments/{attachment.pk}/preview/")
    assert isinstance(response, HttpResponse)
    return response


async def test_preview_is_read_once_and_shows_names_of_columns_escaped(
    table_kernels: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, attachment = await upload()
    first = await preview(client, attachment)
    assert first.status_code == 200
    html = first.content.decode()
    assert "3 rows × 3 columns, CSV" in html
    assert "&lt;b&gt;sales&lt;/b&gt;" in html
    assert "<b>" not in html
    assert MISSING in html
    assert "1 (33%)" in html
    assert '<table data-rows="3" data-columns="3">' in html
    assert re.findall('<tr data-name="(.*?)" data-type="(.*?)">', html) == [
        ("day", "date"),
        ("&lt;b&gt;sales&lt;/b&gt;", "number"),
        ("city", "text"),
    ]
    assert 'data-text="Plot &#34;&lt;b&gt;sales&lt;/b&gt;&#34; over &#34;day&#34;"' in html
    assert await AttachmentPreview.objects.filter(attachment=attachment, version=stored_readings.VERSION).acount() == 1
    monkeypatch.setattr(JupyterClient, "new_kernel", None)
    assert (await preview(client, attachment)).content == first.content
    # A description of an older version is not shown.
    await AttachmentPreview.objects.aupdate(version=0)
    with pytest.raises(TypeError):
        await preview(client, attachment)


@pytest.mark.parametrize(
    ("name", "data", "size", "notes"),
    [
        (
            "prodazhi.csv",
            "Город;Продажи;Дата\nКазань;500;01.03.2024\nОмск;509;02.03.2024\n".encode("cp1251"),
            "2 rows × 3 columns, CSV",
            [
                "The encoding is a guess: Windows-1251. It could also be KOI8-R, CP866, ISO 8859-5. "
                "Models and code get the file as UTF-8.",
                "The cells are separated by semicolons.",
            ],
        ),
        (
            "ticks.txt",
            "Город\tBid\n1\t1.1\n2\t1.2\n".encode("utf-16-le"),
            "2 rows × 2 columns, TSV",
            ["The file is encoded as UTF-16. Models and code get the file as UTF-8."],
        ),
        (
            "dos.csv",
            "Город,qty\n".encode() + b"bol\xe4t,40\r\nnut,55\r\n\x1a",
            "2 rows × 2 columns, CSV",
            [
                "At byte 18, the file is not valid UTF-8. What could not be read is shown as �.",
                "The control character at the end (Ctrl-Z) was ignored.",
            ],
        ),
    ],
)
async def test_preview_says_how_the_encoding_and_the_delimiter_were_detected(
    table_kernels: Settings, name: str, data: bytes, size: str, notes: list[str]
) -> None:
    client, attachment = await upload(name, data)
    html = (await preview(client, attachment)).content.decode()
    assert size in html
    assert "<bdi>Город</bdi>" in html
    assert MISSING not in html
    assert re.findall("<li.*?>(.*?)</li>", html)[: len(notes)] == notes


async def test_error_about_a_file_that_is_no_table_is_stored(table_kernels: Settings) -> None:
    client, attachment = await upload("book.xlsx", b"hello")
    html = (await preview(client, attachment)).content.decode()
    assert "This file could not be read as a table: its name ends in .xlsx, but its content" in html
    assert await AttachmentPreview.objects.acount() == 1


async def test_preview_of_another_users_file_returns_404(table_kernels: Settings) -> None:
    _, attachment = await upload()
    stranger, _ = await upload()
    assert (await preview(stranger, attachment)).status_code == 404
    assert await AttachmentPreview.objects.acount() == 0


async def test_preview_is_empty_without_kernels_and_for_files_that_are_not_tables(
    settings: Settings, tmp_path: Path
) -> None:
    settings.KERNEL_SERVICE_DIR = tmp_path
    client, attachment = await upload()
    assert (await preview(client, attachment)).status_code == 204
    settings.KERNELS_LIMIT = 0
    assert (await preview(client, attachment)).status_code == 204
    _, text = await upload("notes.txt")
    await Attachment.objects.filter(pk=text.pk).aupdate(owner=attachment.owner_id)
    assert (await preview(client, text)).status_code == 204
    assert await AttachmentPreview.objects.acount() == 0
    await close_client()


async def test_error_about_a_kernel_that_ended_is_not_stored(
    table_kernels: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def end(self: KernelClient, name: str, choices: Choices, *, limit_s: float) -> None:
        raise KernelGone("It used too much memory.")

    monkeypatch.setattr(KernelClient, "read_table", end)
    client, attachment = await upload()
    assert kernel_reading.TOO_MUCH in (await preview(client, attachment)).content.decode()
    assert await AttachmentPreview.objects.acount() == 0


async def test_number_of_simultaneous_readings_is_limited(
    table_kernels: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[JupyterClient] = []
    may_end = asyncio.Event()

    @asynccontextmanager
    async def wait(client: JupyterClient) -> AsyncIterator[None]:
        begun.append(client)
        await may_end.wait()
        raise KernelGone("It has ended.")
        yield

    monkeypatch.setattr(JupyterClient, "new_kernel", wait)
    monkeypatch.setattr(kernel_reading, "read_bytes_unconnected", lambda attachment: b"")
    files = [Attachment(name="a.csv", owner_id=owner_id) for owner_id in (1, 1, 2, 3)]
    requests = [asyncio.create_task(kernel_reading.read_attachment(file, {})) for file in files]
    while len(begun) < kernel_reading.PREVIEWS_LIMIT:
        await asyncio.sleep(0.01)
    # The requests that wait do not begin, however often the loop turns.
    await asyncio.sleep(0.2)
    assert len(begun) == kernel_reading.PREVIEWS_LIMIT
    may_end.set()
    previews = await asyncio.gather(*requests)
    assert previews == [TableReading(error=kernel_reading.TOO_MUCH, is_lasting=False)] * 4
    assert len(begun) == 4


def test_request_holds_no_database_connection_while_a_kernel_reads_the_table(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    attachment = make_attachment(make_user(), name="sales.csv", data=CSV)
    connections: list[object] = []

    async def describe(attachment: Attachment, choices: Choices) -> None:
        connections.append(await sync_to_async(lambda: connection.connection)())

    monkeypatch.setattr(live_readings, "read_attachment", describe)
    assert reading_requests.find_or_read_table(attachment) is None
    assert connections == [None]


def test_only_txt_files_are_checked_for_prose_and_only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def note_name(attachment: Attachment) -> FileForKernel:
        read.append(attachment.name)
        return FileForKernel(attachment.name, b"prose", None)

    monkeypatch.setattr(reading_requests, "read_file", note_name)
    owner = make_user()
    for name in ("notes.txt", "sales.csv"):
        attachment = make_attachment(owner, name=name, data=CSV)
        for _ in range(2):
            with suppress(reading_requests.NotATable):
                assert reading_requests.find_table(attachment) is None
    assert read == ["notes.txt"]


async def test_too_many_preview_requests_are_refused_with_429(
    table_kernels: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_readings, "PREVIEWS_PER_MINUTE", 0)
    client, attachment = await upload()
    path = f"/attachments/{attachment.pk}/preview/"
    response: Any = await client.post(path, headers={"Accept-Language": "de"})
    assert (response.status_code, response.headers["Retry-After"]) == (429, "60")
    assert response.content.decode().startswith("Zu viele Vorschauen auf einmal. ")


async def choose(client: AsyncClient, attachment: Attachment, **form: str) -> HttpResponse:
    response: Any = await client.post(f"/attachments/{attachment.pk}/reading/", form)
    assert isinstance(response, HttpResponse)
    return response


async def test_person_can_change_how_a_table_is_read_and_return_to_the_automatic_choice(
    table_kernels: Settings,
) -> None:
    client, attachment = await upload("prodazhi.csv", "Город;Продажи\nКазань;500\n".encode("cp1251"))
    first = (await preview(client, attachment)).content.decode()
    options = re.search('name="encoding".*?</select>', first)
    assert options
    assert re.findall(">([^<>]+)</option>", options[0])[:4] == [
        "Windows-1251 (automatic)",
        "KOI8-R",
        "CP866",
        "ISO 8859-5",
    ]
    assert "Back to automatic" not in first
    chosen = await choose(client, attachment, encoding="KOI8-R", delimiter="", missing_words=" n/a, -999 ,")
    html = chosen.content.decode()
    assert chosen.status_code == 200
    assert "<bdi>цНПНД</bdi>" in html
    assert '<option value="KOI8-R" selected>' in html
    assert 'value="n/a, -999"' in html
    # A refusal shows a sentence and the former table.
    refused = await choose(client, attachment, encoding="rot13")
    assert refused.status_code == 400
    html = refused.content.decode()
    assert '<p class="error" role="alert">“rot13” is not a known encoding of text;' in html
    assert "<bdi>цНПНД</bdi>" in html
    assert (await choose(client, attachment, automatic="1")).content.decode().count("<bdi>Город</bdi>") == 1
    stranger, _ = await upload()
    assert (await choose(stranger, attachment, encoding="KOI8-R")).status_code == 404
