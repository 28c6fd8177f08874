"""Prints the figures: `python -m tests.measures [--turn] [--list]`."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterable

import pytest

from tests.measures import __doc__ as description
from tests.measures import counting
from tests.measures.calls import ROOT, TURNS

LONG = 40
SPINE_GOALS = {"turn": "70 in 30", "run_python": "40 in 20"}


def main() -> int:
    """Print the table, and what runs during a turn; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.measures", description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turn", action="store_true", help="run turns, and count the functions that they call")
    parser.add_argument("--list", action="store_true", help="the same, and print the names of these functions")
    options = parser.parse_args()
    print(f"{'':50}{'now':>8}{'goal':>8}")
    for name, number, goal in figures():
        print(f"{name:50}{number:8,}{'' if goal is None else f'{goal:,}':>8}")
    return print_turns(with_names=options.list) if options.turn or options.list else 0


def figures() -> list[tuple[str, int, int | None]]:
    """Return what each figure counts, the number, and the goal if it has one."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    paths = [path for path in listed.split("\0") if path and (ROOT / path).is_file()]
    pyproject, env_example = ((ROOT / name).read_text() for name in ("pyproject.toml", ".env.example"))
    product = read(paths, ("chat/", "config/", "attachments/"), (".py",))
    lengths = [length for source in product for length in counting.function_lengths(source)]
    return [
        ("entries of chat/", len(counting.entries(paths, "chat")), 19),
        ("layers of chat", len(counting.layers(pyproject, "layers of chat")), 12),
        ("lines of the product (chat, config, attachments)", counting.count_lines(product), 57_000),
        ("lines of templates", counting.count_lines(read(paths, ("templates/",), (".html", ".jinja"))), None),
        ("lines of static files", counting.count_lines(read(paths, ("static/",), (".js", ".css"))), None),
        ("lines of tests and their stand-ins", counting.count_lines(read(paths, ("tests/",), (".py",))), 64_000),
        ("lines of bench/", counting.count_lines(read(paths, ("bench/",), (".py",))), 4_500),
        (f"functions over {LONG} lines", sum(length > LONG for length in lengths), 0),
        ("lines of the longest function", max(lengths), LONG),
        ("the word Any", sum(counting.count_word(source, "Any") for source in product), 110),
        ("  of these in code, without imports", sum(counting.count_uses(source, "Any") for source in product), None),
        ("noqa", sum(counting.count_comments(source, r"\bnoqa\b") for source in product), 15),
        ("type: ignore", sum(counting.count_comments(source, r"type: ?ignore") for source in product), 8),
        ("environment variables", len(counting.variables(env_example)), 50),
        ("migrations of chat", len(counting.migrations(paths, "chat")), 1),
        ("migrations of attachments", len(counting.migrations(paths, "attachments")), 1),
    ]


def read(paths: Iterable[str], folders: tuple[str, ...], suffixes: tuple[str, ...]) -> list[str]:
    """Return the texts of the files in these folders with these suffixes, without migrations."""
    wanted = [path for path in paths if path.startswith(folders) and path.endswith(suffixes)]
    return [(ROOT / path).read_text() for path in wanted if "/migrations/" not in path]


def print_turns(*, with_names: bool) -> int:
    """Run turns and print what they call; return pytest's exit status."""
    status = pytest.main(["-n", "0", "-p", "no:cacheprovider", "-qq", str(ROOT / "tests/measures/turn.py")])
    for title, functions in TURNS.items():
        modules = {module for module, _ in functions}
        goals = f"goal of the spine: {SPINE_GOALS[title]}"
        print(f"{title}: {len(functions)} functions in {len(modules)} modules ({goals})")
        for module, name in functions if with_names else ():
            print(f"  {module}.{name}")
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
