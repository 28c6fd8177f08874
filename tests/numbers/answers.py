"""Writes labelled answers about the tables of `tables`: true ones, and ones with altered figures. Pure.

One figure of every second answer is altered, or two that change places: a digit, the sign, the unit, the figure of a
neighbouring row, a swapped pair, or an invented figure. Whatever the sentences hold besides figures is no claim.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_EVEN, Decimal
from typing import NotRequired, TypedDict

from tests.numbers import phrases

ALTERATIONS = ("digit", "sign", "unit", "neighbour", "swap", "invented")
ANSWERS_OF_TABLE = 10
FIGURES = ("row", "pair", "total", "mean", "share", "change", "fall", "gap", "count", "cells", "scaled")


class Output(TypedDict):
    """An output of code, as `tables` prints it."""

    code: str
    text: str
    html: NotRequired[str]


class Column(TypedDict):
    """A column of figures."""

    name: str
    unit: str
    decimals: int


class Table(TypedDict):
    """A table with outputs about it, as `tables` prints it."""

    language: str
    labels: list[str]
    columns: list[Column]
    rows: list[list[float]]
    totals: list[float]
    means: list[float]
    shares: list[float]
    growth: list[float]
    outputs: list[Output]


@dataclass(frozen=True, slots=True)
class Figure:
    """A number that is written in an answer."""

    kind: str
    value: Decimal
    decimals: int
    unit: str = ""
    scale: int = 0
    """The power of ten of the scale word."""
    alteration: str = ""


@dataclass(frozen=True, slots=True)
class Span:
    """The position of a figure, or of other digits, in an answer."""

    start: int
    end: int
    kind: str
    """One of `FIGURES`, or `none` for digits that are no claim."""
    alteration: str
    """One of `ALTERATIONS`; empty for a true figure."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A labelled answer."""

    language: str
    question: str
    text: str
    spans: tuple[Span, ...]


Piece = str | Figure


def write_answers(table: Table, number: int) -> Iterator[Answer]:
    """Yield the answers about a table; every second one is altered. `number`: the number of the table, used as seed."""
    for index in range(ANSWERS_OF_TABLE):
        chance = random.Random(number * 100 + index)
        pieces = _pieces(table, chance)
        if index % 2:
            pieces = _alter(table, pieces, ALTERATIONS[(number * 5 + index // 2) % len(ALTERATIONS)], chance)
        yield _join(table["language"], pieces, chance)


def _pieces(table: Table, chance: random.Random) -> list[Piece]:
    language = table["language"]
    pieces: list[Piece] = [f"## 1. {phrases.HEADINGS[language]}\n\n"]
    sentences = chance.sample((_row, _row, _pair, _total, _mean, _share, _change, _gap, _count, _row, _scaled), 5)
    for sentence in sentences:
        pieces += [*sentence(table, chance), " "]
        if chance.random() < 0.3:
            pieces.append("\n\n")
    pieces += [chance.choice(phrases.NO_CLAIM[language]), "\n\n"]
    layout = chance.choice((_bullets, _cells, None))
    if layout:
        pieces += layout(table, chance)
    return pieces


def _figure(table: Table, kind: str, row: int, column: int, chance: random.Random) -> Figure:
    one = table["columns"][column]
    decimals = chance.randint(0, one["decimals"]) if one["decimals"] < 2 or chance.random() < 0.5 else one["decimals"]
    return _rounded(Figure(kind, Decimal(str(table["rows"][row][column])), decimals, one["unit"]))


def _rounded(figure: Figure) -> Figure:
    step = Decimal(1).scaleb(figure.scale - figure.decimals)
    return replace(figure, value=(figure.value / step).quantize(Decimal(1), ROUND_HALF_EVEN) * step)


def _fill(template: str, table: Table, rows: Sequence[int], column: int, figures: Sequence[Figure]) -> list[Piece]:
    name = table["columns"][column]["name"].rpartition("_")[0] or table["columns"][column]["name"]
    words = {"r": table["labels"][rows[0]], "s": table["labels"][rows[-1]], "c": name.replace("_", " ")}
    pieces: list[Piece] = []
    rest = template
    for slot, word in words.items():
        rest = rest.replace(f"{{{slot}}}", word)
    for slot, figure in zip("vw", figures, strict=False):
        before, _, rest = rest.partition(f"{{{slot}}}")
        pieces += [before, figure]
    return [*pieces, rest]


def _pick(table: Table, chance: random.Random) -> tuple[int, int, int]:
    first, second = chance.sample(range(len(table["labels"])), 2)
    return first, second, chance.randrange(len(table["columns"]))


def _row(table: Table, chance: random.Random) -> list[Piece]:
    row, _, column = _pick(table, chance)
    template = chance.choice(phrases.ROW[table["language"]])
    return _fill(template, table, [row], column, [_figure(table, "row", row, column, chance)])


def _pair(table: Table, chance: random.Random) -> list[Piece]:
    row, other, column = _pick(table, chance)
    figures = [_figure(table, "pair", one, column, random.Random(row)) for one in (row, other)]
    return _fill(chance.choice(phrases.PAIR[table["language"]]), table, [row, other], column, figures)


def _whole(table: Table, chance: random.Random, kind: str, values: list[float], templates: list[str]) -> list[Piece]:
    column = chance.randrange(len(values))
    one = table["columns"][column]
    decimals = min(one["decimals"], chance.randint(0, 2)) if kind == "total" else chance.randint(1, 2)
    figure = _rounded(Figure(kind, Decimal(str(round(values[column], 2))), decimals, one["unit"]))
    return _fill(chance.choice(templates), table, [0], column, [figure])


def _total(table: Table, chance: random.Random) -> list[Piece]:
    return _whole(table, chance, "total", table["totals"], phrases.TOTAL[table["language"]])


def _mean(table: Table, chance: random.Random) -> list[Piece]:
    return _whole(table, chance, "mean", table["means"], phrases.MEAN[table["language"]])


def _percent(value: float, kind: str, decimals: int) -> Figure:
    return _rounded(Figure(kind, Decimal(str(value)) * 100, decimals, "%"))


def _share(table: Table, chance: random.Random) -> list[Piece]:
    row, _, _ = _pick(table, chance)
    figure = _percent(table["shares"][row], "share", chance.randint(1, 2))
    return _fill(chance.choice(phrases.SHARE[table["language"]]), table, [row], 0, [figure])


def _change(table: Table, chance: random.Random) -> list[Piece]:
    row, _, _ = _pick(table, chance)
    growth = table["growth"][row]
    templates = phrases.RISE if growth > 0 else phrases.FALL
    figure = _percent(abs(growth), "change" if growth > 0 else "fall", chance.randint(1, 2))
    return _fill(chance.choice(templates[table["language"]]), table, [row], 0, [figure])


def _gap(table: Table, chance: random.Random) -> list[Piece]:
    row, other, column = _pick(table, chance)
    one = table["columns"][column]
    value = abs(Decimal(str(table["rows"][row][column])) - Decimal(str(table["rows"][other][column])))
    figure = _rounded(Figure("gap", value, one["decimals"], one["unit"]))
    return _fill(phrases.GAP[table["language"]][0], table, [row, other], column, [figure])


def _count(table: Table, chance: random.Random) -> list[Piece]:
    figure = Figure("count", Decimal(len(table["labels"])), 0)
    return _fill(phrases.COUNT[table["language"]][0], table, [0], 0, [figure])


def _scaled(table: Table, chance: random.Random) -> list[Piece]:
    """Return a sentence with a figure in millions, or an ordinary one if the table has none so large."""
    row, _, _ = _pick(table, chance)
    large = [n for n, value in enumerate(table["rows"][row]) if value >= 1_000_000]
    if not large:
        return _row(table, chance)
    scale = {"zh": 4, "hi": 5}.get(table["language"], 6)
    value = Decimal(str(table["rows"][row][large[0]]))
    figure = _rounded(Figure("scaled", value, 2, table["columns"][large[0]]["unit"], scale))
    return _fill(chance.choice(phrases.ROW[table["language"]]), table, [row], large[0], [figure])


def _bullets(table: Table, chance: random.Random) -> list[Piece]:
    column = chance.randrange(len(table["columns"]))
    pieces: list[Piece] = [f"{table['columns'][column]['name']}:\n\n"]
    for number, label in enumerate(table["labels"]):
        marker = f"{number + 1}." if column % 2 else "-"
        pieces += [f"{marker} **{label}**: ", _figure(table, "row", number, column, random.Random(column)), "\n"]
    return pieces


def _cells(table: Table, chance: random.Random) -> list[Piece]:
    columns = [0, len(table["columns"]) - 1]
    names = " | ".join(table["columns"][column]["name"] for column in columns)
    pieces: list[Piece] = [f"| {phrases.UNIT_COLUMN[table['language']]} | {names} |\n|---|---:|---:|\n"]
    for number, label in enumerate(table["labels"]):
        pieces.append(f"| {label} |")
        for column in columns:
            figure = _figure(table, "cells", number, column, random.Random(column))
            pieces += [" ", replace(figure, unit=""), " |"]
        pieces.append("\n")
    return pieces


def _alter(table: Table, pieces: list[Piece], alteration: str, chance: random.Random) -> list[Piece]:
    """Return the pieces with one figure altered, or two of them swapped."""
    figures = [n for n, piece in enumerate(pieces) if isinstance(piece, Figure)]
    altered = list(pieces)
    if alteration == "swap":
        pairs = [
            (one, other)
            for one in figures
            for other in figures
            if one < other and _can_swap(altered[one], altered[other])
        ]
        if pairs:
            one, other = chance.choice(pairs)
            left, right = altered[one], altered[other]
            assert isinstance(left, Figure)
            assert isinstance(right, Figure)
            altered[one] = replace(left, value=right.value, decimals=right.decimals, alteration="swap")
            altered[other] = replace(right, value=left.value, decimals=left.decimals, alteration="swap")
            return altered
        alteration = "digit"
    chance.shuffle(figures)
    for place in figures:
        piece = altered[place]
        assert isinstance(piece, Figure)
        if (changed := _altered(table, piece, alteration, chance)) is not None:
            altered[place] = replace(changed, alteration=alteration)
            return altered
    return altered


def _can_swap(one: Piece, other: Piece) -> bool:
    if not (isinstance(one, Figure) and isinstance(other, Figure)):
        return False
    is_alike = (one.kind, one.unit, one.scale) == (other.kind, other.unit, other.scale)
    return is_alike and one.value != other.value and one.kind in ("row", "pair", "cells")


def _altered(table: Table, figure: Figure, alteration: str, chance: random.Random) -> Figure | None:
    """Return an altered figure; `None` if this figure cannot be altered in this way."""
    step = Decimal(1).scaleb(figure.scale - figure.decimals)
    match alteration:
        case "digit":
            digits = list(str(abs(int(figure.value / step))))
            if len(digits) < 2:
                return None
            place = chance.randrange(len(digits))
            digits[place] = chance.choice([one for one in "123456789" if one != digits[place]])
            return replace(figure, value=Decimal("".join(digits)) * step * (-1 if figure.value < 0 else 1))
        case "sign":
            # A difference has no order, and a fall by -5 % means the same as a fall by 5 %.
            has_sign = figure.value and figure.kind not in ("count", "gap", "fall")
            return replace(figure, value=-figure.value) if has_sign else None
        case "unit":
            if figure.scale == 6:
                return replace(figure, scale=9, value=figure.value * 1000)
            other = {"€": "$", "kg": "t", "%": "€", "°C": "°F"}.get(figure.unit)
            return replace(figure, unit=other or "%") if other or figure.kind in ("row", "pair") else None
        case "neighbour":
            column = next((n for n, one in enumerate(table["columns"]) if one["unit"] == figure.unit), None)
            if figure.kind not in ("row", "pair", "cells", "scaled") or column is None:
                return None
            return _neighbour(table, figure, chance)
        case _:
            size = len(str(abs(int(figure.value / step))))
            if size < 2:
                return None
            return replace(figure, value=chance.randint(10 ** (size - 1), 10**size - 1) * step)


def _neighbour(table: Table, figure: Figure, chance: random.Random) -> Figure | None:
    """Return the figure of the row above or below, from the column that holds this figure."""
    for column, _ in enumerate(table["columns"]):
        values = [_rounded(replace(figure, value=Decimal(str(row[column])))).value for row in table["rows"]]
        if values.count(figure.value) == 1:
            row = values.index(figure.value)
            others = [n for n in (row - 1, row + 1) if 0 <= n < len(values) and values[n] != figure.value]
            return replace(figure, value=values[chance.choice(others)]) if others else None
    return None


def _join(language: str, pieces: Sequence[Piece], chance: random.Random) -> Answer:
    text, spans = "", []
    style = chance.randrange(3)
    for piece in pieces:
        start = len(text)
        text += piece if isinstance(piece, str) else write_figure(piece, language, style)
        if isinstance(piece, Figure):
            spans.append(Span(start, len(text), piece.kind, piece.alteration))
    return Answer(language, phrases.QUESTIONS[language], text, tuple(spans))


def write_figure(figure: Figure, language: str, style: int) -> str:
    """Return a figure in the spelling of the language. `style`: one of three habits of writers."""
    value = figure.value.scaleb(-figure.scale)
    digits = f"{abs(value):.{figure.decimals}f}"
    whole, _, fraction = digits.partition(".")
    point, group = {
        "en": (".", ","),
        "de": (",", "."),
        "fr": (",", ("\N{NARROW NO-BREAK SPACE}", "\N{NO-BREAK SPACE}", " ")[style]),
        "es": (",", "." if style else "\N{NO-BREAK SPACE}"),
        "zh": (".", "," if style else ""),
        "hi": (".", ","),
    }[language]
    text = _grouped(whole, group, is_indian=language == "hi") + (point + fraction if fraction else "")
    text = ("\N{MINUS SIGN}" if style else "-") * (figure.value < 0) + text
    if language == "hi" and style == 2:
        text = text.translate({ord("0") + n: chr(0x966 + n) for n in range(10)})
    if language == "zh" and style == 2:
        text = text.translate({ord("0") + n: chr(0xFF10 + n) for n in range(10)})
    return _with_unit(text + _scale_word(figure.scale, language, style), figure.unit, language, style)


def _grouped(whole: str, group: str, *, is_indian: bool) -> str:
    size = 3
    groups: list[str] = []
    while len(whole) > size:
        whole, last = whole[:-size], whole[-size:]
        groups.insert(0, last)
        size = 2 if is_indian else 3
    return group.join([whole, *groups])


def _scale_word(scale: int, language: str, style: int) -> str:
    words = {
        ("en", 6): (" million", "M", "m"),
        ("en", 9): (" billion", "B", "bn"),
        ("de", 6): (" Mio.", " Millionen", " Mio"),
        ("de", 9): (" Mrd.", " Milliarden", " Mrd"),
        ("fr", 6): (" millions", " M", " millions"),
        ("fr", 9): (" milliards", " Md", " milliards"),
        ("es", 6): (" millones", " M", " millones"),
        ("es", 9): (" mil millones", " mil millones", " mil millones"),
        ("zh", 4): ("万", "万", " 万"),
        ("hi", 5): (" लाख", " लाख", " lakh"),
    }
    return words[language, scale][style] if scale else ""


def _with_unit(text: str, unit: str, language: str, style: int) -> str:
    if unit in ("€", "$") and language == "en":
        sign = text[:1] if text[:1] in "-\N{MINUS SIGN}" else ""
        return sign + unit + text.removeprefix(sign) if style else f"{text} {'EUR' if unit == '€' else 'USD'}"
    if unit == "%" and language in ("en", "zh", "hi"):
        return text + "%" if style else {"en": f"{text} percent", "zh": f"{text}%", "hi": f"{text} प्रतिशत"}[language]
    return f"{text}\N{NO-BREAK SPACE}{unit}" if unit else text
