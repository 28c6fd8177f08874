"""Command line of the benchmarks: `python -m bench [COMMAND] [OPTIONS]`.

The commands are the keys of COMMANDS, of which relay is the default, and all, which runs them in turn.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module

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


def load_command(name: str) -> Callable[[Sequence[str]], None]:
    """Import the module of a command and return its `main`."""
    command: Callable[[Sequence[str]], None] = import_module(COMMANDS[name]).main
    return command


def run_command(name: str, argv: Sequence[str]) -> bool:
    """Run one command, print its error if there is one, and return whether it succeeded."""
    try:
        load_command(name)(argv)
    except BenchError as error:
        print(f"bench {name}: {error}", file=sys.stderr)
        return False
    return True


def run_all(argv: Sequence[str]) -> bool:
    """Run the commands, even after a failure, and return whether all succeeded. Only `relay` gets the options."""
    failed = []
    for name in COMMANDS:
        started_at = time.monotonic()
        # `relay` also measures the browser, and `scale` takes too long. Every command needs its own process, because
        # Django is set up only once.
        if name not in ("browser", "scale"):
            print(f"\n## {name}\n", flush=True)
            options = argv if name == "relay" else ()
            completed = subprocess.run([sys.executable, "-m", "bench", name, *options], cwd=ROOT)
            if completed.returncode:
                failed.append(name)
        print(f"{name}: {time.monotonic() - started_at:.0f} s", file=sys.stderr, flush=True)
    if failed:
        print(f"bench: these commands failed: {', '.join(failed)}", file=sys.stderr)
    return not failed


def main(argv: Sequence[str]) -> int:
    """Run the command that the arguments name, and return the exit status."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    name, options = (argv[0], argv[1:]) if argv and not argv[0].startswith("-") else ("relay", argv)
    if name not in (*COMMANDS, "all"):
        print(f"bench: unknown command {name!r}. The commands are {', '.join(COMMANDS)} and all.", file=sys.stderr)
        return 2
    try:
        succeeded = run_all(options) if name == "all" else run_command(name, options)
    except KeyboardInterrupt:
        return 130
    return 0 if succeeded else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
