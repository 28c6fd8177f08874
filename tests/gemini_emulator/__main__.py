"""`python -m tests.gemini_emulator`: run the emulator for tests until SIGINT, SIGTERM, or the end of standard input."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import threading
from pathlib import Path

from chat.emulator.command_line import add_arguments, place_of
from chat.emulator.server import serve
from tests.gemini_emulator.server import EmulatorForTests


def main() -> None:
    """Parse the command line and serve."""
    parser = argparse.ArgumentParser(prog="python -m tests.gemini_emulator", description=__doc__)
    add_arguments(parser, Path("var/kernels"))
    parser.add_argument("--recordings", type=Path, help="folder of recorded bodies for the models replay-NAME")
    parser.add_argument("--end-with-stdin", action="store_true", help="end when standard input ends")
    options = parser.parse_args()
    emulator = EmulatorForTests(
        place_of(options), pace=options.pace, code_limit_s=options.code_limit, recordings=options.recordings
    )
    if options.end_with_stdin:
        threading.Thread(target=_terminate_after_stdin, daemon=True).start()
    asyncio.run(serve(emulator, options.host, options.port))


def _terminate_after_stdin() -> None:
    """Wait until the parent closes the pipe, which happens in any case when it ends. Then end this process."""
    while os.read(sys.stdin.fileno(), 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
