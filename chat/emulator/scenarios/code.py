"""Scenarios of executed code: its results, failures and images. Nothing is run; see `demo` for what is."""

from __future__ import annotations

import base64
from collections.abc import Iterator

from chat.emulator import wire
from chat.emulator.scenarios import drawing
from chat.emulator.scenarios.registry import scenario
from chat.emulator.voice import Form, Voice
from chat.emulator.wire import Step, WireObject

RUN_S = 1.2
"""Pause between code and result at pace 1: the execution."""
PRODUCT = "product = 6 * 7\nprint(product)"
PLOT = "import matplotlib.pyplot as plt\n\nplt.scatter(x, y)\nplt.savefig('plot.png')\nplt.show()"
TRACEBACK = (
    "Traceback (most recent call last):\n"
    '  File "/usr/bin/entry/entry_point", line 109, in _run_python\n'
    '  File "<string>", line 1, in <module>\n'
    "ZeroDivisionError: division by zero\n"
)


def code_round(
    voice: Voice, source: str, outcome: str = "OUTCOME_OK", output: str = "", images: tuple[bytes, ...] = ()
) -> Iterator[Step]:
    """Code, its result, and each image in a chunk of its own."""
    call_id = voice.call_id()
    yield voice.chunk(*_code(voice, source, call_id))
    yield voice.chunk(wire.result(outcome, output, call_id), after_s=RUN_S)
    for data in images:
        yield voice.chunk(wire.image(data))


def _code(voice: Voice, source: str, call_id: str) -> list[WireObject]:
    part = wire.code(source, call_id, voice.signature())
    # Gemini 3 puts an empty text part behind the code, in the same chunk.
    return [part, wire.text("")] if voice.form is Form.GEMINI_3 else [part]


@scenario("code")
def _code_gemini_3(voice: Voice, amount: int) -> Iterator[Step]:
    """Code and result with ids and signatures, text, and a final empty signed part."""
    yield from code_round(voice, PRODUCT, output="42\n")
    yield from voice.say("The product of 6 and 7 is **42**.")
    yield voice.end()


@scenario("code-without-ids", form=Form.GEMINI_2_5)
def _code_gemini_2_5(voice: Voice, amount: int) -> Iterator[Step]:
    """The same without ids and signatures, as 2.5 models send it."""
    yield from voice.say("I will calculate this. ")
    yield from code_round(voice, PRODUCT, output="42\n")
    yield from voice.say("The product of 6 and 7 is **42**.", finish="STOP")


@scenario("code-two-rounds")
def _code_two_rounds(voice: Voice, amount: int) -> Iterator[Step]:
    """Two rounds of code, one finish."""
    yield from code_round(voice, PRODUCT, output="42\n")
    yield from code_round(voice, "print(product + 100)", output="142\n")
    yield from voice.say("First 42, then 142.")
    yield voice.end()


@scenario("two-finishes", form=Form.GEMINI_2_5)
def _two_finishes(voice: Voice, amount: int) -> Iterator[Step]:
    """A finishReason STOP on the second code chunk; the answer comes after it."""
    yield from code_round(voice, PRODUCT, output="42\n")
    yield from voice.say("The first number is 42.\n\nSecond run:\n")
    yield voice.chunk(wire.code("print(product + 100)"), finish="STOP")
    yield voice.chunk(wire.result("OUTCOME_OK", "142\n"), after_s=RUN_S)
    yield from voice.say("The second number is 142.", finish="STOP")


@scenario("two-results")
def _two_results(voice: Voice, amount: int) -> Iterator[Step]:
    """One block that prints and then raises: two results, OK and FAILED, for one code part."""
    call_id = voice.call_id()
    yield voice.chunk(*_code(voice, "print('ok')\n1 / 0", call_id))
    yield voice.chunk(wire.result("OUTCOME_OK", "ok\n", call_id), after_s=RUN_S)
    yield voice.chunk(wire.result("OUTCOME_FAILED", TRACEBACK, call_id))
    yield from voice.say("It printed `ok`, then it failed.")
    yield voice.end()


@scenario("result-without-output")
def _result_without_output(voice: Voice, amount: int) -> Iterator[Step]:
    """Code that printed nothing: the result has no output field."""
    yield from code_round(voice, "table = [n * n for n in range(10)]")
    yield from voice.say("The table is ready.")
    yield voice.end()


@scenario("code-failed")
def _code_failed(voice: Voice, amount: int) -> Iterator[Step]:
    """OUTCOME_FAILED with a traceback behind noise, a corrected block, text."""
    noise = "OpenBLAS WARNING - could not determine the L2 cache size on this system, assuming 256k\n"
    yield from code_round(voice, "print(1 / 0)", "OUTCOME_FAILED", noise + TRACEBACK)
    yield from code_round(voice, "print(float('inf'))", output="inf\n")
    yield from voice.say("Division by zero has no result; its limit is infinite.")
    yield voice.end()


@scenario("code-deadline")
def _code_deadline(voice: Voice, amount: int) -> Iterator[Step]:
    """OUTCOME_DEADLINE_EXCEEDED with the output so far."""
    yield from code_round(voice, "print('start')\nwhile True:\n    pass", "OUTCOME_DEADLINE_EXCEEDED", "start\n")
    yield from voice.say("The code ran longer than allowed.")
    yield voice.end()


@scenario("code-unknown-outcome")
def _code_unknown_outcome(voice: Voice, amount: int) -> Iterator[Step]:
    """An outcome and a language that nobody knows yet."""
    call_id = voice.call_id()
    code: WireObject = {"language": "JULIA", "code": "println(42)", "id": call_id}
    yield voice.chunk({"executableCode": code, "thoughtSignature": voice.signature()})
    yield voice.chunk(wire.result("OUTCOME_PAUSED", "42\n", call_id), after_s=RUN_S)
    yield voice.end()


@scenario("code-without-result", form=Form.GEMINI_2_5)
def _code_without_result(voice: Voice, amount: int) -> Iterator[Step]:
    """Code of another tool, to which no result ever comes, then text."""
    yield voice.chunk(wire.code('print(file_search.query(query="rivers"))'))
    yield from voice.say("The file says nothing of rivers.", finish="STOP")


@scenario("code-only")
def _code_only(voice: Voice, amount: int) -> Iterator[Step]:
    """Code and result, and no text at all."""
    yield from code_round(voice, PRODUCT, output="42\n")
    yield voice.end()


@scenario("code-large-output")
def _code_large_output(voice: Voice, amount: int) -> Iterator[Step]:
    """An output of about 1 MB."""
    lines = "".join(f"{number:6d} {number * number:12d}\n" for number in range(50_000))
    yield from code_round(voice, "for n in range(50_000):\n    print(n, n * n)", output=lines)
    yield voice.end()


@scenario("image")
def _image(voice: Voice, amount: int) -> Iterator[Step]:
    """A graph in a chunk of its own, after the result."""
    yield from code_round(voice, PLOT, output="Plot saved as plot.png\n", images=(drawing.chart(),))
    yield from voice.say("The points follow a sine curve.")
    yield voice.end()


@scenario("image-shared-chunk")
def _image_shared_chunk(voice: Voice, amount: int) -> Iterator[Step]:
    """A graph in the same chunk as the result."""
    call_id = voice.call_id()
    yield voice.chunk(*_code(voice, PLOT, call_id))
    graph = wire.image(drawing.chart(seed=2))
    yield voice.chunk(wire.result("OUTCOME_OK", "done\n", call_id), graph, after_s=RUN_S)
    yield from voice.say("The points follow a sine curve.")
    yield voice.end()


@scenario("image-twice")
def _image_twice(voice: Voice, amount: int) -> Iterator[Step]:
    """The same graph twice with equal bytes, as savefig() and show() in one block give it."""
    yield from code_round(voice, PLOT, images=(drawing.chart(seed=3), drawing.chart(seed=3)))
    yield from voice.say("One graph, sent twice.")
    yield voice.end()


@scenario("image-two-sizes")
def _image_two_sizes(voice: Voice, amount: int) -> Iterator[Step]:
    """One chart in two sizes."""
    yield from code_round(voice, PLOT, images=(drawing.chart(1600, 1000, seed=4), drawing.chart(800, 500, seed=4)))
    yield from voice.say("The same chart in two sizes.")
    yield voice.end()


@scenario("images", amount=3)
def _images(voice: Voice, amount: int) -> Iterator[Step]:
    """Three rounds (or the number given) of code with a different graph each, and text between."""
    for number in range(1, amount + 1):
        yield from code_round(voice, PLOT, output=f"{number}\n", images=(drawing.chart(seed=10 + number),))
        yield from voice.say(f"That was graph number {number}.\n\n")
    yield voice.end()


@scenario("image-jpeg")
def _image_jpeg(voice: Voice, amount: int) -> Iterator[Step]:
    """A graph as JPEG."""
    call_id = voice.call_id()
    yield voice.chunk(*_code(voice, PLOT, call_id))
    yield voice.chunk(wire.result("OUTCOME_OK", "", call_id), after_s=RUN_S)
    yield voice.chunk(wire.image(drawing.chart(seed=5, image_format="JPEG"), "image/jpeg"))
    yield voice.end()


@scenario("image-in-output")
def _image_in_output(voice: Voice, amount: int) -> Iterator[Step]:
    """A graph as a data: URL inside the result's output, between two printed lines."""
    data_url = "data:image/png;base64," + base64.b64encode(drawing.chart(400, 250, seed=6)).decode()
    yield from code_round(voice, PLOT, output=f"before\n{data_url}\nafter\n")
    yield from voice.say("The graph came inside the output.")
    yield voice.end()


@scenario("image-invalid")
def _image_invalid(voice: Voice, amount: int) -> Iterator[Step]:
    """Bytes that say image/png and are no image."""
    yield from code_round(voice, PLOT, images=(b"<svg onload=alert(1)>this is no PNG",))
    yield from voice.say("The graph is broken.")
    yield voice.end()
