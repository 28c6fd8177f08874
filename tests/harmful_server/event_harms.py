"""Harm in the events of a stream: floods, sizes, values of wrong types, and text that is slow to show."""

from __future__ import annotations

import asyncio
import json

from tests.harmful_server.connection import CANARY, DONE, Request, chunk, event, harm, text

MIB = 1024 * 1024


@harm
async def invalid_utf8(request: Request) -> None:
    """Text that is not UTF-8."""
    await request.head()
    await request.write(text("abc XX def").replace(b"XX", b"\xff\xc3\x28\xed\xa0\x80") + DONE)


@harm
async def deep_json(request: Request) -> None:
    """JSON that is nested 100,000 times."""
    await request.head()
    await request.write(text("before") + b'data: {"choices": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n\n" + DONE)


@harm
async def huge_numbers(request: Request) -> None:
    """Numbers that no type holds."""
    await request.head()
    usage = b'{"prompt_tokens": 1e999, "completion_tokens": -1e999, "total_tokens": %b}' % (b"9" * 4_000)
    await request.write(text("before") + b'data: {"choices": [], "usage": ' + usage + b"}\n\n")
    await request.write(b'data: {"choices": [], "created": ' + b"9" * 900_000 + b"}\n\n" + DONE)


@harm
async def newlines_without_end(request: Request) -> None:
    """Empty lines without end."""
    await request.head()
    await request.forever(b"\n" * 65_536)


@harm
async def comments_without_end(request: Request) -> None:
    """Comments without end."""
    await request.head()
    await request.forever(b":\n" * 32_768)


@harm
async def empty_events_without_end(request: Request) -> None:
    """Events that say nothing, without end."""
    await request.head()
    await request.forever(b"data: {}\n\n" * 6_000)


@harm
async def event_of_64_megabytes(request: Request) -> None:
    """One event of 64 MB."""
    await request.head()
    await request.write(text("before") + b'data: {"choices": [{"delta": {"content": "')
    for _ in range(64):
        await request.write(b"a" * MIB)
    await request.write(b'"}}]}\n\n' + DONE)


@harm
async def json_of_64_megabytes(request: Request) -> None:
    """One JSON value of 64 MB in place of a stream."""
    await request.head("application/json")
    await request.write(b'{"choices": [{"message": {"content": "')
    for _ in range(64):
        await request.write(b"a" * MIB)
    await request.write(b'"}}]}')


@harm
async def json_of_many_strings(request: Request) -> None:
    """One JSON value of 7 MB that holds very many strings."""
    await request.head("application/json")
    await request.write(b'{"choices": [' + b'"",' * 2_300_000 + b'""]}')


@harm
async def events_of_many_strings(request: Request) -> None:
    """Events of nearly 1 MB that hold very many strings, without end."""
    await request.head()
    await request.forever(b'data: {"choices": [], "citations": [' + b'"",' * 330_000 + b'""]}\n\n')


@harm
async def words_without_end(request: Request) -> None:
    """An answer without end, one word in each event."""
    await request.head()
    await request.forever(text("word ") * 500)


@harm
async def hundred_megabytes_at_once(request: Request) -> None:
    """100 MB of text, as fast as they are read."""
    await request.head()
    piece = text("All work and no play makes a long answer.\n\n" * 20)
    for _ in range(100 * MIB // (len(piece) * 100)):
        await request.write(piece * 100)
    await request.write(DONE)


@harm
async def reasoning_without_end(request: Request) -> None:
    """Thoughts without end."""
    await request.head()
    await request.forever(event(chunk(reasoning_content="I think, ")) * 500)


@harm
async def one_character_in_each_line(request: Request) -> None:
    """Events whose JSON has one character in each line."""
    await request.head()
    value = json.dumps(chunk(content="a" * 50)).replace(" ", "")
    lines = "".join(f"data: {character}\n" for character in value) + "\n"
    await request.forever(lines.encode() * 20)


@harm
async def many_data_lines(request: Request) -> None:
    """One event of 100,000 lines that are no JSON together, and no JSON alone but the last."""
    await request.head()
    await request.write(text("before") + b"data: {}\n" * 100_000 + b"\n" + DONE)


@harm
async def hundred_thousand_parts(request: Request) -> None:
    """Text and thoughts by turns, 100,000 times."""
    await request.head()
    pair = event(chunk(content="a")) + event(chunk(reasoning_content="b"))
    for _ in range(500):
        await request.write(pair * 100)
    await request.write(DONE)


@harm
async def hundred_thousand_calls(request: Request) -> None:
    """100,000 function calls."""
    await request.head()
    for start in range(0, 100_000, 1_000):
        calls = [_call(number, f"id{number}", "run_python", "{}") for number in range(start, start + 1_000)]
        await request.event(chunk(tool_calls=calls))
    await request.write(DONE)


@harm
async def pieces_that_repeat_the_name(request: Request) -> None:
    """One call in 100,000 pieces, each of which repeats the name and an index that others have."""
    await request.head()
    await request.event(chunk(tool_calls=[_call(0, "id", "run_python", '{"code": "')]))
    for _ in range(100):
        await request.write(event(chunk(tool_calls=[_call(0, "", "run_python", "{")])) * 1_000)
    await request.write(DONE)


@harm
async def duplicate_indexes(request: Request) -> None:
    """Calls with the same index and other ids, whose pieces are mixed."""
    await request.head()
    for number in range(100):
        calls = [_call(0, f"id{number % 7}", f"f{number % 3}", '{"a": 1}'), _call(-1, "", "g", "}")]
        await request.event(chunk(tool_calls=calls))
    await request.write(DONE)


@harm
async def names_with_control_characters(request: Request) -> None:
    """Ids, names and words with control characters and marks of direction."""
    await request.head()
    strange = f"\x1b[31m\x00\u202e\ud800 {CANARY}\n2026-01-01 ERROR forged"
    await request.event({"id": strange, "model": strange, **chunk(tool_calls=[_call(0, strange, strange, "{}")])})
    await request.event({"choices": [{"index": 0, "delta": {}, "finish_reason": strange}]})
    await request.write(b"data: [DONE]\n\n")


@harm
async def deep_arguments(request: Request) -> None:
    """A call whose arguments are nested 100,000 times."""
    await request.head()
    await request.event(chunk(tool_calls=[_call(0, "id", "run_python", "[" * 100_000 + "]" * 100_000)]))
    await request.write(DONE)


@harm
async def usage_of_wrong_values(request: Request) -> None:
    """Counts of tokens that cannot be counts."""
    await request.head()
    counts: list[object] = [-5, 10**30, "many", None, [], {}, True, 0.5]
    for count in counts:
        usage = {"prompt_tokens": count, "completion_tokens": count, "total_tokens": count}
        await request.event({**chunk(content="a"), "usage": usage})
    await request.write(DONE)


@harm
async def error_that_quotes_the_question(request: Request) -> None:
    """An error in the stream that repeats what was asked."""
    await request.head()
    await request.event({"error": {"message": f"{CANARY} {json.dumps(request.body)}", "code": -1}})


@harm
async def hundred_thousand_choices(request: Request) -> None:
    """Chunks with very many choices."""
    await request.head()
    await request.event({"choices": [{"index": 0, "delta": {"content": "a"}}] * 15_000})
    await request.write(DONE)


@harm
async def metadata_without_end(request: Request) -> None:
    """Sources and metadata that change with each event."""
    await request.head()
    for number in range(1_000_000):
        pages = [{"url": f"https://example.org/{number}/{page}", "title": "t"} for page in range(100)]
        await request.event({**chunk(content="a"), "search_results": pages, "usage": {"prompt_tokens": number}})


@harm
async def text_of_brackets(request: Request) -> None:
    """Markdown of opening brackets alone, which parsers of links read again and again."""
    await request.head()
    for _ in range(4):
        await request.write(text("[" * 900_000))
    await request.write(DONE)


@harm
async def text_of_emphasis(request: Request) -> None:
    """Markdown of marks of emphasis without an end, in one paragraph that grows."""
    await request.head()
    for _ in range(2_000):
        await request.write(text("*a **b _c " * 100))
        await asyncio.sleep(0.005)
    await request.write(DONE)


@harm
async def nested_lists_and_quotes(request: Request) -> None:
    """Markdown that is nested as deeply as its lines are long."""
    await request.head()
    for depth in range(1, 1_000):
        await request.write(text("> " * depth + "- " * depth + "a\n"))
    await request.write(DONE)


@harm
async def table_without_end(request: Request) -> None:
    """One table of many columns that grows without end."""
    await request.head()
    await request.write(text("|" + "a|" * 200 + "\n|" + "-|" * 200 + "\n"))
    row = text("|" + "a|" * 200 + "\n")
    await request.forever(row * 20)


@harm
async def formulas_without_end(request: Request) -> None:
    """Formulas that are nested, without end."""
    await request.head()
    formula = "$" + "\\frac{1}{" * 50 + "x" + "}" * 50 + "$ "
    await request.forever(text(formula) * 20)


@harm
async def code_without_end(request: Request) -> None:
    """One block of code that grows without end."""
    await request.head()
    await request.write(text("```python\n"))
    await request.forever(text("x = [1, 'a', (lambda: 2)()]  # comment\n") * 100)


@harm
async def link_definitions(request: Request) -> None:
    """Definitions of links that change the meaning of all text before them, by turns with such text."""
    await request.head()
    for number in range(20_000):
        await request.write(text(f"[a{number}] and [b{number}][]\n\n[a{number}]: https://example.org/{number}\n\n"))
    await request.write(DONE)


def _call(index: int, call_id: str, name: str, arguments: str) -> dict[str, object]:
    return {"index": index, "id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
