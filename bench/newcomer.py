"""The newcomer benchmark: ten first tasks and ten first questions in Chromium; `python -m bench newcomer`.

They are done on what `make run` starts, with the demo model; see `bench.newcomer_tasks` and `bench.first_questions`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.chromium import run_chromium
from bench.demo_site import run_demo_site
from bench.first_questions import FirstAnswer, ask_first_questions
from bench.newcomer_tasks import Newcomer, TaskResult
from bench.processes import BenchError
from bench.results import describe_environment, write_result
from bench.tables import format_markdown_table, format_number


def main(argv: Sequence[str]) -> None:
    """Do the tasks, write the result and print a table. Raise BenchError if the result of a task is wrong."""
    parser = argparse.ArgumentParser(prog="python -m bench newcomer", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="result file (default in var/bench/)")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="save a picture of each step")
    options = parser.parse_args(argv)
    if options.pictures:
        options.pictures.mkdir(parents=True, exist_ok=True)
    with (
        run_chromium() as browser,
        TemporaryDirectory(prefix="plotline-bench-", ignore_cleanup_errors=True) as name,
        run_demo_site(Path(name)) as site,
    ):
        results = Newcomer(browser, site, options.pictures).do_tasks()
        answers = ask_first_questions(browser, site)
    figures = {"tasks": [asdict(one) for one in results], "questions": [asdict(one) for one in answers]}
    path = write_result("newcomer", describe_environment() | figures, options.json)
    print(format_tasks_table(results))
    print(f"\n{format_questions_table(answers)}")
    print(f"\nWritten to {path}", file=sys.stderr)
    errors = {one.task: one.error for one in results} | {one.question: one.error for one in answers}
    if failed := [f"{name}: {error}" for name, error in errors.items() if error]:
        raise BenchError("\n".join(failed))


def format_tasks_table(results: Sequence[TaskResult]) -> str:
    """Return a Markdown table with a row for each task. Tasks without a correct result have no figures."""
    rows = [("task", "clicks", "keys", "seconds")]
    for result in results:
        if result.error:
            rows.append((result.task, "FAILED", "-", "-"))
        else:
            rows.append((result.task, str(result.clicks), str(result.keys), format_number(result.seconds, 1)))
    return format_markdown_table(rows)


def format_questions_table(answers: Sequence[FirstAnswer]) -> str:
    """Return a Markdown table with a row for each question, and the seconds until it is answered by code."""
    rows = [("question", "first answer", "seconds")]
    for one in answers:
        outcome = "three questions as buttons" if one.is_refused else "code"
        figures = ("FAILED", "-") if one.error else (outcome, format_number(one.seconds, 1))
        rows.append((one.question, *figures))
    return format_markdown_table(rows)
