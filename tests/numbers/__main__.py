"""Prints how well the ledger judges labelled answers: `python -m tests.numbers [FILE] [--examples] [NUMBER]`.

FILE: `fresh` or `independent`, to use the answers of this file instead of the generated ones. `--examples`: also print
the numbers that the ledger judged wrong. NUMBER: the number of the first table; the ledger was developed with the
tables from 0 on.
"""

from __future__ import annotations

import sys

from tests.numbers.measure import LABELLED, measure, measure_labelled, read_tables


def main() -> None:
    """Measure, and print one line for each language and kind."""
    number = next((int(one) for one in sys.argv if one.isdigit()), 0)
    name = next((one for one in sys.argv if one in LABELLED), "")
    counts = measure_labelled(name) if name else measure(read_tables(number))
    for key in sorted(counts.seen):
        flagged, unread = counts.share(counts.flagged, key), counts.share(counts.unread, key)
        print(f"{key:20} {counts.seen[key]:6,} figures, {flagged:6.1%} without a source, {unread:6.1%} not read")
    if "--examples" in sys.argv:
        for example in counts.examples:
            print(*example, sep=" | ")


if __name__ == "__main__":
    main()
