"""The relay benchmark: Plotline, the bare relay and other products in one run, compared with Plotline's goals."""

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

from bench.baseline import run_bare_relay
from bench.browser import measure_browser
from bench.figures import Figures, compute_medians, compute_ratios
from bench.goals import RELAY_GOALS, collect_goal_figures, format_goals_table
from bench.measurement import FULL, QUICK, TINY, Plan, make_level_logger, measure_target
from bench.peers import PEERS, check_peer, run_peer
from bench.processes import pin_client_process
from bench.product import GEMINI, PROTOCOLS, Template, make_template, run_product
from bench.report import DETAIL_MEASURES, MAIN_MEASURES, format_figures_table, format_rate_limits
from bench.results import describe_environment, write_result
from bench.targets import Target, Upstream, run_upstream

TargetStarter = Callable[[], AbstractContextManager[Target]]


def parse_arguments(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench [relay]", description=__doc__)
    plans = parser.add_mutually_exclusive_group()
    plans.add_argument(
        "--full", dest="plan", action="store_const", const=FULL, default=QUICK, help="more and longer levels"
    )
    plans.add_argument("--tiny", dest="plan", action="store_const", const=TINY, help="only test the harness")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="report medians of N runs (default 1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="result file (default var/bench/<date>-relay.json)")
    parser.add_argument(
        "--protocol",
        nargs="+",
        choices=PROTOCOLS[1:],
        default=["openai"],
        help="also measure models that are asked by these protocols (default openai)",
    )
    parser.add_argument("--only", action="store_true", help="measure Plotline without the bare relay")
    parser.add_argument("--no-browser", action="store_true", help="skip the browser, which takes 50 s per run")
    parser.add_argument(
        "--peer",
        type=parse_peer,
        action="append",
        default=[],
        metavar="NAME=PYTHON",
        help=f"also measure {', '.join(PEERS)}, with the Python of its virtual environment (repeatable)",
    )
    return parser.parse_args(argv)


def parse_peer(value: str) -> tuple[str, str]:
    """Return the name of a product and the absolute path of its Python."""
    name, _, python = value.partition("=")
    if name not in PEERS:
        raise argparse.ArgumentTypeError(f"unknown product {name!r}; known products are {', '.join(PEERS)}")
    path = shutil.which(python)
    if not path:
        raise argparse.ArgumentTypeError(f"{python!r} is not a program; write {name}=DIR/bin/python")
    # The path must be absolute, because the product runs in its own folder. It must not be resolved, because Python
    # finds its virtual environment by the link.
    return name, str(Path(path).absolute())


def make_starters(
    options: argparse.Namespace, template: Template, upstream: Upstream, folder: Path, repeat: int
) -> dict[str, TargetStarter]:
    """Return a function for each target that the options select, in the order of the measurement."""
    starters: dict[str, TargetStarter] = {}
    if not options.only:
        starters["relay"] = partial(run_bare_relay, upstream, folder)
    for protocol in dict.fromkeys((GEMINI, *options.protocol)):
        name, var_dir = name_of_target(protocol), folder / f"product-{protocol}-{repeat}"
        starters[name] = partial(run_product, template, upstream, var_dir, protocol=protocol)
    for name, python in options.peer:
        starters[name] = partial(run_peer, name, python, upstream, folder / f"{name}-{repeat}")
    return starters


def name_of_target(protocol: str) -> str:
    """Return the name of Plotline's figures for a protocol of the model."""
    return "plotline" if protocol == GEMINI else f"plotline-{protocol}"


def measure_all(options: argparse.Namespace) -> tuple[dict[str, list[Figures]], list[Figures]]:
    """Return the figures of each repeat, by target, and those of the browser.

    Each repeat measures every target, so that a slow phase of the machine affects all of them.
    """
    plan: Plan = options.plan
    figures_by_target: dict[str, list[Figures]] = {}
    browser_figures: list[Figures] = []
    with TemporaryDirectory(prefix="plotline-bench-", ignore_cleanup_errors=True) as path:
        folder = Path(path)
        conversations_per_user = ceil(plan.conversation_limit / plan.user_count)
        template = make_template(
            folder / "template", users=plan.user_count, conversations_per_user=conversations_per_user
        )
        for repeat in range(options.repeat):
            print(f"run {repeat + 1} of {options.repeat}", file=sys.stderr, flush=True)
            with run_upstream(folder) as upstream:
                for name, start in make_starters(options, template, upstream, folder, repeat).items():
                    with start() as target:
                        figures = measure_target(target, plan, make_level_logger(name))
                        figures_by_target.setdefault(name, []).append(figures)
            if not options.no_browser:
                browser_figures.append(measure_browser(is_tiny=plan is TINY))
    return figures_by_target, browser_figures


def main(argv: Sequence[str]) -> None:
    """Measure, write the result and print the tables."""
    options = parse_arguments(argv)
    for name, python in options.peer:
        check_peer(name, python)
    pin_client_process()
    environment = describe_environment()
    repeats, browser_repeats = measure_all(options)
    results = {name: compute_medians(figures) for name, figures in repeats.items()}
    browser = compute_medians(browser_repeats)
    document = environment | {
        "plan": asdict(options.plan),
        "medians": results | {"browser": browser},
        "ratios": compute_ratios(results["plotline"], results.get("relay", {})),
        "repeats": repeats | {"browser": browser_repeats},
    }
    path = write_result("relay", document, options.json)
    print(format_goals_table(collect_goal_figures(results, browser)), end="\n\n")
    for protocol in options.protocol:
        print(f"The same with a model that is asked by another protocol, {protocol}:", end="\n\n")
        figures = collect_goal_figures(results, {}, name_of_target(protocol))
        print(format_goals_table(figures, RELAY_GOALS), end="\n\n")
    print(format_rate_limits(results), end="\n\n")
    print(format_figures_table(MAIN_MEASURES, results, browser), end="\n\n")
    print(format_figures_table(DETAIL_MEASURES, results, browser))
    print(f"\nWritten to {path}", file=sys.stderr)
