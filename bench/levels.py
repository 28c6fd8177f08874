"""The relay: Plotline beside (a) the SDK alone and (b) a bare relay, back to back, held against its goals."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from functools import partial
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.baselines import running_relay, running_sdk_alone
from bench.browser import measure_browser
from bench.figures import Figures, medians, ratios
from bench.goals import goal_figures, goals_table
from bench.measuring import FULL, QUICK, TINY, Plan, measure, tell
from bench.peers import PEERS, running_peer
from bench.processes import settle_here
from bench.product import make_template, running_product
from bench.report import limits, table
from bench.results import machine, write
from bench.targets import Target, running_upstream

Starter = Callable[[], AbstractContextManager[Target]]


def arguments(argv: Sequence[str]) -> argparse.Namespace:
    """What was asked for on the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench [relay]", description=__doc__)
    plans = parser.add_mutually_exclusive_group()
    plans.add_argument("--quick", dest="plan", action="store_const", const=QUICK, default=QUICK, help="the default")
    plans.add_argument("--full", dest="plan", action="store_const", const=FULL, help="longer, and more levels")
    plans.add_argument("--tiny", dest="plan", action="store_const", const=TINY, help="only tries the harness itself")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="medians of so many runs (default 1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="default: var/bench/<date>-relay.json")
    parser.add_argument("--lean", action="store_true", help="also (c), a bare relay without the SDK")
    parser.add_argument("--only", action="store_true", help="Plotline alone, without the baselines")
    parser.add_argument("--no-browser", action="store_true", help="leave out the browser side (50 s a run)")
    parser.add_argument(
        "--peer",
        type=peer,
        action="append",
        default=[],
        metavar="NAME=PYTHON",
        help=f"also {', '.join(PEERS)}, by the python of the environment that it is installed in; more than once",
    )
    return parser.parse_args(argv)


def peer(value: str) -> tuple[str, str]:
    """A product's name and its python."""
    name, _, python = value.partition("=")
    if name not in PEERS:
        raise argparse.ArgumentTypeError(f"there is no driver for {name!r}; there are {', '.join(PEERS)}")
    found = shutil.which(python)
    if not found:
        raise argparse.ArgumentTypeError(f"{python!r} is no program; write {name}=DIR/bin/python")
    # It runs in a folder of its own. Links stay: they tell a Python its environment.
    return name, str(Path(found).absolute())


def run(options: argparse.Namespace) -> tuple[dict[str, list[Figures]], list[Figures]]:
    """All repeats of all targets, turn by turn, so that a slow spell of the machine meets each; then the browser's."""
    plan: Plan = options.plan
    found: dict[str, list[Figures]] = {}
    in_browser: list[Figures] = []
    with TemporaryDirectory(prefix="plotline-bench-", ignore_cleanup_errors=True) as path:
        folder = Path(path)
        each = ceil(plan.needed_conversations / plan.people)
        template = make_template(folder / "template", people=plan.people, conversations=each)
        for repeat in range(options.repeat):
            print(f"run {repeat + 1} of {options.repeat}", file=sys.stderr, flush=True)
            with running_upstream(folder) as upstream:
                starters: dict[str, Starter] = {
                    "sdk": partial(running_sdk_alone, upstream, folder),
                    "relay": partial(running_relay, "sdk", upstream, folder),
                    "lean": partial(running_relay, "lean", upstream, folder),
                    "plotline": partial(running_product, template, upstream, folder / f"product-{repeat}"),
                }
                for left_out in ["sdk", "relay"] * options.only + ["lean"] * (not options.lean):
                    del starters[left_out]
                for name, python in options.peer:
                    starters[name] = partial(running_peer, name, python, upstream, folder / f"{name}-{repeat}")
                for target_name, start in starters.items():
                    with start() as target:
                        found.setdefault(target_name, []).append(measure(target, plan, tell(target_name)))
            if not options.no_browser:
                in_browser.append(measure_browser(is_tiny=plan is TINY))
    return found, in_browser


def main(argv: Sequence[str]) -> None:
    """Measure, print and write; whatever ends it ends the processes it started."""
    options = arguments(argv)
    settle_here()
    about = machine()
    found, in_browser = run(options)
    results = {name: medians(repeats) for name, repeats in found.items()}
    browser = medians(in_browser)
    bases = [name for name in ("sdk", "relay") if name in results]
    written = about | {
        "plan": asdict(options.plan),
        "medians": results | {"browser": browser},
        "ratios": {name: ratios(results["plotline"], results[name]) for name in bases},
        "repeats": found | {"browser": in_browser},
    }
    path = write("relay", written, options.json)
    print(goals_table(goal_figures(results, browser)), end="\n\n")
    print(limits(results), end="\n\n")
    print(table(results, browser))
    print(f"\nWritten to {path}", file=sys.stderr)
