"""Harm in the events of a stream: floods, sizes, values of wrong types, and text that is slow to show."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tests.harmful_server.connection import CANARY, DONE, HARMS, Harm, Request, chunk, event, harm, text

MIB = 1024 * 1024
JSON_TYPE = "application/json"
LONG_NUMBERS = b'{"prompt_tokens": 1e999, "completion_tokens": -1e999, "total_tokens": %b}' % (b"9" * 4_000)
USAGE = ("prompt_tokens", "completion_tokens", "total_tokens")
COUNTS: Sequence[object] = (-5, 10**30, "many", None, [], {}, True, 0.5)
LINES = "".join(f"data: {character}\n" for character in json.dumps(chunk(content="a" * 50)).replace(" ", "")) + "\n"
FORMULA = "$" + "\\frac{1}{" * 50 + "x" + "}" * 50 + "$ "
COLUMNS = "|" + "a|" * 200 + "\n"
STRANGE = f"\x1b[31m\x00\u202e\ud800 {CANARY}\n2026-01-01 ERROR forged"


def call(index: int, call_id: str, name: str, arguments: str) -> dict[str, object]:
    """Return a piece of a function call."""
    return {"index": index, "id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls_in_thousands() -> Iterator[bytes]:
    """Yield 100,000 function calls."""
    for start in range(0, 100_000, 1_000):
        calls = [call(number, f"id{number}", "run_python", "{}") for number in range(start, start + 1_000)]
        yield event(chunk(tool_calls=calls))


def mixed_calls() -> Iterator[bytes]:
    """Yield calls with the same index and other ids, whose pieces are mixed."""
    for number in range(100):
        calls = [call(0, f"id{number % 7}", f"f{number % 3}", '{"a": 1}'), call(-1, "", "g", "}")]
        yield event(chunk(tool_calls=calls))


def changing_metadata() -> Iterator[bytes]:
    """Yield sources and metadata that change with each event."""
    for number in range(1_000_000):
        pages = [{"url": f"https://example.org/{number}/{page}", "title": "t"} for page in range(100)]
        yield event({**chunk(content="a"), "search_results": pages, "usage": {"prompt_tokens": number}})


# Name -> bytes that are written first, and bytes that are repeated until the client closes the connection.
WITHOUT_END: Mapping[str, tuple[bytes, bytes]] = {
    "newlines-without-end": (b"", b"\n" * 65_536),
    "comments-without-end": (b"", b":\n" * 32_768),
    "empty-events-without-end": (b"", b"data: {}\n\n" * 6_000),
    "events-of-many-strings": (b"", b'data: {"choices": [], "citations": [' + b'"",' * 330_000 + b'""]}\n\n'),
    "words-without-end": (b"", text("word ") * 500),
    "reasoning-without-end": (b"", event(chunk(reasoning_content="I think, ")) * 500),
    "one-character-in-each-line": (b"", LINES.encode() * 20),
    # Markdown that is slow to render: a growing table, growing formulas, and a growing block of code.
    "table-without-end": (text(COLUMNS + COLUMNS.replace("a", "-")), text(COLUMNS) * 20),
    "formulas-without-end": (b"", text(FORMULA) * 20),
    "code-without-end": (text("```python\n"), text("x = [1, 'a', (lambda: 2)()]  # comment\n") * 100),
}

# Name -> pieces of a body that is written once.
BODIES: Mapping[str, Iterable[bytes]] = {
    "invalid-utf8": [text("abc XX def").replace(b"XX", b"\xff\xc3\x28\xed\xa0\x80")],
    "deep-json": [text("before") + b'data: {"choices": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n\n"],
    "huge-numbers": [
        text("before") + b'data: {"choices": [], "usage": ' + LONG_NUMBERS + b"}\n\n",
        b'data: {"choices": [], "created": ' + b"9" * 900_000 + b"}\n\n",
    ],
    "event-of-64-megabytes": [
        text("before") + b'data: {"choices": [{"delta": {"content": "',
        *[b"a" * MIB] * 64,
        b'"}}]}\n\n',
    ],
    "hundred-megabytes-at-once": [text("All work and no play makes a long answer.\n\n" * 20) * 100] * 1_091,
    "many-data-lines": [text("before") + b"data: {}\n" * 100_000 + b"\n"],
    "hundred-thousand-parts": [(event(chunk(content="a")) + event(chunk(reasoning_content="b"))) * 100] * 500,
    "hundred-thousand-choices": [event({"choices": [{"index": 0, "delta": {"content": "a"}}] * 15_000})],
    "pieces-that-repeat-the-name": [
        event(chunk(tool_calls=[call(0, "id", "run_python", '{"code": "')])),
        *[event(chunk(tool_calls=[call(0, "", "run_python", "{")])) * 1_000] * 100,
    ],
    "names-with-control-characters": [
        event({"id": STRANGE, "model": STRANGE, **chunk(tool_calls=[call(0, STRANGE, STRANGE, "{}")])}),
        event({"choices": [{"index": 0, "delta": {}, "finish_reason": STRANGE}]}),
    ],
    "deep-arguments": [event(chunk(tool_calls=[call(0, "id", "run_python", "[" * 100_000 + "]" * 100_000)]))],
    "usage-of-wrong-values": [event({**chunk(content="a"), "usage": dict.fromkeys(USAGE, count)}) for count in COUNTS],
    # Brackets that parsers of links read repeatedly, and nesting as deep as the lines are long.
    "text-of-brackets": [text("[" * 900_000)] * 4,
    "nested-lists-and-quotes": [text("> " * depth + "- " * depth + "a\n") for depth in range(1, 1_000)],
    # Definitions of links change the meaning of all text before them.
    "link-definitions": [
        text(f"[a{number}] and [b{number}][]\n\n[a{number}]: https://example.org/{number}\n\n")
        for number in range(20_000)
    ],
}


def without_end(beginning: bytes, repeated: bytes) -> Harm:
    """Return a harm that writes without end."""

    async def write(request: Request) -> None:
        await request.head()
        await request.write(beginning)
        await request.forever(repeated)

    return write


def body_of(pieces: Iterable[bytes]) -> Harm:
    """Return a harm that writes pieces, and then ends."""

    async def write(request: Request) -> None:
        await request.head()
        for piece in pieces:
            await request.write(piece)
        await request.write(DONE)

    return write


HARMS.update({name: without_end(*pieces) for name, pieces in WITHOUT_END.items()})
HARMS.update({name: body_of(pieces) for name, pieces in BODIES.items()})


@harm
async def hundred_thousand_calls(request: Request) -> None:
    """100,000 function calls."""
    await body_of(calls_in_thousands())(request)


@harm
async def duplicate_indexes(request: Request) -> None:
    """Calls that only differ in their ids."""
    await body_of(mixed_calls())(request)


@harm
async def metadata_without_end(request: Request) -> None:
    """Metadata in a million events."""
    await body_of(changing_metadata())(request)


@harm
async def json_of_64_megabytes(request: Request) -> None:
    """One JSON value of 64 MB in place of a stream."""
    await request.head(JSON_TYPE)
    for piece in (b'{"choices": [{"message": {"content": "', *[b"a" * MIB] * 64, b'"}}]}'):
        await request.write(piece)


@harm
async def json_of_many_strings(request: Request) -> None:
    """One JSON value of 7 MB that holds very many strings."""
    await request.head(JSON_TYPE)
    await request.write(b'{"choices": [' + b'"",' * 2_300_000 + b'""]}')


@harm
async def error_that_quotes_the_question(request: Request) -> None:
    """An error in the stream that repeats what was asked."""
    await request.head()
    await request.event({"error": {"message": f"{CANARY} {json.dumps(request.body)}", "code": -1}})


@harm
async def text_of_emphasis(request: Request) -> None:
    """Markdown of marks of emphasis without an end, in one paragraph that grows."""
    await request.head()
    for _ in range(2_000):
        await request.write(text("*a **b _c " * 100))
        await asyncio.sleep(0.005)
    await request.write(DONE)
