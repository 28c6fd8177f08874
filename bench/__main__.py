"""`python -m bench`: measures (a) the SDK alone, (b) a bare relay and Plotline, back to back; prints a table."""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import signal
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.baselines import running_bare_relay, running_sdk_alone
from bench.figures import Figures, medians, ratios
from bench.measuring import FULL, QUICK, TINY, Plan, measure, tell
from bench.processes import ROOT, BenchError, cores
from bench.product import make_template, running_product
from bench.report import table
from bench.targets import Target, running_upstream

PACKAGES = ("django", "channels", "daphne", "google-genai", "aiohttp", "uvloop")


def arguments() -> argparse.Namespace:
    """What was asked for on the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    plans = parser.add_mutually_exclusive_group()
    plans.add_argument("--quick", dest="plan", action="store_const", const=QUICK, default=QUICK, help="the default")
    plans.add_argument("--full", dest="plan", action="store_const", const=FULL, help="longer, and more levels")
    plans.add_argument("--tiny", dest="plan", action="store_const", const=TINY, help="only tries the harness itself")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="medians of so many runs (default 1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="default: var/bench/<date>.json")
    return parser.parse_args()


def run(plan: Plan, repeats: int) -> dict[str, list[Figures]]:
    """All repeats of all targets, turn by turn, so that a slow spell of the machine meets each of them."""
    found: dict[str, list[Figures]] = {"sdk": [], "relay": [], "plotline": []}
    with TemporaryDirectory(prefix="plotline-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        each = ceil(plan.needed_conversations / plan.people)
        template = make_template(folder / "template", people=plan.people, conversations=each)
        with running_upstream(folder) as upstream:
            for repeat in range(repeats):
                print(f"run {repeat + 1} of {repeats}", file=sys.stderr)
                var_dir = folder / f"product-{repeat}"
                starters: dict[str, Callable[[], AbstractContextManager[Target]]] = {
                    "sdk": partial(running_sdk_alone, upstream, folder),
                    "relay": partial(running_bare_relay, upstream, folder),
                    "plotline": partial(running_product, template, upstream, var_dir),
                }
                for target_name, start in starters.items():
                    with start() as target:
                        found[target_name].append(measure(target, plan, tell(target_name)))
    return found


def report(plan: Plan, found: dict[str, list[Figures]]) -> dict[str, object]:
    """What is written as JSON."""
    result = {name: medians(repeats) for name, repeats in found.items()}
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {"cpu": cpu_name(), "cores": os.cpu_count(), "pinned": cores(), "python": platform.python_version()},
        "packages": {name: version(name) for name in PACKAGES},
        "plan": asdict(plan),
        "medians": result,
        "ratios": {name: ratios(result["plotline"], result[name]) for name in ("sdk", "relay")},
        "repeats": found,
    }


def cpu_name() -> str:
    """The processor's name as Linux gives it."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())


def main() -> None:
    """Measure, print and write; whatever ends it ends the processes it started."""
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    # A pause of the client would be counted as the server's.
    gc.freeze()
    gc.set_threshold(100_000)
    server_core, own_core = cores()
    os.sched_setaffinity(0, {own_core})
    if server_core == own_core:
        print("There is only one core: server and client disturb each other.", file=sys.stderr)
    try:
        found = run(options.plan, options.repeat)
    except BenchError as error:
        sys.exit(f"bench: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
    written = report(options.plan, found)
    path: Path = options.json or ROOT / "var" / "bench" / f"{datetime.now(UTC):%Y-%m-%d-%H%M%S}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(written, indent=1))
    print(table({name: medians(repeats) for name, repeats in found.items()}))
    print(f"\nWritten to {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
