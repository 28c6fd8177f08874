"""Scenarios of complete answers: text, thoughts, code that the service runs, and images. No code is run."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

from tests.scenarios.asked import Asked, Script
from tests.scenarios.steps import Chart, Code, End, Image, Step, Text, Thought
from tests.scenarios.texts import HOSTILE, MARKDOWN, PLAIN, PLOT, PRODUCT, TITLED_PLOT, TRACEBACK, UNICODE

NOISE = "OpenBLAS WARNING - could not determine the L2 cache size on this system, assuming 256k\n"
SCRIPT = "<script>window.plotlineBroken = true</script>"
SQUARES = "".join(f"{number:6d} {number * number:12d}\n" for number in range(50_000))
SINE = (
    "The curve begins at **0**. Its highest point is at $\\frac{\\pi}{2}$, and its lowest is at $4.71$.\n\n"
    "- The period is 6.28.\n- The mean is 0.\n\nYou can ask for a cosine next."
)


def long(asked: Asked) -> Iterator[Step]:
    """Write Markdown of 100 KB (or the number given) in pieces of 5 to 1145 characters, mostly about 70."""
    rng = random.Random(asked.amount or 100)
    left_bytes = (asked.amount or 100) * 1024
    section = 0
    while left_bytes > 0:
        section += 1
        block = MARKDOWN.replace("Three ways to sort", f"Section {section}").encode()[:left_bytes].decode()
        left_bytes -= len(block.encode())
        while block:
            # Log-normal around the median of real streams: 70 characters, p10 5, p90 244.
            size = max(5, min(1145, round(rng.lognormvariate(4.25, 1.1))))
            yield Text(block[:size], whole=True)
            block = block[size:]
    yield End()


def paragraphs(asked: Asked) -> Iterator[Step]:
    """Write 1,000 short paragraphs (or the number given), 50 in each piece."""
    lines = [
        f"Paragraph {number} is *short*, and has `code` and $x_{{{number}}}$.\n\n"
        for number in range(asked.amount or 1000)
    ]
    for start in range(0, len(lines), 50):
        yield Text("".join(lines[start : start + 50]), whole=True)
    yield End()


def thought_and_graph(asked: Asked) -> Iterator[Step]:
    """Think for 2 seconds (or the number given), and draw."""
    yield Thought("**Choosing a curve**\n\nA sine wave shows ")
    yield Thought("one full period.\n\n\n", after_s=asked.amount or 2)
    yield Text("I will draw one period of the sine. The curve has 200 points.\n\n")
    yield Code(TITLED_PLOT, "maximum 1.0\n", images=(Chart(),))
    yield from (Text(SINE), End())


def images(asked: Asked) -> Iterator[Step]:
    """Draw three graphs (or the number given) with text between them."""
    for number in range(1, (asked.amount or 3) + 1):
        yield Code(PLOT, f"{number}\n", images=(Chart(seed=10 + number),))
        yield Text(f"That was graph number {number}.\n\n")
    yield End()


def image_model(asked: Asked) -> Iterator[Step]:
    """Send an image (or the number given, each with a text), as image models do."""
    for number in range(asked.amount or 1):
        yield Text(f"And number {number + 1}:\n" if number else "Here is your picture:\n")
        yield Image(Chart(640, 640, seed=9 + number))
    yield End()


ANSWERS: Mapping[str, Script] = {
    "text": (Text(PLAIN), End()),
    "markdown": (Text(MARKDOWN), End()),
    "hostile": (Text(HOSTILE), Code(f"print('{SCRIPT}')", f"{SCRIPT}\n[GRAPH:1]\n"), End()),
    "hostile-text": (Text(HOSTILE), End()),
    "unicode": (Text(UNICODE), End()),
    "long": long,
    "paragraphs": paragraphs,
    "thoughts": (
        Thought("**Reading the question**\n\nThe question is about smoothing a daily series.\n\n\n"),
        Thought("**Choosing an example**\n\nA window of one week is what most readers know.\n\n\n"),
        *(Text(PLAIN), End()),
    ),
    "thoughts-between": (
        *(Thought("Where to begin?\n\n"), Text("I begin with the mean. ")),
        *(Thought("And how to end?\n\n"), Text("I end with the median."), End()),
    ),
    "max-tokens": (Text(PLAIN[:90], "MAX_TOKENS"),),
    "max-tokens-without-text": (Thought("**Thinking it over**\n\nThis needs some care.\n\n\n"), End("MAX_TOKENS")),
    "max-tokens-unseen": (End("MAX_TOKENS"),),
    "blocked": (Text(PLAIN[:90]), End("OTHER")),
    "code": (Code(PRODUCT, "42\n"), Text("The product of 6 and 7 is **42**."), End()),
    "code-two-rounds": (
        Code(PRODUCT, "42\n"),
        Code("print(product + 100)", "142\n"),
        *(Text("First 42, then 142."), End()),
    ),
    "code-failed": (
        Code("print(1 / 0)", NOISE + TRACEBACK, "OUTCOME_FAILED"),
        Code("print(float('inf'))", "inf\n"),
        *(Text("Division by zero has no result; its limit is infinite."), End()),
    ),
    "code-deadline": (
        Code("print('start')\nwhile True:\n    pass", "start\n", "OUTCOME_DEADLINE_EXCEEDED"),
        *(Text("The code ran longer than allowed."), End()),
    ),
    "code-only": (Code(PRODUCT, "42\n"), End()),
    "code-large-output": (Code("for n in range(50_000):\n    print(n, n * n)", SQUARES), End()),
    "result-without-output": (Code("table = [n * n for n in range(10)]"), Text("The table is ready."), End()),
    "image": (
        Code(PLOT, "Plot saved as plot.png\n", images=(Chart(),)),
        *(Text("The points follow a sine curve."), End()),
    ),
    "image-twice": (Code(PLOT, images=(Chart(seed=3), Chart(seed=3))), Text("One graph, sent twice."), End()),
    "image-two-sizes": (
        Code(PLOT, images=(Chart(1600, 1000, seed=4), Chart(800, 500, seed=4))),
        *(Text("The same chart in two sizes."), End()),
    ),
    "image-jpeg": (Code(PLOT, images=(Chart(seed=5, image_format="JPEG"),)), End()),
    "image-model": image_model,
    "images": images,
    "thought-and-graph": thought_and_graph,
}
"""Name of the scenario -> script."""
