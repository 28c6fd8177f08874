"""Compares the results of two runs of the same code.

Text must be equal, except addresses of objects and white space at the ends of lines. Whole numbers in it must be equal.
Other numbers may differ by `TOLERANCE` of the larger one, or by `ABSOLUTE_TOLERANCE`: rounding may give -1e-17 instead
of 0.0. Images must look alike: two images are compared by a difference hash, which does not depend on their size. The
images come from untrusted code: one may be broken, or so large that decoding it would fill the memory.

Pure: no clock, no kernel, no database.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import zip_longest

from PIL import Image

from attachments.validation import UnreadableImage, inspect_image
from chat.python.kernels.limit_sentences import Limit
from chat.vocabulary.parts import OUTCOME_DEADLINE_EXCEEDED, OUTCOME_FAILED, OUTCOME_OK

TOLERANCE = 1e-6
"""Maximum difference of numbers with a decimal point or an exponent, relative to the larger one."""
ABSOLUTE_TOLERANCE = 1e-12
"""Maximum absolute difference that is always allowed. So all numbers that are much smaller than this count as equal."""
HASH_SIDE = 16
"""Number of rows of a difference hash, and of bits in each row."""
HASH_LIMIT_BITS = 10
"""Maximum number of different bits in the hashes of two images that look alike: 4 % of the bits."""
PIXEL_LIMIT = 16_000_000
"""Maximum number of pixels of an image that is decoded. Comparing takes about 12 bytes of memory for each pixel."""
QUOTE_LIMIT_CHARS = 80

_LIMIT_NAMES = tuple(f"{limit.value}: " for limit in Limit)
_NUMBER = re.compile(r"(-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?)")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,16}")


class Verdict(StrEnum):
    """The result of running code again."""

    REPRODUCED = "reproduced"
    DIFFERS = "differs"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class RunOutput:
    """The output, the outcome and the images of code that ran."""

    outcome: str
    """One of the `OUTCOME_` constants, or another word of a provider, which does not say whether the code failed."""
    text: str
    images: tuple[bytes, ...] = ()
    is_cut: bool = False
    """Whether the end of the output is unknown, because it was too long to be stored."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A verdict, and a sentence that explains it."""

    verdict: Verdict
    detail: str


def compare(before: RunOutput, after: RunOutput) -> Comparison:
    """Compare two runs of the same code. If the first output is cut, the second is compared only up to there."""
    if after.outcome == OUTCOME_DEADLINE_EXCEEDED:
        if before.outcome == OUTCOME_DEADLINE_EXCEEDED:
            return Comparison(Verdict.REPRODUCED, "The code ran out of time again.")
        return Comparison(Verdict.FAILED, "The code ran out of time.")
    if after.outcome != OUTCOME_OK:
        return _compare_failures(before, after)
    if before.outcome in (OUTCOME_FAILED, OUTCOME_DEADLINE_EXCEEDED):
        return Comparison(Verdict.DIFFERS, "The code did not run to its end before. Now it does.")
    return _compare_outputs(before, after)


def _compare_outputs(before: RunOutput, after: RunOutput) -> Comparison:
    if before.is_cut:
        after = _cut_like(before, after)
    difference = text_difference(before.text, after.text) or image_difference(before.images, after.images)
    if difference:
        return Comparison(Verdict.DIFFERS, difference)
    return Comparison(Verdict.REPRODUCED, "The output is the same.")


def _cut_like(before: RunOutput, after: RunOutput) -> RunOutput:
    """Return the second output, cut at the same place as the first one, which is usually within a line."""
    old_lines = before.text.splitlines()
    lines = after.text.splitlines()[: len(old_lines)]
    if old_lines and len(lines) == len(old_lines):
        lines[-1] = lines[-1][: len(old_lines[-1])]
    return replace(after, text="\n".join(lines), images=after.images[: len(before.images)])


def _compare_failures(before: RunOutput, after: RunOutput) -> Comparison:
    error = last_line(after.text)
    if before.outcome != OUTCOME_FAILED:
        return Comparison(Verdict.FAILED, f"The code failed: {_quoted(error)}.")
    if before.is_cut:
        # The earlier error was in the part that was cut off, so only the outputs can be compared.
        return _compare_outputs(before, after)
    if _is_same_line(last_line(before.text), error):
        return Comparison(Verdict.REPRODUCED, "The code failed with the same error.")
    return Comparison(Verdict.DIFFERS, f"The code failed with another error: {_quoted(error)}.")


def last_line(text: str) -> str:
    """Return the last line that is not blank. In a traceback, it is the error.

    A sentence of the server about an exceeded limit is skipped, because it may be missing or have other numbers.
    """
    lines = (line.strip() for line in reversed(text.splitlines()))
    return next((line for line in lines if line and not line.startswith(_LIMIT_NAMES)), "")


def text_difference(before: str, after: str) -> str:
    """Return a sentence about the first line that differs. Empty: the texts are the same."""
    lines = zip_longest(before.rstrip().splitlines(), after.rstrip().splitlines())
    for number, (old, new) in enumerate(lines, 1):
        if old is None:
            return f"Line {number} is new: {_quoted(new)}."
        if new is None:
            return f"Line {number} is missing: {_quoted(old)}."
        if not _is_same_line(old, new):
            return f"Line {number} was {_quoted(old)} and is now {_quoted(new)}."
    return ""


def _is_same_line(old: str, new: str) -> bool:
    if old == new:
        return True
    old_pieces, new_pieces = (_NUMBER.split(_ADDRESS.sub("0x…", line.rstrip())) for line in (old, new))
    # `split` returns text and numbers in turn, so the numbers have the odd positions.
    return (
        len(old_pieces) == len(new_pieces)
        and old_pieces[::2] == new_pieces[::2]
        and all(map(_is_same_number, old_pieces[1::2], new_pieces[1::2]))
    )


def _is_same_number(old: str, new: str) -> bool:
    if _is_whole(old) and _is_whole(new):
        return old == new
    return math.isclose(float(old), float(new), rel_tol=TOLERANCE, abs_tol=ABSOLUTE_TOLERANCE)


def _is_whole(number: str) -> bool:
    return number.removeprefix("-").isdecimal()


def image_difference(before: Sequence[bytes], after: Sequence[bytes]) -> str:
    """Return a sentence about the first image that looks different. Empty: all look alike."""
    if len(before) != len(after):
        return f"There {_were(len(before))} before, and there {_are(len(after))} now."
    for number, (old, new) in enumerate(zip(before, after, strict=True), 1):
        if old == new:
            continue
        try:
            bits = (difference_hash(old) ^ difference_hash(new)).bit_count()
        except UnreadableImage:
            return f"Graph {number} has other bytes, and it is broken or too large to be compared by its look."
        if bits > HASH_LIMIT_BITS:
            share = bits / HASH_SIDE**2
            return f"Graph {number} looks different: {share:.0%} of its difference hash."
    return ""


def difference_hash(data: bytes) -> int:
    """Return the hash of an image: a bit for each pair of neighbours in a row, set if the left one is brighter.

    Raises UnreadableImage if the image is broken, or has more than `PIXEL_LIMIT` pixels.
    """
    info = inspect_image(data)
    if info.width * info.height > PIXEL_LIMIT:
        raise UnreadableImage("This image has too many pixels to be compared.")
    try:
        with Image.open(io.BytesIO(data)) as image:
            small = image.convert("RGBA")
    except (OSError, ValueError, SyntaxError, EOFError, ArithmeticError, LookupError, TypeError) as error:
        # Pillow's decoders raise any of these errors for broken data.
        raise UnreadableImage("This image is broken.") from error
    # Pages show a transparent graph on white, so it is compared on white.
    white = Image.new("RGBA", small.size, "white")
    gray = Image.alpha_composite(white, small).convert("L").resize((HASH_SIDE + 1, HASH_SIDE))
    pixels = gray.tobytes()
    bits = 0
    for row in range(HASH_SIDE):
        start = row * (HASH_SIDE + 1)
        for left, right in zip(pixels[start:], pixels[start + 1 : start + 1 + HASH_SIDE], strict=False):
            bits = bits << 1 | (left > right)
    return bits


def _were(count: int) -> str:
    return f"was {count} graph" if count == 1 else f"were {count} graphs"


def _are(count: int) -> str:
    return f"is {count} graph" if count == 1 else f"are {count} graphs"


def _quoted(text: str) -> str:
    text = text.strip()
    return f"“{text if len(text) <= QUOTE_LIMIT_CHARS else text[: QUOTE_LIMIT_CHARS - 1] + '…'}”"
