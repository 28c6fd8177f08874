"""Sends a download as a streaming response.

The bytes are generated on the request's own thread, one block at a time. The next block is generated when the server
has taken the previous one. So a slow database or a slow client delays no other request, and a slow client keeps no
database connection open.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Hashable, Iterator
from contextlib import aclosing

from asgiref.sync import sync_to_async
from django.http import StreamingHttpResponse
from django.utils import translation

from attachments.content_disposition import content_disposition
from chat.library.exports.download import Download
from chat.library.exports.export_lease import ExportClaim, ExportUnderWay
from chat.models.database_thread import close_connection
from chat.page.render_queue import EXPORTS

BLOCK_BYTES = 64 * 1024

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def download_response(download: Download, reader: Hashable, claim: ExportClaim | None = None) -> StreamingHttpResponse:
    """Return a response that generates the bytes of the download while it sends them.

    The download is closed when all bytes have been sent, or when the client disconnects. `reader`: who downloads it;
    blocks for one reader are generated one after the other (`page.render_queue`). `claim`: the lease of this export,
    which the response holds until then.
    """
    # The language that the middleware has set ends with the request, before the bytes are generated.
    language = translation.get_language() or ""
    blocks = _stream(download, reader, language)
    content = blocks if claim is None else _stream_with_claim(blocks, claim)
    response = StreamingHttpResponse(content, content_type=download.content_type, headers=HEADERS)
    response.headers["Content-Disposition"] = content_disposition(download.name)
    return response


async def _stream_with_claim(blocks: AsyncGenerator[bytes, None], claim: ExportClaim) -> AsyncIterator[bytes]:
    """Yield the blocks of a download. Raises ExportUnderWay if another download has the lease now."""
    async with claim.hold() as renewal, aclosing(blocks):
        async for block in blocks:
            if renewal.done():
                # The error ends the response early, so that the client does not take a part for the whole.
                raise ExportUnderWay
            yield block


async def _stream(download: Download, reader: Hashable, language: str) -> AsyncGenerator[bytes, None]:
    # Within one request, thread-sensitive calls share one thread, and so one connection to the database.
    blocks = _join_into_blocks(download.chunks)
    # Close the connection of the view, because this download may have to wait for others.
    await sync_to_async(close_connection, thread_sensitive=True)()
    try:
        while True:
            async with EXPORTS.place(reader) as place:
                block = await sync_to_async(place.run, thread_sensitive=True)(_next_block, blocks, language)
            if not block:
                return
            yield block
    finally:
        await sync_to_async(download.chunks.close, thread_sensitive=True)()


def _join_into_blocks(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the same bytes in larger pieces, because each piece costs two switches between threads."""
    block: list[bytes] = []
    size_bytes = 0
    for chunk in chunks:
        block.append(chunk)
        size_bytes += len(chunk)
        if size_bytes >= BLOCK_BYTES:
            yield b"".join(block)
            block.clear()
            size_bytes = 0
    if block:
        yield b"".join(block)


def _next_block(blocks: Iterator[bytes], language: str) -> bytes:
    """Return the next block, or empty bytes at the end."""
    try:
        with translation.override(language):
            return next(blocks, b"")
    finally:
        close_connection()
