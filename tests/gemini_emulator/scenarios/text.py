"""Scenarios of text, thoughts, calls and images, without code."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from chat.emulator import wire
from chat.emulator.chunk_builder import ChunkBuilder
from chat.emulator.wire import Step
from tests.gemini_emulator.gemini_2_5 import Gemini25ChunkBuilder
from tests.gemini_emulator.scenarios.chart_image import draw_chart
from tests.gemini_emulator.scenarios.registry import ScenarioCall, scenario

PLAIN = (
    "A moving average replaces each value by the mean of its neighbours. A wide window gives a smooth line that "
    "reacts late; a narrow one follows every bump. Seven days are usual for daily data, since they cover one week."
)
MARKDOWN = """## Three ways to sort

| Method | Typical cost | Stable |
| --- | ---: | :---: |
| Insertion | $n^2$ | yes |
| Merge | $n \\log n$ | yes |
| Heap | $n \\log n$ | no |

1. *Insertion* sort is **fast for short lists**.
2. *Merge* sort needs a second list:

   ```python
   def merge(left, right):
       return sorted(left + right)
   ```

3. *Heap* sort works in place.

> Measure before you choose.

The mean of $n$ values is

$$\\bar{x} = \\frac{1}{n} \\sum_{i=1}^{n} x_i$$

- [x] read the table
- [ ] try it, see [the documentation](https://docs.python.org/3/howto/sorting.html)
"""
HOSTILE = """<script>window.plotlineBroken = true</script>
<img src=x onerror="window.plotlineBroken = true"> [click](javascript:alert(1)) 
[data](data:text/html,<script>1</script>)

<style>body { display: none }</style><form action="https://example.org/"><input name="password"></form>

![pixel](https://example.org/pixel.png) <a href="https://example.org/" target="_top">out</a> </article></div>

`<b>code</b>` and a typed marker [GRAPH:1], and a dead picture ![plot](plot.png) saved as plot.png.
"""
UNICODE = (
    "Line\u2028separator, paragraph\u2029separator, next\u0085line. 中文与日本語, עברית ושלום, مرحبا, "
    "Zoë naïve, 👩‍🔬🏳️‍🌈, e\u0301 decomposed, 𝔐𝔞𝔱𝔥, a\u200bzero-width space and \u202eright to left\u202c.\n"
)


@scenario("text")
def _text(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Plain text in small chunks."""
    yield from builder.text_chunks(PLAIN)
    yield builder.last_chunk()


@scenario("other-model")
def _other_model(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Plain text that a version of the model `scenario-text` gives, as after the end of a model."""
    builder.request = replace(builder.request, model="models/scenario-text-001")
    yield from builder.text_chunks(PLAIN)
    yield builder.last_chunk()


@scenario("markdown")
def _markdown(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Markdown with a table, lists, a fence, a quote and formulas, cut anywhere."""
    yield from builder.text_chunks(MARKDOWN)
    yield builder.last_chunk()


@scenario("hostile")
def _hostile(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Text and output with scripts and broken HTML, and a typed marker."""
    yield from builder.text_chunks(HOSTILE)
    source = "print('<script>window.plotlineBroken = true</script>')"
    yield builder.chunk(wire.code_part(source, "hostile1", builder.new_signature()))
    yield builder.chunk(
        wire.result_part("OUTCOME_OK", "<script>window.plotlineBroken = true</script>\n[GRAPH:1]\n", "hostile1")
    )
    yield builder.last_chunk()


@scenario("unicode")
def _unicode(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Line separators in JSON strings, scripts of both directions, and joined emoji."""
    yield from builder.text_chunks(UNICODE)
    yield builder.last_chunk()


@scenario("long", amount=100)
def _long(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """A Markdown answer of 100 KB (or the number given) in chunks of 5 to 1145 characters, mostly about 70."""
    rng = random.Random(call.amount)
    left_bytes = call.amount * 1024
    section = 0
    while left_bytes > 0:
        section += 1
        block = MARKDOWN.replace("Three ways to sort", f"Section {section}").encode()[:left_bytes].decode()
        left_bytes -= len(block.encode())
        while block:
            # Log-normal around the median of real streams: 70 characters, p10 5, p90 244.
            size = max(5, min(1145, round(rng.lognormvariate(4.25, 1.1))))
            yield builder.chunk(wire.text_part(block[:size]))
            block = block[size:]
    yield builder.last_chunk()


@scenario("thoughts")
def _thoughts(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Two thought summaries, then text."""
    yield builder.chunk(
        wire.thought_part("**Reading the question**\n\nThe question is about smoothing a daily series.\n\n\n")
    )
    yield builder.chunk(
        wire.thought_part("**Choosing an example**\n\nA window of one week is what most readers know.\n\n\n")
    )
    yield from builder.text_chunks(PLAIN)
    yield builder.last_chunk()


@scenario("undeclared-function-calls")
def _undeclared_function_calls(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Two parallel calls of a function that the request need not declare, the first one signed."""
    first = {"name": "get_weather", "args": {"city_name": "Oslo"}, "id": builder.new_id()}
    second = {"name": "get_weather", "args": {"city_name": "Rome"}, "id": builder.new_id()}
    yield builder.chunk({"functionCall": first, "thoughtSignature": builder.new_signature()})
    yield builder.chunk({"functionCall": second})
    yield builder.chunk(wire.text_part(""), finish="STOP")


@scenario("tool-call")
def _tool_call(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """A server-side search as toolCall and toolResponse, both signed, then text."""
    call_id = builder.new_id()
    tool_call = {"toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["longest river in Europe"]}, "id": call_id}
    response = {"toolType": "GOOGLE_SEARCH_WEB", "response": {"search_suggestions": "Volga, 3530 km"}, "id": call_id}
    yield builder.chunk({"toolCall": tool_call, "thoughtSignature": builder.new_signature()})
    yield builder.chunk({"toolResponse": response, "thoughtSignature": builder.new_signature()}, after_s=1.0)
    yield from builder.text_chunks("The longest river in Europe is the **Volga** with about 3,530 km.")
    yield builder.last_chunk()


@scenario("unknown-part")
def _unknown_part(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """A part of a kind that no client knows, between two texts."""
    yield from builder.text_chunks("Before the new kind. ")
    yield builder.chunk({"hologram": {"depth": 3, "points": [1, 2, 3]}, "thoughtSignature": builder.new_signature()})
    yield from builder.text_chunks("After the new kind.")
    yield builder.last_chunk()


@scenario("image-model", amount=1)
def _image_model(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Text and a signed image (or the number given, each with a text), as image models send them."""
    for number in range(call.amount):
        yield from builder.text_chunks("Here is your picture:\n" if number == 0 else f"And number {number + 1}:\n")
        yield builder.chunk()
        yield _signed_image(builder, 9 + number)
    yield builder.last_chunk()


@scenario("image-only")
def _image_only(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Only a signed image."""
    yield _signed_image(builder, 21)
    yield builder.chunk(finish="STOP")


def _signed_image(builder: ChunkBuilder, seed: int) -> Step:
    image = wire.image_part(draw_chart(640, 640, seed=seed), signature=builder.new_signature())
    return builder.chunk(image, after_s=1.5)


@scenario("vertex", builder_class=Gemini25ChunkBuilder)
def _vertex(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """The envelope of Vertex AI: createTime, no index, counts only in the last chunk, split function arguments."""
    traffic = {"trafficType": "ON_DEMAND"}
    call_pieces = [
        {"name": "read_screen", "willContinue": True},
        {"partialArgs": [{"jsonPath": "$.id", "stringValue": "A", "willContinue": True}], "willContinue": True},
        {"partialArgs": [{"jsonPath": "$.id", "stringValue": ""}], "willContinue": True},
        {},
    ]
    for part in [wire.text_part(PLAIN[:40]), *({"functionCall": piece} for piece in call_pieces)]:
        chunk = builder.chunk(part)
        candidate = {"content": chunk.response["candidates"][0]["content"]}
        created = {"createTime": "2026-05-04T20:01:02.264968Z"}
        response = {**chunk.response, "candidates": [candidate], "usageMetadata": traffic, **created}
        yield wire.Chunk(response, chunk.after_s)
    yield builder.chunk(wire.text_part(""), finish="STOP")
