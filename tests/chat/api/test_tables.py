"""How a table was read, and how it is changed, through the API: real files, real kernels."""

from __future__ import annotations

import asyncio
import gzip
import json
import uuid
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from asgiref.sync import sync_to_async
from django.http import HttpResponse
from django.test import AsyncClient
from pytest_django import Settings

from attachments.models import Attachment, AttachmentPreview
from chat.models import User
from chat.python.sessions.places import close_client
from chat.python.table_readings import live_readings, reading_requests
from tests.factories import make_attachment, make_user
from tests.table_files import excel_file

pytestmark = pytest.mark.django_db(transaction=True)

CYRILLIC = "Город;Продажи\nКазань;500\nОмск;509\n".encode("cp1251")


async def log_in(owner: User | None = None) -> AsyncClient:
    """Return a client of a user, by default of a new one."""
    client = AsyncClient()
    await client.aforce_login(owner or await sync_to_async(make_user)(str(uuid.uuid4())))
    return client


async def upload(name: str, data: bytes, **fields: str) -> tuple[AsyncClient, Attachment]:
    """Store a file that is not read yet; return a client of its owner, and the file."""
    owner = await sync_to_async(make_user)(str(uuid.uuid4()))
    attachment = await sync_to_async(lambda: make_attachment(owner, name=name, data=data))()
    if fields:
        await Attachment.objects.filter(pk=attachment.pk).aupdate(**fields)
    return await log_in(owner), attachment


def path_of(attachment: Attachment) -> str:
    return f"/api/v1/attachments/{attachment.pk}/table/"


class Reply(NamedTuple):
    """A response of the API."""

    status_code: int
    content: dict[str, Any]
    retry_after: str | None

    @classmethod
    def of(cls, response: HttpResponse) -> Reply:
        return cls(response.status_code, json.loads(response.content), response.headers.get("Retry-After"))


async def get(client: AsyncClient, attachment: Attachment) -> Reply:
    response: Any = await client.get(path_of(attachment))
    return Reply.of(response)


async def read(client: AsyncClient, attachment: Attachment) -> dict[str, Any]:
    """Return the JSON of a table once it is read."""
    async with asyncio.timeout(60):
        while (response := await get(client, attachment)).status_code == 202:
            assert response.content == {"state": "reading"}
            assert response.retry_after == "1"
            await asyncio.sleep(0.1)
    assert response.status_code == 200, response.content
    return response.content


async def patch(client: AsyncClient, attachment: Attachment, reading: object) -> Reply:
    body = json.dumps({"reading": reading})
    response: Any = await client.patch(path_of(attachment), body, content_type="application/json")
    return Reply.of(response)


async def test_first_call_starts_reading_the_table_and_a_later_call_returns_the_result(table_kernels: Settings) -> None:
    client, attachment = await upload("prodazhi.csv", CYRILLIC)
    assert (await get(client, attachment)).status_code == 202
    table = await read(client, attachment)
    assert (table["state"], table["detail"], table["rows"]) == ("read", "", 2)
    assert [(one["name"], one["type"], one["missing"]) for one in table["columns"]] == [
        ("Город", "text", 0),
        ("Продажи", "number", 0),
    ]
    assert table["reading"]["encoding"] == "Windows-1251"
    assert table["candidates"]["encoding"] == ["KOI8-R", "CP866", "ISO 8859-5"]
    assert table["notes"][0].startswith("The encoding is a guess: Windows-1251.")
    assert await AttachmentPreview.objects.filter(attachment=attachment, choices__isnull=True).acount() == 1


async def test_chosen_encoding_changes_how_the_table_is_read_until_the_choice_is_reset(table_kernels: Settings) -> None:
    client, attachment = await upload("prodazhi.csv", CYRILLIC)
    response = await patch(client, attachment, {"encoding": "koi8_r"})
    assert response.status_code == 200, response.content
    table = response.content
    assert table["columns"][0]["name"] == "Город".encode("cp1251").decode("koi8-r")
    assert table["reading"]["encoding"] == "KOI8-R"
    assert table["notes"][0] == "The file is read as KOI8-R, as you chose. Models and code get the file as UTF-8."
    assert await read(client, attachment) == table
    # A choice for another key does not change this choice. A new version of the reader applies both.
    await patch(client, attachment, {"header_rows": 1})
    await AttachmentPreview.objects.aupdate(version=0)
    assert (await read(client, attachment))["columns"][0]["name"] == table["columns"][0]["name"]
    row = await AttachmentPreview.objects.aget()
    assert (row.choices, row.chosen_at is not None) == ({"encoding": "KOI8-R", "header_rows": 1}, True)
    # Two changes at the same time are both stored.
    await asyncio.gather(patch(client, attachment, {"decimal": ","}), patch(client, attachment, {"date_order": "DMY"}))
    changed = {"encoding": "KOI8-R", "header_rows": 1, "decimal": ",", "date_order": "DMY"}
    assert (await AttachmentPreview.objects.aget()).choices == changed
    # Null takes back one choice, and an empty object all of them.
    assert (await patch(client, attachment, {"encoding": None})).content["columns"][0]["name"] == "Город"
    assert (await patch(client, attachment, {})).status_code == 200
    assert (await AttachmentPreview.objects.aget()).choices == {}


@pytest.mark.parametrize(
    ("reading", "sentence"),
    [
        ([], "The field “reading” must be an object."),
        (
            {"colour": 1},
            "There is no choice “colour”; known are encoding, delimiter, decimal, header_rows, date_order, ",
        ),
        ({"encoding": "rot13"}, "“rot13” is not a known encoding of text; known are UTF-8, UTF-16, Windows-1252 and "),
        ({"encoding": 8}, "This is not a known encoding of text;"),
        ({"delimiter": "::"}, "The choice “delimiter” must be one character, such as “;”, and no quotation mark or "),
        ({"decimal": "'"}, "The choice “decimal” must be one of “.”, “,”"),
        ({"header_rows": 11}, "The choice “header_rows” must be a whole number from 0 to 10."),
        ({"header_rows": True}, "The choice “header_rows” must be a whole number from 0 to 10."),
        ({"date_order": "YDM"}, "The choice “date_order” must be one of “DMY”, “MDY”, “YMD”."),
        (
            {"missing_words": "n/a"},
            "The choice “missing_words” must be a list of at most 20 texts of 1 to 40 characters.",
        ),
        ({"missing_words": ["x"] * 21}, "The choice “missing_words” must be a list of at most 20 texts of 1 to 40"),
        ({"sheet": ""}, "The choice “sheet” must be a text of 1 to 200 characters."),
        ({"path": 1}, "The choice “path” must be a text of 0 to 200 characters."),
    ],
)
async def test_invalid_choice_of_how_to_read_a_table_is_refused_with_a_sentence(
    settings: Settings, reading: object, sentence: str
) -> None:
    client, attachment = await upload("a.csv", b"a,b\n1,2\n")
    response = await patch(client, attachment, reading)
    assert response.status_code == 400
    problem = response.content
    assert problem["detail"].startswith(sentence)
    assert problem["errors"] == {"reading": [problem["detail"]]}
    assert not await AttachmentPreview.objects.aexists()


async def test_choice_that_does_not_fit_the_file_is_refused_and_the_former_choice_stays(
    table_kernels: Settings,
) -> None:
    client, attachment = await upload("prodazhi.csv", CYRILLIC)
    await patch(client, attachment, {"encoding": "KOI8-R"})
    response = await patch(client, attachment, {"sheet": "Nowhere"})
    assert response.status_code == 400
    assert response.content["detail"] == "The choice “sheet” has no meaning for this file (CSV)."
    assert (await AttachmentPreview.objects.aget()).choices == {"encoding": "KOI8-R"}
    assert (await read(client, attachment))["reading"]["encoding"] == "KOI8-R"


async def test_encoding_cannot_be_chosen_for_a_workbook(table_kernels: Settings) -> None:
    client, attachment = await upload("book.xlsx", excel_file({"One": [["a"], [1]]}), mime_type="application/x")
    response = await patch(client, attachment, {"encoding": "UTF-8"})
    assert response.status_code == 400
    assert response.content["detail"] == "This file is not text, so it has no encoding that could be chosen."


async def test_table_of_a_refused_file_has_a_sentence_with_the_reason(table_kernels: Settings) -> None:
    client, attachment = await upload("book.xlsx", b"hello", mime_type="application/x")
    table = await read(client, attachment)
    assert (table["state"], table["columns"]) == ("refused", [])
    assert table["detail"].startswith("This file could not be read as a table: its name ends in .xlsx, but its content")


@pytest.mark.parametrize(
    ("name", "data", "mime_type"),
    [
        ("graph.png", b"\x89PNG", "image/png"),
        ("table.csv", b"\x89PNG", "image/png"),
        ("paper.pdf", b"%PDF-", "application/pdf"),
        ("notes.txt", b"Dear Anna,\nwe are well.\n", "text/plain"),
        ("code.py", b"print(1)\n", "text/plain"),
        ("code.py.gz", gzip.compress(b"a,b\n1,2\n3,4\n", mtime=0), "text/plain"),
    ],
)
async def test_file_that_can_hold_no_table_has_status_404(
    settings: Settings, name: str, data: bytes, mime_type: str
) -> None:
    client, attachment = await upload(name, data, mime_type=mime_type)
    assert (await get(client, attachment)).status_code == 404
    assert (await patch(client, attachment, {"delimiter": ";"})).status_code == 404


async def test_table_of_another_person_is_not_found(table_kernels: Settings) -> None:
    owner, attachment = await upload("a.csv", b"a,b\n1,2\n")
    await read(owner, attachment)
    stranger = await log_in()
    assert (await get(stranger, attachment)).status_code == 404
    assert (await patch(stranger, attachment, {"delimiter": ";"})).status_code == 404
    assert (await AttachmentPreview.objects.aget()).choices is None


async def test_table_request_gets_status_503_if_kernels_are_disabled_or_not_available(
    settings: Settings, tmp_path: Path
) -> None:
    client, attachment = await upload("a.csv", b"a,b\n1,2\n")
    settings.KERNELS_LIMIT = 0
    for response in (await get(client, attachment), await patch(client, attachment, {"delimiter": ";"})):
        assert response.status_code == 503
        assert response.content["detail"] == reading_requests.TURNED_OFF
    # Kernels are enabled, but their service does not run.
    settings.KERNELS_LIMIT = 1
    settings.KERNEL_SERVICE_DIR = tmp_path
    async with asyncio.timeout(60):
        while (response := await get(client, attachment)).status_code == 202:
            await asyncio.sleep(0.1)
    assert (response.status_code, response.content["detail"]) == (503, reading_requests.NOT_NOW)
    assert (await patch(client, attachment, {"delimiter": ";"})).status_code == 503
    await close_client()


async def test_too_many_readings_are_refused(table_kernels: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_readings, "PREVIEWS_PER_MINUTE", 0)
    client, attachment = await upload("a.csv", b"a,b\n1,2\n")
    response = await get(client, attachment)
    assert (response.status_code, response.retry_after) == (429, "60")
