"""Tracebacks keep the person's lines and the error, within limits of lines and characters."""

from __future__ import annotations

import pytest

from chat.python.kernels.tracebacks import CHARS_LIMIT, LINES_LIMIT, WHOLE_LINES_LIMIT, shorten_traceback

HEAD = "Traceback (most recent call last):"
OWN = "  Cell In[1], line 4, in f\n    return f()\n"
LIBRARY = '  File "pandas/core/frame.py", line 3, in g\n    return x\n'


def test_short_traceback_is_not_changed() -> None:
    text = f"{HEAD}\n{OWN}ValueError: x"
    assert shorten_traceback(text, "ValueError") == (text, "")


def test_shortened_traceback_leaves_out_library_frames_and_keeps_the_persons_own() -> None:
    one = f"{HEAD}\n{OWN}{LIBRARY * 20}KeyError: 'b'"
    short, whole = shorten_traceback(f"{one}\n\nDuring handling:\n\n{one}", "KeyError")
    expected = [HEAD, *OWN.splitlines(), "  [19 frames of libraries left out]", *LIBRARY.splitlines(), "KeyError: 'b'"]
    assert short.splitlines() == [*expected, "", "During handling:", "", *expected]
    assert len(whole.splitlines()) > LINES_LIMIT


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (f"{HEAD}\n{OWN * 1000}RecursionError: too deep", "RecursionError"),
        (f"{HEAD}\n{OWN}ValueError: {'x' * 200_000}", "ValueError"),
        (f"{HEAD}\n{OWN}ValueError: {'x' * 900 + chr(10)}" + f"{'y' * 900}\n" * 200, "ValueError"),
        ("\n".join(["z" * 5000] * 200), "Unknown"),
    ],
)
def test_long_traceback_is_shortened_and_keeps_the_name_of_its_error(text: str, name: str) -> None:
    short, whole = shorten_traceback(text, name)
    assert len(short.splitlines()) <= LINES_LIMIT
    assert len(short) <= CHARS_LIMIT
    assert len(whole.splitlines()) <= WHOLE_LINES_LIMIT
    assert name == "Unknown" or f"{name}: " in short
