"""Runs the server on a free loopback port, and prints the port. The name of the model chooses the harm.

It runs as a separate process, so that it takes no CPU time of the process that measures.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress

from tests.harmful_server import event_harms, http_harms
from tests.harmful_server.connection import DONE, HARMS, Request, text

HONEST = "honest"
"""A model that answers as it should."""
MODULES = (http_harms, event_harms)
LIST = b'{"data": []}'


async def answer_honestly(request: Request) -> None:
    """Answer in 40 pieces within a second."""
    await request.head()
    for number in range(40):
        await request.write(text(f"Piece {number}. "))
        await asyncio.sleep(0.025)
    await request.write(DONE)


async def serve_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer one request, and close the connection."""
    with suppress(ConnectionError, asyncio.IncompleteReadError):
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = head.split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        request = Request(first.split(" ")[1], json.loads(body) if body else {}, writer)
        if request.path == "/inside":
            print("inside", flush=True)
        if request.path.endswith("/chat/completions"):
            await HARMS.get(request.body["model"], answer_honestly)(request)
        else:
            await request.head("application/json", headers={"Content-Length": str(len(LIST))})
            await request.write(LIST)
    with suppress(ConnectionError):
        writer.close()
        await writer.wait_closed()


async def main() -> None:
    """Serve until the process is ended."""
    server = await asyncio.start_server(serve_connection, "127.0.0.1", 0, limit=16 * 1024 * 1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
