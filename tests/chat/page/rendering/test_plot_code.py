"""Captions of graphs are read from any code, and no code is run or makes the reader fail."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.page.rendering.plot_code import NO_CAPTION, TEXT_LIMIT_CHARS, Caption, caption_of
from chat.vocabulary.code_syntax import CODE_LIMIT_CHARS
from tests.time_growth import GROWTH_LIMIT, time_growth

PIECES = (
    "import matplotlib.pyplot as plt\n",
    "plt.figure()\n",
    "fig, (a, b) = plt.subplots(1, 2)\n",
    "plt.plot(x)\n",
    "a.set_title('A')\n",
    "plt.title(f'{a} of \\d {b:{c}}')\n",
    "for a in range(3):\n    plt.show()\n",
    "x = '\\ud800'\n",
    "plt.xlabel(a + b + 'c')\n",
    "(((",
    "'''",
    "plt.title(",
    "def draw(title):\n    plt.title(title)\n",
    "df.plot(kind='bar', title=x)\n",
)


@pytest.mark.parametrize(
    ("code", "caption"),
    [
        (
            "plt.plot(x, y)\nplt.title('Sine wave')\nplt.xlabel('x in radians')\nplt.ylabel('y')\nplt.show()",
            Caption("Sine wave", "Line chart", "x in radians", "y"),
        ),
        (
            "fig, ax = plt.subplots()\nax.bar(a, b)\nax.set(title='Sales', ylabel='t')",
            Caption("Sales", "Bar chart", "", "t"),
        ),
        ("df.plot(kind='hist', title='Ages', xlabel='years')", Caption("Ages", "Histogram", "years")),
        ("df.plot.scatter(x='a', y='b')", Caption("", "Scatter plot")),
        ("plt.imshow(a)\nplt.suptitle('All')\nplt.title('One')", Caption("All", "Image plot")),
        ("name = 'Oslo'\nplt.title(f'{name} in {year}')\nplt.pie(x)", Caption("", "Pie chart")),
        ("plt.title('Mean ' + 'and sum')", Caption("Mean and sum")),
        ("for name in names:\n    plt.title(name)", NO_CAPTION),
        ("name = 'a'\nfor name in names:\n    plt.title(name)", NO_CAPTION),
        ("plt.title(f'{a}')\nplt.boxplot(x)", Caption("", "Box plot")),
        (r"plt.title(r'$\sin(x)$')", Caption("sin(x)")),
        ("plt.title('two\\nlines\\u202e \\ud800')", Caption("two lines")),
        ("%matplotlib inline\nsns.heatmap(a).set_title('Heat')", Caption("Heat", "Heat map")),
        ("px.line(df, title='Rates')", Caption("Rates", "Line chart")),
        ("plt.contourf(a)\nprint('plain'.title())", Caption("", "Contour plot")),
        ("plt.plot(", NO_CAPTION),
        ("import os; os._exit(1)", NO_CAPTION),
    ],
)
def test_caption_of_a_graph_is_read_from_the_code_that_drew_it(code: str, caption: Caption) -> None:
    assert caption_of(code, 0) == caption


@pytest.mark.parametrize(
    ("code", "titles"),
    [
        ("plt.plot(a)\nplt.title('A')\nplt.show()\nplt.plot(b)\nplt.title('B')\nplt.show()", ["A", "B", ""]),
        ("f, a = plt.subplots()\ng, b = plt.subplots()\nb.set_title('B')\na.set_title('A')", ["A", "B", ""]),
        ("plt.figure()\nplt.figure()\nplt.title('A')\nplt.figure()\nplt.title('B')", ["A", "B", ""]),
        ("fig, axes = plt.subplots(2)\naxes[0].set_title('A')\naxes[1].set_title('B')", ["A", "", ""]),
        ("for x in y:\n    plt.figure()\n    plt.title('A')\nplt.figure()\nplt.title('B')", ["A", "", ""]),
        ("def draw():\n    plt.title('A')\n    plt.show()\ndraw()\ndraw()", ["A", "", ""]),
        ("f, (a, b) = plt.subplots(2)\ng, c = plt.subplots()\nsns.lineplot(x, ax=b)\na.set_title('A')", ["A", "", ""]),
    ],
)
def test_each_graph_of_one_block_of_code_gets_its_own_title(code: str, titles: list[str]) -> None:
    assert [caption_of(code, number).title for number in range(3)] == titles


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=20), max_size=20), st.integers(0, 3))
def test_any_code_gives_a_printable_caption_without_an_error(pieces: list[str], number: int) -> None:
    caption = caption_of("".join(pieces), number)
    for text in (caption.title, caption.kind, caption.x_label, caption.y_label):
        text.encode()
        assert len(text) <= TEXT_LIMIT_CHARS
        assert text.isprintable()
        assert text == text.strip()


@pytest.mark.parametrize(
    "text", ["-" * 5000 + "1", "a" + ".a" * 5000, "(" * 5000, "1" + "+1" * 1500, "a\0", "f" + "()" * 900]
)
def test_deeply_nested_or_invalid_code_has_no_caption(text: str) -> None:
    assert caption_of(f"plt.title('A')\nx = {text}", 0) == NO_CAPTION


def test_long_code_has_no_caption() -> None:
    assert caption_of("plt.title('A')\n" + "#" * CODE_LIMIT_CHARS, 0) == NO_CAPTION


def test_time_to_read_captions_is_linear_in_the_length_of_the_code() -> None:
    # Results are kept, so each call reads another code.
    numbers = itertools.count()

    def read(length: int) -> None:
        line = "ax = a.b().c(f'{t}{t}' + t).d.set_title(t + t)\n"
        caption_of(f"t = {next(numbers)}\n" + line * (length // len(line)), 0)

    assert time_growth(read, 40_000) < GROWTH_LIMIT
