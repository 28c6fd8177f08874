"""`python -m chat.emulator`: run the emulator until SIGINT or SIGTERM."""

from __future__ import annotations

import argparse
from pathlib import Path

from chat.emulator.command_line import add_arguments, run


def main() -> None:
    """Parse the command line and serve."""
    parser = argparse.ArgumentParser(prog="python -m chat.emulator", description=__doc__)
    add_arguments(parser, Path("var/kernels"))
    run(parser.parse_args())


if __name__ == "__main__":
    main()
