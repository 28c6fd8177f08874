"""Traces the numbers of labelled answers, and counts the verdicts of the ledger."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from subprocess import run

from chat.messages.numbers.ledger import trace_numbers
from chat.messages.numbers.sources import SourceText
from tests.environment import ROOT
from tests.numbers.answers import Answer, Table, write_answers

LABELLED = ("fresh", "independent")
"""Files of answers that were written and labelled without knowledge of the ledger. The faults that `fresh.json` showed
were mended; no rule was made for those of `independent.json`.
"""


@dataclass(slots=True)
class Counts:
    """Numbers of figures, and of those figures for which the ledger found no source."""

    seen: Counter[str] = field(default_factory=Counter)
    flagged: Counter[str] = field(default_factory=Counter)
    unread: Counter[str] = field(default_factory=Counter)
    examples: list[tuple[str, ...]] = field(default_factory=list)
    """For each wrong verdict of the ledger: key, figure, the text around it and its source."""

    def share(self, counted: Counter[str], key: str) -> float:
        """Return the share of the figures of a key that was counted."""
        return counted[key] / self.seen[key] if self.seen[key] else 0.0


def read_tables(first: int = 0) -> list[Table]:
    """Make 50 tables and their outputs with the Python of kernels. `first`: the number of the first table."""
    command = [str(ROOT / ".venv-kernel/bin/python"), "-m", "tests.numbers.tables", str(first)]
    lines = run(command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=300).stdout
    return [json.loads(line) for line in lines.splitlines()]


def measure_labelled(name: str) -> Counts:
    """Trace the answers of one of the files in `LABELLED`."""
    counts = Counts()
    for answer in json.loads((ROOT / f"tests/numbers/{name}.json").read_text()):
        text = answer["answer"]
        sources = [SourceText("output", output) for output in answer["outputs"]]
        sources += [SourceText("question", answer["question"]), SourceText("code", answer["code"])]
        traced = trace_numbers(text, sources)
        end = 0
        for label in answer["numbers"]:
            start = text.index(label["text"], end)
            end = start + len(label["text"])
            numbers = [one for one in traced if one.start < end and start < one.end]
            truth = label["truth"]
            for key in {truth, *(f"{truth} {one}" for one in (answer["language"], label.get("kind")) if one)}:
                counts.seen[key] += 1
                counts.flagged[key] += any(one.verdict == "nowhere" for one in numbers)
                counts.unread[key] += not numbers
            around = text[max(0, start - 60) : end + 30].replace("\n", "/")
            if any(one.verdict == "nowhere" for one in numbers) != (label["truth"] == "altered"):
                counts.examples.append((f"{label['truth']} {answer['language']}", label["text"], around, label["from"]))
    return counts


def table_sources(table: Table, question: str) -> list[SourceText]:
    """Return the outputs about a table, the question and the code, in the form in which the ledger gets them."""
    outputs = [SourceText("output", one["text"], None, index) for index, one in enumerate(table["outputs"])]
    code = [SourceText("code", one["code"]) for one in table["outputs"]]
    return [*outputs, SourceText("question", question), *code]


def measure(tables: Iterable[Table]) -> Counts:
    """Trace the answers about all tables."""
    counts = Counts()
    for number, table in enumerate(tables):
        for answer in write_answers(table, number):
            _count(answer, table_sources(table, answer.question), counts)
    return counts


def _count(answer: Answer, sources: list[SourceText], counts: Counts) -> None:
    traced = trace_numbers(answer.text, sources)
    claims: set[int] = set()
    for span in answer.spans:
        numbers = [one for one in traced if one.start < span.end and span.start < one.end]
        claims.update(one.start for one in numbers)
        is_flagged = any(one.verdict == "nowhere" for one in numbers)
        for key in _keys(answer, span.kind, span.alteration):
            counts.seen[key] += 1
            counts.flagged[key] += is_flagged
            counts.unread[key] += not numbers
        if is_flagged != bool(span.alteration):
            around = answer.text[max(0, span.start - 60) : span.end + 30].replace("\n", "/")
            key = f"{span.alteration or 'true'} {span.kind} {answer.language}{'' if numbers else ' unread'}"
            why = numbers[0].note or (numbers[0].hit.line_text if numbers[0].hit else "") if numbers else ""
            counts.examples.append((key, answer.text[span.start : span.end], around, why))
    for one in traced:
        if one.start not in claims:
            counts.seen["no claim"] += 1
            counts.flagged["no claim"] += one.verdict == "nowhere"
            around = answer.text[max(0, one.start - 30) : one.end + 20].replace("\n", "/")
            counts.examples.append((f"no claim {answer.language}", answer.text[one.start : one.end], around))


def _keys(answer: Answer, kind: str, alteration: str) -> Iterator[str]:
    name = "altered" if alteration else "true"
    yield name
    yield f"{name} {answer.language}"
    yield f"{name} {alteration or kind}"
