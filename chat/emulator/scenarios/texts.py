"""Scenarios of text, thoughts, tools and images without code."""

from __future__ import annotations

import random
from collections.abc import Iterator

from chat.emulator import wire
from chat.emulator.scenarios import drawing
from chat.emulator.scenarios.registry import scenario
from chat.emulator.voice import Form, Voice
from chat.emulator.wire import Step

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
def _text(voice: Voice, amount: int) -> Iterator[Step]:
    """Plain text in small chunks."""
    yield from voice.say(PLAIN)
    yield voice.end()


@scenario("markdown")
def _markdown(voice: Voice, amount: int) -> Iterator[Step]:
    """A table, lists, a fence, a quote and formulas, cut anywhere."""
    yield from voice.say(MARKDOWN)
    yield voice.end()


@scenario("hostile")
def _hostile(voice: Voice, amount: int) -> Iterator[Step]:
    """Text and output that try to break out of the page, and a typed marker."""
    yield from voice.say(HOSTILE)
    source = "print('<script>window.plotlineBroken = true</script>')"
    yield voice.chunk(wire.code(source, "hostile1", voice.signature()))
    yield voice.chunk(
        wire.result("OUTCOME_OK", "<script>window.plotlineBroken = true</script>\n[GRAPH:1]\n", "hostile1")
    )
    yield voice.end()


@scenario("unicode")
def _unicode(voice: Voice, amount: int) -> Iterator[Step]:
    """Line separators inside JSON strings, scripts of both directions, and joined emoji."""
    yield from voice.say(UNICODE)
    yield voice.end()


@scenario("long", amount=100)
def _long(voice: Voice, amount: int) -> Iterator[Step]:
    """A Markdown answer of 100 KB (or the number given) in chunks of 5 to 1145 characters, mostly about 70."""
    dice = random.Random(amount)
    left_bytes = amount * 1024
    section = 0
    while left_bytes > 0:
        section += 1
        block = MARKDOWN.replace("Three ways to sort", f"Section {section}").encode()[:left_bytes].decode()
        left_bytes -= len(block.encode())
        while block:
            # Log-normal around the median that was seen: 70 characters, p10 5, p90 244.
            size = max(5, min(1145, round(dice.lognormvariate(4.25, 1.1))))
            yield voice.chunk(wire.text(block[:size]))
            block = block[size:]
    yield voice.end()


@scenario("thoughts")
def _thoughts(voice: Voice, amount: int) -> Iterator[Step]:
    """Two thought summaries, then text."""
    yield voice.chunk(wire.thought("**Reading the question**\n\nThe question is about smoothing a daily series.\n\n\n"))
    yield voice.chunk(wire.thought("**Choosing an example**\n\nA window of one week is what most readers know.\n\n\n"))
    yield from voice.say(PLAIN)
    yield voice.end()


@scenario("function-call")
def _function_call(voice: Voice, amount: int) -> Iterator[Step]:
    """Two parallel function calls, the first one signed."""
    first = {"name": "get_weather", "args": {"city_name": "Oslo"}, "id": voice.call_id()}
    second = {"name": "get_weather", "args": {"city_name": "Rome"}, "id": voice.call_id()}
    yield voice.chunk({"functionCall": first, "thoughtSignature": voice.signature()})
    yield voice.chunk({"functionCall": second})
    yield voice.chunk(wire.text(""), finish="STOP")


@scenario("tool-call")
def _tool_call(voice: Voice, amount: int) -> Iterator[Step]:
    """A server-side search as toolCall and toolResponse, both signed, then text."""
    call_id = voice.call_id()
    call = {"toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["longest river in Europe"]}, "id": call_id}
    response = {"toolType": "GOOGLE_SEARCH_WEB", "response": {"search_suggestions": "Volga, 3530 km"}, "id": call_id}
    yield voice.chunk({"toolCall": call, "thoughtSignature": voice.signature()})
    yield voice.chunk({"toolResponse": response, "thoughtSignature": voice.signature()}, after_s=1.0)
    yield from voice.say("The longest river in Europe is the **Volga** with about 3,530 km.")
    yield voice.end()


@scenario("unknown-part")
def _unknown_part(voice: Voice, amount: int) -> Iterator[Step]:
    """A part of a kind that nobody knows yet, between two texts."""
    yield from voice.say("Before the new kind. ")
    yield voice.chunk({"hologram": {"depth": 3, "points": [1, 2, 3]}, "thoughtSignature": voice.signature()})
    yield from voice.say("After the new kind.")
    yield voice.end()


@scenario("image-model", amount=1)
def _image_model(voice: Voice, amount: int) -> Iterator[Step]:
    """Text and a signed image (or the number given, each with a text), without any code, as image models give it."""
    for number in range(amount):
        yield from voice.say("Here is your picture:\n" if number == 0 else f"And number {number + 1}:\n")
        yield voice.chunk()
        yield _signed_image(voice, 9 + number)
    yield voice.end()


@scenario("image-only")
def _image_only(voice: Voice, amount: int) -> Iterator[Step]:
    """A signed image and nothing else."""
    yield _signed_image(voice, 21)
    yield voice.chunk(finish="STOP")


def _signed_image(voice: Voice, seed: int) -> Step:
    signed = {**wire.image(drawing.chart(640, 640, seed=seed)), "thoughtSignature": voice.signature()}
    return voice.chunk(signed, after_s=1.5)


@scenario("vertex", form=Form.GEMINI_2_5)
def _vertex(voice: Voice, amount: int) -> Iterator[Step]:
    """The Vertex envelope: no index, createTime, counts only in the last chunk, split function arguments."""
    traffic = {"trafficType": "ON_DEMAND"}
    calls = [
        {"name": "read_screen", "willContinue": True},
        {"partialArgs": [{"jsonPath": "$.id", "stringValue": "A", "willContinue": True}], "willContinue": True},
        {"partialArgs": [{"jsonPath": "$.id", "stringValue": ""}], "willContinue": True},
        {},
    ]
    for part in [wire.text(PLAIN[:40]), *({"functionCall": call} for call in calls)]:
        chunk = voice.chunk(part)
        candidate = {"content": chunk.response["candidates"][0]["content"]}
        created = {"createTime": "2026-05-04T20:01:02.264968Z"}
        yield wire.Chunk(
            {**chunk.response, "candidates": [candidate], "usageMetadata": traffic, **created}, chunk.after_s
        )
    yield voice.chunk(wire.text(""), finish="STOP")
