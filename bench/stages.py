"""The benchmark of stages: where the time to an answer's first part goes; `python -m bench stages`.

One chat at a time, each the first of its conversation, over Gemini's protocol and over chat completions. The clocks of
`bench.staged_server` take some microseconds.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.measurement import SINGLE, WARM_UP
from bench.processes import pin_client_process
from bench.product import make_template, run_product
from bench.tables import format_markdown_table, format_number
from bench.targets import run_upstream

STAGES_FILE = "stages.jsonl"
CHATS = 40
PROTOCOLS = {"Gemini": False, "chat completions": True}


class Stage(StrEnum):
    """The stages after the receipt of the question, in the order in which they end."""

    START_STORED = "the question and an empty answer are stored"
    STATE_READ = "the state of the tools is read"
    ROWS_READ = "the rows of the prompt are read"
    REQUEST_MADE = "the request is made"
    FIRST_EVENT = "the provider's first event has arrived"
    PART_STORED = "the first part is stored"
    RENDERED = "its frame is rendered"
    SENT = "the frame is sent"


CLIENT = "the client has received it"


def main(argv: Sequence[str]) -> None:
    """Measure both protocols, and print a table of medians."""
    parser = argparse.ArgumentParser(prog="python -m bench stages", description=__doc__)
    parser.add_argument("--chats", type=int, default=CHATS, help=f"default {CHATS}")
    options = parser.parse_args(argv)
    pin_client_process()
    with TemporaryDirectory(prefix="plotline-bench-", ignore_cleanup_errors=True) as path:
        ends = {name: measure(Path(path), name, options.chats) for name in PROTOCOLS}
    print(format_table(ends))


def measure(folder: Path, protocol: str, chats: int) -> dict[str, float]:
    """Return the median end of each stage in milliseconds, and the client's time from sending to receipt."""
    own = folder / protocol.replace(" ", "-")
    own.mkdir()
    template = make_template(own / "template", users=chats + WARM_UP.conversations, conversations_per_user=1)
    with (
        run_upstream(own) as upstream,
        run_product(
            template, upstream, own / "var", speaks_openai=PROTOCOLS[protocol], module="bench.staged_server"
        ) as product,
    ):
        product.run(WARM_UP)
        firsts_ms = [product.run(SINGLE).first_part_ms[0] for _ in range(chats)]
        lines = [json.loads(line) for line in (own / "var" / STAGES_FILE).read_text().splitlines()][-chats:]
    return {stage: statistics.median(line[stage] for line in lines) for stage in Stage} | {
        CLIENT: statistics.median(firsts_ms)
    }


def format_table(ends: Mapping[str, Mapping[str, float]]) -> str:
    """Return a Markdown table with a row for each stage."""
    rows = [("ms after the question", *ends)]
    rows += [(stage, *(format_number(times[stage], 1) for times in ends.values())) for stage in (*Stage, CLIENT)]
    return format_markdown_table(rows)
