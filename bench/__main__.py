"""`python -m bench [COMMAND] [OPTIONS]`: measures the relay and the browser's side of it, or what COMMAND names.

Commands: relay (the default), browser, growth, pages, exports, and all: each of them, one after the other.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module

from bench.processes import ROOT, BenchError

#: In the order of `all`. Modules, not functions: what one command imports must not weigh on another's figures.
COMMANDS = {
    "relay": "bench.levels",
    "browser": "bench.browser",
    "growth": "bench.growth",
    "pages": "bench.pages",
    "exports": "bench.exports",
}


def command(name: str) -> Callable[[Sequence[str]], None]:
    """The `main` of a command."""
    found: Callable[[Sequence[str]], None] = import_module(COMMANDS[name]).main
    return found


def run(name: str, argv: Sequence[str]) -> bool:
    """Run one command; whether it came to its end."""
    try:
        command(name)(argv)
    except BenchError as error:
        print(f"bench {name}: {error}", file=sys.stderr)
        return False
    return True


def run_all(argv: Sequence[str]) -> bool:
    """Run every command, also when one fails; options are the relay's. Whether all came to their end."""
    failed = []
    for name in COMMANDS:
        begun_at = time.monotonic()
        # The relay measures the browser in each of its repeats. Each in a process of its own: settings are set once.
        if name != "browser":
            print(f"\n## {name}\n", flush=True)
            options = argv if name == "relay" else ()
            done = subprocess.run([sys.executable, "-m", "bench", name, *options], cwd=ROOT)
            failed += [name] * bool(done.returncode)
        print(f"{name}: {time.monotonic() - begun_at:.0f} s", file=sys.stderr, flush=True)
    if failed:
        print(f"bench: these failed: {', '.join(failed)}", file=sys.stderr)
    return not failed


def main(argv: Sequence[str]) -> int:
    """Run what was asked for; the exit status."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    name, rest = (argv[0], argv[1:]) if argv and not argv[0].startswith("-") else ("relay", argv)
    if name not in (*COMMANDS, "all"):
        print(f"bench: there is no command {name!r}; there are {', '.join(COMMANDS)} and all", file=sys.stderr)
        return 2
    try:
        return 0 if (run_all(rest) if name == "all" else run(name, rest)) else 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
