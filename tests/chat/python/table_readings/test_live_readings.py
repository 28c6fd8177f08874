"""A table is read in the background from its upload on, once for all who ask; turns wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import AsyncClient
from pytest_django import Settings

from attachments.models import Attachment, AttachmentPreview
from chat.models import User
from chat.python.kernels.client import JupyterClient, KernelClient
from chat.python.table_readings import live_readings
from chat.python.table_readings.live_readings import (
    TooManyPreviews,
    begin,
    choose,
    end_all,
    is_running,
    join,
    reading_for_turn,
)
from chat.python.table_readings.stored_readings import Chosen, load_choices, store_choices, store_reading
from tests.factories import make_attachment, make_user

pytestmark = pytest.mark.django_db(transaction=True)

CSV = b"day,sales\n2024-01-01,10\n2024-01-02,20\n"


async def make_table(owner: User | None = None, name: str = "sales.csv") -> Attachment:
    return await sync_to_async(lambda: make_attachment(owner or make_user(), name=name, data=CSV))()


@pytest.mark.parametrize("path", ["/attachments/", "/api/v1/attachments/"])
async def test_upload_starts_the_reading_of_a_table(table_kernels: Settings, path: str) -> None:
    client = AsyncClient()
    await client.aforce_login(await sync_to_async(make_user)())
    response: Any = await client.post(path, {"file": SimpleUploadedFile("sales.csv", CSV)})
    assert response.status_code == 201
    attachment = await Attachment.objects.aget()
    assert await is_running(attachment.pk)
    # The next question waits for this reading and gets its result.
    readings = await reading_for_turn([attachment], 60)
    assert readings[attachment.pk].row_count == 2
    assert await AttachmentPreview.objects.filter(attachment=attachment).acount() == 1
    assert not await is_running(attachment.pk)


async def test_upload_starts_no_reading_if_kernels_are_off(settings: Settings) -> None:
    settings.KERNELS_LIMIT = 0
    client = AsyncClient()
    await client.aforce_login(await sync_to_async(make_user)())
    response: Any = await client.post("/attachments/", {"file": SimpleUploadedFile("sales.csv", CSV)})
    assert response.status_code == 201
    attachment = await Attachment.objects.aget()
    assert not await is_running(attachment.pk)
    assert await reading_for_turn([attachment], 60) == {}


async def test_simultaneous_readings_of_a_table_share_one_kernel(
    table_kernels: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    new_kernel, starts = JupyterClient.new_kernel, []

    @asynccontextmanager
    async def count(client: JupyterClient) -> AsyncIterator[KernelClient]:
        starts.append(client)
        async with new_kernel(client) as kernel:
            yield kernel

    monkeypatch.setattr(JupyterClient, "new_kernel", count)
    attachment = await make_table()
    gone = asyncio.create_task(join(attachment))
    others = [asyncio.create_task(join(attachment)) for _ in range(3)]
    await asyncio.sleep(0)
    # A cancelled request does not end the reading for the others.
    gone.cancel()
    readings = await asyncio.gather(*others)
    assert [reading.row_count for reading in readings if reading] == [2, 2, 2]
    assert len(starts) == 1


async def test_turn_goes_on_without_a_reading_that_exceeds_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    may_end = asyncio.Event()

    async def wait(attachment: Attachment, choices: object) -> None:
        await may_end.wait()

    monkeypatch.setattr(live_readings, "read_attachment", wait)
    owner = await sync_to_async(make_user)()
    table, prose = await make_table(owner), await make_table(owner, "notes.md")
    assert await reading_for_turn([table, prose], 0) == {}
    assert (await is_running(table.pk), await is_running(prose.pk)) == (True, False)
    may_end.set()
    await join(table)


async def test_number_of_waiting_readings_is_limited_and_all_are_cancelled_when_the_process_ends(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def wait(attachment: Attachment, choices: object) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    monkeypatch.setattr(live_readings, "read_attachment", wait)
    attachment, other = await make_table(), await make_table()
    # Choices about one file wait for each other before they wait for a kernel.
    waiting = [asyncio.create_task(choose(attachment, {}, 60)) for _ in range(live_readings.WAITING_LIMIT + 1)]
    await begun.wait()
    with pytest.raises(TooManyPreviews):
        await join(attachment.__class__(owner_id=attachment.owner_id))
    await begin(other)
    await end_all()
    assert ended.is_set()
    assert not await is_running(other.pk)
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert {type(one) for one in results} == {asyncio.CancelledError}


async def test_reading_that_began_before_a_choice_does_not_overwrite_the_choice(table_kernels: Settings) -> None:
    attachment = await make_table()
    automatic = await join(attachment)
    assert automatic
    await sync_to_async(store_choices)(attachment.pk, automatic, {"decimal": ","})
    await sync_to_async(store_reading)(attachment.pk, automatic, Chosen({}))
    assert (await sync_to_async(load_choices)(attachment.pk)).choices == {"decimal": ","}
    assert await AttachmentPreview.objects.acount() == 1
