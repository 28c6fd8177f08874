"""The lease of an export of everything."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Generator

import pytest
from asgiref.sync import sync_to_async

from chat.library.exports import export_lease
from chat.library.exports.download import Download
from chat.library.exports.export_lease import ExportUnderWay, claim_export
from chat.library.exports.response import BLOCK_BYTES, download_response
from chat.models import RunningExport
from tests.factories import make_user


@pytest.mark.django_db(transaction=True)
async def test_lease_of_an_export_is_renewed_while_it_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export_lease, "LEASE_S", 0.9)
    user = await sync_to_async(make_user)()
    claim = await sync_to_async(claim_export)(user.pk)
    before = (await RunningExport.objects.aget()).expires_at
    async with claim.hold():
        async with asyncio.timeout(20):
            while (await RunningExport.objects.aget()).expires_at == before:
                await asyncio.sleep(0.05)
        with pytest.raises(ExportUnderWay):
            await sync_to_async(claim_export)(user.pk)
    assert not await RunningExport.objects.aexists()
    await sync_to_async(claim_export)(user.pk)


@pytest.mark.django_db(transaction=True)
async def test_export_ends_if_another_one_has_taken_its_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export_lease, "LEASE_S", 0.1)
    user = await sync_to_async(make_user)()
    claim = await sync_to_async(claim_export)(user.pk)

    def endless() -> Generator[bytes]:
        while True:
            yield bytes(BLOCK_BYTES)

    blocks = aiter(download_response(Download("all.zip", "application/zip", endless()), "somebody", claim))

    async def read_all() -> None:
        async for _ in blocks:
            await asyncio.sleep(0.01)

    await anext(blocks)
    other = uuid.uuid4()
    await RunningExport.objects.aupdate(claim=other)
    with pytest.raises(ExportUnderWay):
        await asyncio.wait_for(read_all(), 60)
    assert (await RunningExport.objects.aget()).claim == other
