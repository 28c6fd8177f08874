"""Measures how the product reads the corpus: `python -m tests.tables.measure [--kind K] [--failures]`."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import django

from tests.tables.compare import ASKED, RIGHT, VERDICTS, WRONG, Outcome, compare
from tests.tables.corpus import make_cases
from tests.tables.corpus.case import Case
from tests.tables.readers import describe_file

# Readings that are wrong only because a note is missing.
NOTE_ONLY = "only a note missing"


def measure(cases: Iterable[Case]) -> Iterator[tuple[Case, Outcome]]:
    """Yield each case with the verdict on its reading. Every file lies in a temporary folder while it is read."""
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            path = Path(folder) / case.name
            path.write_bytes(case.data)
            yield case, compare(case, describe_file(path, case.data))
            path.unlink()


def _format_line(kind: str, found: Counter[str]) -> str:
    files = sum(found[verdict] for verdict in VERDICTS)
    return f"{kind:<22}{files:>7}" + "".join(f"{found[column]:>{len(column) + 3}}" for column in (*VERDICTS, NOTE_ONLY))


def format_counts(counts: dict[str, Counter[str]]) -> str:
    """Return a table of the verdicts by kind, with a last line for all kinds."""
    total = sum(counts.values(), Counter[str]())
    columns = "".join(f"{column:>{len(column) + 3}}" for column in (*VERDICTS, NOTE_ONLY))
    lines = [_format_line(kind, found) for kind, found in [*counts.items(), ("all", total)]]
    files = max(sum(total[verdict] for verdict in VERDICTS), 1)
    good, asked = (total[RIGHT] + total[ASKED]) / files, total[ASKED] / files
    return "\n".join([f"{'kind':<22}{'files':>7}{columns}", *lines, f"right or asked {good:.1%}, asked {asked:.1%}"])


def main() -> None:
    """Print the verdicts by kind, and with `--failures` what was expected and found."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    parser = argparse.ArgumentParser(prog="python -m tests.tables.measure", description=__doc__)
    parser.add_argument("--kind", help="only this kind of files")
    parser.add_argument("--name", default="", help="only files whose name holds this text")
    parser.add_argument("--failures", action="store_true", help="print each case that is neither right nor asked")
    options = parser.parse_args()
    cases = [c for c in make_cases() if options.kind in (None, c.kind) and options.name in c.name]
    counts: dict[str, Counter[str]] = {}
    for case, outcome in measure(cases):
        found = counts.setdefault(case.kind, Counter())
        found[outcome.verdict] += 1
        found[NOTE_ONLY] += outcome.verdict == WRONG and all(d.aspect == "note" for d in outcome.differences)
        if options.failures and outcome.verdict not in (RIGHT, ASKED):
            print(f"{outcome.verdict}: {case.kind}: {case.name}")
            for difference in outcome.differences:
                print(f"    {difference}")
    print(format_counts(counts))


if __name__ == "__main__":
    main()
