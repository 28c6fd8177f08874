"""A download as a response, for every door.

Its bytes are made on the request's own thread, a block at a time, and the next one when the last has been taken over by
the server: neither a slow database nor a slow reader holds up anybody else, nor keeps a connection to the database that
others wait for.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Iterator
from typing import cast

from asgiref.sync import sync_to_async
from django.db import close_old_connections
from django.http import StreamingHttpResponse
from django.utils.http import content_disposition_header

from chat.exports.download import Download, in_blocks

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def download_response(download: Download) -> StreamingHttpResponse:
    """A download that is sent while it is made; whoever leaves ends it."""
    response = StreamingHttpResponse(_sent(download), content_type=download.content_type, headers=HEADERS)
    response.headers["Content-Disposition"] = content_disposition_header(True, download.name) or "attachment"
    return response


async def _sent(download: Download) -> AsyncIterator[bytes]:
    # Sensitive to the thread: within one request it is the request's own, with its connection to the database.
    following = sync_to_async(_next, thread_sensitive=True)
    blocks = in_blocks(download.chunks)
    try:
        while block := await following(blocks):
            yield block
    finally:
        await sync_to_async(_close, thread_sensitive=True)(download)


def _next(blocks: Iterator[bytes]) -> bytes:
    """The next block; nothing at the end."""
    try:
        return next(blocks, b"")
    finally:
        close_old_connections()


def _close(download: Download) -> None:
    cast("Generator[bytes]", download.chunks).close()
