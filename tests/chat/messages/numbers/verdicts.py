"""Traces the numbers of a short answer."""

from __future__ import annotations

from chat.messages.numbers.ledger import trace_numbers
from chat.messages.numbers.sources import SourceText, Verdict


def verdicts(output: str, text: str, *, question: str = "", code: str = "") -> list[Verdict]:
    """Return the verdicts on the numbers of a text, in their order."""
    sources = [SourceText("output", output), SourceText("question", question), SourceText("code", code)]
    return [one.verdict for one in trace_numbers(text, sources)]
