"""Scenarios of executed code: its results, failures and images. No code is run."""

from __future__ import annotations

import base64
from collections.abc import Iterator

from chat.emulator import wire
from chat.emulator.chunk_builder import ChunkBuilder
from chat.emulator.wire import Step, WireObject
from tests.gemini_emulator.gemini_2_5 import Gemini25ChunkBuilder
from tests.gemini_emulator.scenarios.chart_image import draw_chart
from tests.gemini_emulator.scenarios.registry import ScenarioCall, scenario

EXECUTION_S = 1.2
"""Pause between code and result at pace 1."""
PRODUCT = "product = 6 * 7\nprint(product)"
PLOT = "import matplotlib.pyplot as plt\n\nplt.scatter(x, y)\nplt.savefig('plot.png')\nplt.show()"
TITLED_PLOT = """import numpy as np
import matplotlib.pyplot as plt

x = np.linspace(0, 2 * np.pi, 200)
plt.plot(x, np.sin(x))
plt.title("One period of the sine")
plt.xlabel("x")
plt.ylabel("sin(x)")
print("maximum", np.sin(x).max().round(2))
plt.show()"""
TRACEBACK = (
    "Traceback (most recent call last):\n"
    '  File "/usr/bin/entry/entry_point", line 109, in _run_python\n'
    '  File "<string>", line 1, in <module>\n'
    "ZeroDivisionError: division by zero\n"
)


def code_round(
    builder: ChunkBuilder, source: str, outcome: str = "OUTCOME_OK", output: str = "", images: tuple[bytes, ...] = ()
) -> Iterator[Step]:
    """Yield code, its result, and each image in a chunk of its own."""
    code_id = builder.new_id()
    yield builder.chunk(*_code_parts(builder, source, code_id))
    yield builder.chunk(wire.result_part(outcome, output, code_id), after_s=EXECUTION_S)
    for data in images:
        yield builder.chunk(wire.image_part(data))


def _code_parts(builder: ChunkBuilder, source: str, code_id: str) -> list[WireObject]:
    part = wire.code_part(source, code_id, builder.new_signature())
    # Gemini 3 sends an empty text part after the code, in the same chunk.
    return [part] if isinstance(builder, Gemini25ChunkBuilder) else [part, wire.text_part("")]


@scenario("code")
def _code_gemini_3(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Code and result with ids and signatures, text, and a final empty signed part."""
    yield from code_round(builder, PRODUCT, output="42\n")
    yield from builder.text_chunks("The product of 6 and 7 is **42**.")
    yield builder.last_chunk()


@scenario("code-without-ids", builder_class=Gemini25ChunkBuilder)
def _code_gemini_2_5(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Text, code and result without ids and signatures, as Gemini 2.5 sends them."""
    yield from builder.text_chunks("I will calculate this. ")
    yield from code_round(builder, PRODUCT, output="42\n")
    yield from builder.text_chunks("The product of 6 and 7 is **42**.", finish="STOP")


@scenario("code-two-rounds")
def _code_two_rounds(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Two blocks of code with their results, and one finish reason."""
    yield from code_round(builder, PRODUCT, output="42\n")
    yield from code_round(builder, "print(product + 100)", output="142\n")
    yield from builder.text_chunks("First 42, then 142.")
    yield builder.last_chunk()


@scenario("two-finishes", builder_class=Gemini25ChunkBuilder)
def _two_finishes(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """A finish reason STOP on the second code chunk, and the answer after it."""
    yield from code_round(builder, PRODUCT, output="42\n")
    yield from builder.text_chunks("The first number is 42.\n\nSecond run:\n")
    yield builder.chunk(wire.code_part("print(product + 100)"), finish="STOP")
    yield builder.chunk(wire.result_part("OUTCOME_OK", "142\n"), after_s=EXECUTION_S)
    yield from builder.text_chunks("The second number is 142.", finish="STOP")


@scenario("two-results")
def _two_results(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Two results, OK and FAILED, for one block of code that prints and then raises."""
    code_id = builder.new_id()
    yield builder.chunk(*_code_parts(builder, "print('ok')\n1 / 0", code_id))
    yield builder.chunk(wire.result_part("OUTCOME_OK", "ok\n", code_id), after_s=EXECUTION_S)
    yield builder.chunk(wire.result_part("OUTCOME_FAILED", TRACEBACK, code_id))
    yield from builder.text_chunks("It printed `ok`, then it failed.")
    yield builder.last_chunk()


@scenario("result-without-output")
def _result_without_output(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """A result without an output field, of code that printed nothing."""
    yield from code_round(builder, "table = [n * n for n in range(10)]")
    yield from builder.text_chunks("The table is ready.")
    yield builder.last_chunk()


@scenario("code-failed")
def _code_failed(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """OUTCOME_FAILED with a warning and a traceback, then a corrected block and text."""
    noise = "OpenBLAS WARNING - could not determine the L2 cache size on this system, assuming 256k\n"
    yield from code_round(builder, "print(1 / 0)", "OUTCOME_FAILED", noise + TRACEBACK)
    yield from code_round(builder, "print(float('inf'))", output="inf\n")
    yield from builder.text_chunks("Division by zero has no result; its limit is infinite.")
    yield builder.last_chunk()


@scenario("code-deadline")
def _code_deadline(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """OUTCOME_DEADLINE_EXCEEDED with the output up to the deadline."""
    yield from code_round(builder, "print('start')\nwhile True:\n    pass", "OUTCOME_DEADLINE_EXCEEDED", "start\n")
    yield from builder.text_chunks("The code ran longer than allowed.")
    yield builder.last_chunk()


@scenario("code-unknown-outcome")
def _code_unknown_outcome(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """An outcome and a language that no client knows."""
    code_id = builder.new_id()
    code: WireObject = {"language": "JULIA", "code": "println(42)", "id": code_id}
    yield builder.chunk({"executableCode": code, "thoughtSignature": builder.new_signature()})
    yield builder.chunk(wire.result_part("OUTCOME_PAUSED", "42\n", code_id), after_s=EXECUTION_S)
    yield builder.last_chunk()


@scenario("code-without-result", builder_class=Gemini25ChunkBuilder)
def _code_without_result(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Code of another tool without a result, then text."""
    yield builder.chunk(wire.code_part('print(file_search.query(query="rivers"))'))
    yield from builder.text_chunks("The file says nothing of rivers.", finish="STOP")


@scenario("code-only")
def _code_only(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Code and result without any text."""
    yield from code_round(builder, PRODUCT, output="42\n")
    yield builder.last_chunk()


@scenario("code-large-output")
def _code_large_output(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """An output of about 1 MB."""
    lines = "".join(f"{number:6d} {number * number:12d}\n" for number in range(50_000))
    yield from code_round(builder, "for n in range(50_000):\n    print(n, n * n)", output=lines)
    yield builder.last_chunk()


@scenario("image")
def _image(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """A graph in a chunk of its own after the result."""
    yield from code_round(builder, PLOT, output="Plot saved as plot.png\n", images=(draw_chart(),))
    yield from builder.text_chunks("The points follow a sine curve.")
    yield builder.last_chunk()


@scenario("thought-and-graph", amount=2)
def _thought_and_graph(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """A thought of 2 seconds (or the number given), text, code, its output and its graph, and text."""
    yield builder.chunk(wire.thought_part("**Choosing a curve**\n\nA sine wave shows "))
    yield builder.chunk(wire.thought_part("one full period.\n\n\n"), after_s=call.amount)
    yield from builder.text_chunks("I will draw one period of the sine. The curve has 200 points.\n\n")
    yield from code_round(builder, TITLED_PLOT, output="maximum 1.0\n", images=(draw_chart(),))
    yield from builder.text_chunks(
        "The curve begins at **0**. Its highest point is at $\\frac{\\pi}{2}$, and its lowest is at $4.71$.\n\n"
        "- The period is 6.28.\n- The mean is 0.\n\nYou can ask for a cosine next."
    )
    yield builder.last_chunk()


@scenario("image-shared-chunk")
def _image_shared_chunk(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """A graph in the same chunk as the result."""
    code_id = builder.new_id()
    yield builder.chunk(*_code_parts(builder, PLOT, code_id))
    graph = wire.image_part(draw_chart(seed=2))
    yield builder.chunk(wire.result_part("OUTCOME_OK", "done\n", code_id), graph, after_s=EXECUTION_S)
    yield from builder.text_chunks("The points follow a sine curve.")
    yield builder.last_chunk()


@scenario("image-twice")
def _image_twice(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """The same graph twice with equal bytes, as savefig() and show() in one block produce it."""
    yield from code_round(builder, PLOT, images=(draw_chart(seed=3), draw_chart(seed=3)))
    yield from builder.text_chunks("One graph, sent twice.")
    yield builder.last_chunk()


@scenario("image-two-sizes")
def _image_two_sizes(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """One chart in two sizes."""
    yield from code_round(builder, PLOT, images=(draw_chart(1600, 1000, seed=4), draw_chart(800, 500, seed=4)))
    yield from builder.text_chunks("The same chart in two sizes.")
    yield builder.last_chunk()


@scenario("images", amount=3)
def _images(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Three blocks of code (or the number given) with a different graph each and text between them."""
    for number in range(1, call.amount + 1):
        yield from code_round(builder, PLOT, output=f"{number}\n", images=(draw_chart(seed=10 + number),))
        yield from builder.text_chunks(f"That was graph number {number}.\n\n")
    yield builder.last_chunk()


@scenario("image-jpeg")
def _image_jpeg(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """A graph as JPEG."""
    code_id = builder.new_id()
    yield builder.chunk(*_code_parts(builder, PLOT, code_id))
    yield builder.chunk(wire.result_part("OUTCOME_OK", "", code_id), after_s=EXECUTION_S)
    yield builder.chunk(wire.image_part(draw_chart(seed=5, image_format="JPEG"), "image/jpeg"))
    yield builder.last_chunk()


@scenario("image-in-output")
def _image_in_output(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """A graph as a data: URL inside the result's output, between two printed lines."""
    data_url = "data:image/png;base64," + base64.b64encode(draw_chart(400, 250, seed=6)).decode()
    yield from code_round(builder, PLOT, output=f"before\n{data_url}\nafter\n")
    yield from builder.text_chunks("The graph came inside the output.")
    yield builder.last_chunk()


@scenario("image-invalid")
def _image_invalid(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Bytes with type image/png that are not an image."""
    yield from code_round(builder, PLOT, images=(b"<svg onload=alert(1)>this is no PNG",))
    yield from builder.text_chunks("The graph is broken.")
    yield builder.last_chunk()
