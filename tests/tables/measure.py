"""Measures how a reader reads the corpus: `python -m tests.tables.measure [--kind K] [--reader R] [--failures]`."""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.tables.compare import ASKED, RIGHT, VERDICTS, Outcome, compare
from tests.tables.corpus import make_cases
from tests.tables.corpus.case import Case
from tests.tables.readers import READERS, Reader


def measure(cases: Iterable[Case], read: Reader) -> Iterator[tuple[Case, Outcome]]:
    """Yield each case with the verdict on its reading. Every file lies in a temporary folder while it is read."""
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            path = Path(folder) / case.name
            path.write_bytes(case.data)
            yield case, compare(case, read(path, case.data))
            path.unlink()


def format_counts(counts: dict[str, Counter[str]]) -> str:
    """Return a table of the verdicts by kind, with a last line for all kinds."""
    total = sum(counts.values(), Counter[str]())
    lines = [f"{'kind':<22}{'files':>7}" + "".join(f"{verdict:>{len(verdict) + 3}}" for verdict in VERDICTS)]
    for kind, found in [*counts.items(), ("all", total)]:
        cells = "".join(f"{found[verdict]:>{len(verdict) + 3}}" for verdict in VERDICTS)
        lines.append(f"{kind:<22}{found.total():>7}{cells}")
    files = max(total.total(), 1)
    good, asked = (total[RIGHT] + total[ASKED]) / files, total[ASKED] / files
    return "\n".join([*lines, f"right or asked {good:.1%}, asked {asked:.1%}"])


def main() -> None:
    """Print the verdicts by kind, and with `--failures` what was expected and found."""
    parser = argparse.ArgumentParser(prog="python -m tests.tables.measure", description=__doc__)
    parser.add_argument("--kind", help="only this kind of files")
    parser.add_argument("--name", default="", help="only files whose name holds this text")
    parser.add_argument("--reader", choices=READERS, default="ours")
    parser.add_argument("--failures", action="store_true", help="print each case that is neither right nor asked")
    parser.add_argument("--write", type=Path, help="write the files into this folder and read nothing")
    options = parser.parse_args()
    cases = [c for c in make_cases() if options.kind in (None, c.kind) and options.name in c.name]
    if options.write:
        options.write.mkdir(parents=True, exist_ok=True)
        for case in cases:
            (options.write / case.name).write_bytes(case.data)
        return
    counts: dict[str, Counter[str]] = {}
    for case, outcome in measure(cases, READERS[options.reader]):
        counts.setdefault(case.kind, Counter())[outcome.verdict] += 1
        if options.failures and outcome.verdict not in (RIGHT, ASKED):
            print(f"{outcome.verdict}: {case.kind}: {case.name}")
            for difference in outcome.differences:
                print(f"    {difference}")
    print(format_counts(counts))


if __name__ == "__main__":
    main()
