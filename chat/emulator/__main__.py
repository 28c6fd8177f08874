"""`python -m chat.emulator`: the emulator as a process of its own."""

from __future__ import annotations

import argparse

from chat.emulator.arguments import add_arguments, run


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(prog="python -m chat.emulator", description=__doc__)
    add_arguments(parser)
    run(parser.parse_args())


if __name__ == "__main__":
    main()
