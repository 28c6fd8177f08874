"""Where kernels run is chosen by settings, and replies of the service are read strictly."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from chat.python.kernels.errors import KernelsUnavailable
from chat.python.kernels.places import Address, LocalService, RemotePlace, choose_place


async def test_remote_jupyter_server_is_used_if_a_url_is_set() -> None:
    place = choose_place("http://kernels:8888/", "token", Path("/nowhere"))
    assert isinstance(place, RemotePlace)
    assert await place.address() == Address("http://kernels:8888", "token")


def test_kernel_service_of_this_machine_is_used_if_no_url_is_set(tmp_path: Path) -> None:
    place = choose_place("", "", tmp_path)
    assert isinstance(place, LocalService)


@pytest.mark.parametrize("reply", [b"", b"no JSON\n", b"[]\n", b"{}\n"])
async def test_invalid_or_missing_reply_of_the_service_raises_kernels_unavailable(reply: bytes, tmp_path: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(reply)
        writer.close()

    async with await asyncio.start_unix_server(answer, tmp_path / "control.sock"):
        with pytest.raises(KernelsUnavailable):
            await LocalService(tmp_path).address()
        with pytest.raises(KernelsUnavailable):
            await LocalService(tmp_path / "missing").address()
