"""Command line of the benchmarks: `python -m bench [COMMAND ...] [OPTIONS]`.

The commands are the keys of COMMANDS, of which relay is the default, and all. Several are run in turn.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from itertools import takewhile

from bench.processes import ROOT, BenchError

#: Modules by command, in the order of `all`. A module is imported only when its command runs, because the imports of
#: one command would change the memory figures of another.
COMMANDS = {
    "relay": "bench.relay",
    "browser": "bench.browser",
    "page": "bench.page",
    "scale": "bench.scale",
    "kernels": "bench.kernels",
    "newcomer": "bench.newcomer",
}

#: What `all` runs. `relay` also measures the browser, and `scale` takes too long.
ALL = [name for name in COMMANDS if name not in ("browser", "scale")]


def run_command(name: str, argv: Sequence[str]) -> bool:
    """Run one command, print its error if there is one, and return whether it succeeded."""
    try:
        import_module(COMMANDS[name]).main(argv)
    except BenchError as error:
        print(f"bench {name}: {error}", file=sys.stderr)
        return False
    return True


def run_several(names: Sequence[str], argv: Sequence[str]) -> bool:
    """Run the commands, even after a failure, and return whether all succeeded. Only `relay` gets the options."""
    failed = []
    for name in names:
        started_at = time.monotonic()
        print(f"\n## {name}\n", flush=True)
        # Every command needs its own process, because Django is set up only once.
        options = argv if name == "relay" else ()
        if subprocess.run([sys.executable, "-m", "bench", name, *options], cwd=ROOT).returncode:
            failed.append(name)
        print(f"{name}: {time.monotonic() - started_at:.0f} s", file=sys.stderr, flush=True)
    if failed:
        print(f"bench: these commands failed: {', '.join(failed)}", file=sys.stderr)
    return not failed


def main(argv: Sequence[str]) -> int:
    """Run the commands that the arguments name, and return the exit status."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    named = list(takewhile(lambda argument: not argument.startswith("-"), argv))
    options = argv[len(named) :]
    names = [name for given in named or ["relay"] for name in (ALL if given == "all" else [given])]
    if unknown := [name for name in names if name not in COMMANDS]:
        print(
            f"bench: unknown command {unknown[0]!r}. The commands are {', '.join(COMMANDS)} and all.", file=sys.stderr
        )
        return 2
    try:
        succeeded = run_command(names[0], options) if len(names) == 1 else run_several(names, options)
    except KeyboardInterrupt:
        return 130
    return 0 if succeeded else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
