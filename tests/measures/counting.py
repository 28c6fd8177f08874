"""Counts in the text of source files. Pure functions."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import tomllib
from collections.abc import Iterable


def count_lines(texts: Iterable[str]) -> int:
    """Return the number of line ends, as `wc -l` does."""
    return sum(text.count("\n") for text in texts)


def entries(paths: Iterable[str], package: str) -> set[str]:
    """Return the names of the modules and packages directly in a package. `paths`: paths of files, relative to the
    root.
    """
    pattern = re.compile(rf"{package}/(\w+)(?:/.*)?\.py$")
    return {found[1] for path in paths if (found := pattern.match(path))} - {"__init__"}


def migrations(paths: Iterable[str], app: str) -> set[str]:
    """Return the names of an app's migrations. Like Django, ignore modules that begin with `_`."""
    return {name for name in entries(paths, f"{app}/migrations") if not name.startswith("_")}


def layers(pyproject: str, contract: str) -> list[str]:
    """Return the layers of the import contract with this name."""
    contracts = tomllib.loads(pyproject)["tool"]["importlinter"]["contracts"]
    [found] = [one["layers"] for one in contracts if one["name"] == contract]
    return list(found)


def variables(env_example: str) -> list[str]:
    """Return the environment variables that the example file lists."""
    return re.findall(r"^#?([A-Z][A-Z0-9_]*)=", env_example, flags=re.MULTILINE)


def function_lengths(source: str) -> list[int]:
    """Return the number of lines of each function, nested ones and methods included, without decorators."""
    nodes = ast.walk(ast.parse(source))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [(node.end_lineno or node.lineno) - node.lineno + 1 for node in functions]


def count_word(source: str, word: str) -> int:
    """Return how often a word occurs in the text, including comments and docstrings."""
    return len(re.findall(rf"\b{word}\b", source))


def count_uses(source: str, name: str) -> int:
    """Return how often a name is used in code, including annotations but not imports."""
    return sum(isinstance(node, ast.Name) and node.id == name for node in ast.walk(ast.parse(source)))


def count_comments(source: str, pattern: str) -> int:
    """Return how many comments contain a match of the pattern."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return sum(token.type == tokenize.COMMENT and bool(re.search(pattern, token.string)) for token in tokens)
