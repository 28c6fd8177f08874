"""Harm below the events: HTTP that is broken, endless, slow or compressed."""

from __future__ import annotations

import asyncio
import gzip

from tests.harmful_server.connection import CANARY, DONE, Request, harm, text

MIB = 1024 * 1024
SECOND = 1.0


@harm
async def slow_drip(request: Request) -> None:
    """One byte of an event in each second."""
    await request.head()
    for byte in text("a" * 10_000):
        await request.write(bytes([byte]))
        await asyncio.sleep(SECOND)


@harm
async def slow_headers(request: Request) -> None:
    """One byte of the headers in each second."""
    for byte in b"HTTP/1.1 200 OK\r\nX-A: " + b"a" * 10_000:
        await request.write(bytes([byte]))
        await asyncio.sleep(SECOND)


@harm
async def headers_without_end(request: Request) -> None:
    """Headers without end."""
    await request.write(b"HTTP/1.1 200 OK\r\n")
    await request.forever(b"X-A: a\r\n" * 1_000)


@harm
async def header_of_no_end(request: Request) -> None:
    """One header that has no end."""
    await request.write(b"HTTP/1.1 200 OK\r\nX-A: ")
    await request.forever(b"a" * 65_536)


@harm
async def status_line_without_end(request: Request) -> None:
    """A status line that has no end."""
    await request.forever(b"HTTP/1.1 200 " + b"a" * 65_536)


@harm
async def cookies_of_one_megabyte(request: Request) -> None:
    """Cookies of 1 MB in many headers."""
    await request.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n")
    for number in range(1_000):
        await request.write(b"Set-Cookie: c%d=" % number + b"a" * 1_000 + b"; Path=/\r\n")
    await request.write(b"\r\n" + text("a") + DONE)


@harm
async def informational_without_end(request: Request) -> None:
    """Responses 103 without end, and no other."""
    await request.forever(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 1_000)


@harm
async def redirect_loop(request: Request) -> None:
    """A redirect to the same address."""
    await request.head("text/plain", 307, {"Location": request.path, "Content-Length": "0"})


@harm
async def redirect_inside(request: Request) -> None:
    """A redirect to another address of this machine, which must not be asked."""
    host = request.writer.get_extra_info("sockname")
    await request.head("text/plain", 302, {"Location": f"http://{host[0]}:{host[1]}/inside", "Content-Length": "0"})


@harm
async def length_too_long(request: Request) -> None:
    """A body that is shorter than its Content-Length."""
    await request.head(headers={"Content-Length": "1000000"})
    await request.write(text("a") + DONE)


@harm
async def length_too_short(request: Request) -> None:
    """A body that is longer than its Content-Length."""
    await request.head(headers={"Content-Length": "30"})
    await request.write(text("abc") + DONE)


@harm
async def two_lengths(request: Request) -> None:
    """Two headers Content-Length, and a chunked body."""
    await request.write(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 5\r\nContent-Length: 6\r\n"
    )
    await request.write(b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")


@harm
async def broken_chunks(request: Request) -> None:
    """A chunk whose size is no number."""
    await request.head(headers={"Transfer-Encoding": "chunked"})
    await request.write(b"6\r\ndata: \r\nxyz\r\n" + text("a") + DONE)


@harm
async def chunk_size_without_end(request: Request) -> None:
    """The size of a chunk, without end."""
    await request.head(headers={"Transfer-Encoding": "chunked"})
    await request.forever(b"0" * 65_536)


@harm
async def chunks_of_one_byte(request: Request) -> None:
    """HTTP chunks of one byte each, without end."""
    await request.head(headers={"Transfer-Encoding": "chunked"})
    stream = text("abc ")
    await request.forever(b"".join(b"1\r\n%b\r\n" % bytes([byte]) for byte in stream) * 100)


@harm
async def trailers_without_end(request: Request) -> None:
    """Trailers without end after a good answer."""
    await request.head(headers={"Transfer-Encoding": "chunked"})
    body = text("abc") + DONE
    await request.write(b"%x\r\n%b\r\n0\r\n" % (len(body), body))
    await request.forever(b"X-A: a\r\n" * 1_000)


@harm
async def compressed_bomb(request: Request) -> None:
    """100 MB in a few hundred bytes, compressed twice."""
    await request.head(headers={"Content-Encoding": "gzip, gzip"})
    await request.write(gzip.compress(gzip.compress(b"\n" * (100 * MIB))))


@harm
async def never_answers(request: Request) -> None:
    """Nothing, while the connection stays open."""
    await asyncio.Event().wait()


@harm
async def reset_within_an_event(request: Request) -> None:
    """A connection that is reset in the middle of an event."""
    await request.head()
    await request.write(text("The first words. ") + text("b")[:15])
    await asyncio.sleep(SECOND / 2)
    request.reset()


@harm
async def no_http(request: Request) -> None:
    """Bytes that are no HTTP."""
    await request.write(b"\x16\x03\x01" + CANARY.encode() + b"\xff" * 1_000)


@harm
async def error_of_100_megabytes(request: Request) -> None:
    """An error whose body has 100 MB."""
    await request.head("text/plain", 400)
    for _ in range(100):
        await request.write(CANARY.encode() + b" " * MIB)


@harm
async def failure_of_100_megabytes(request: Request) -> None:
    """A failure of the server whose JSON has 100 MB."""
    await request.head("application/json", 503)
    await request.write(b'{"error": {"message": "' + CANARY.encode())
    for _ in range(100):
        await request.write(b"a" * MIB)


@harm
async def page_of_html(request: Request) -> None:
    """A page with status 200."""
    await request.head("text/html")
    await request.write(f"<!doctype html><h1>{CANARY}</h1>".encode() + b"<br>" * MIB)


@harm
async def wrong_content_type(request: Request) -> None:
    """A good stream that says it is an image with forged characters in its type."""
    await request.head(f"image/png\u202e {CANARY}")
    await request.write(text("a") + DONE)
