"""Regular expressions in the source of a module: arguments of `re.search` and of other calls, found with `ast`.

An argument may use names of its module, which is imported. Where it uses names of a function, the caller gives values.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

AnyPattern = re.Pattern[str] | re.Pattern[bytes]
Values = Mapping[str, object]
"""Names of a function -> example values."""

FUNCTIONS = frozenset({"compile", "search", "match", "fullmatch", "sub", "subn", "split", "finditer", "findall"})


@dataclass(frozen=True, slots=True)
class SourcePattern:
    """One regular expression, and the function of `re` that gets it."""

    name: str
    """Module and line."""
    pattern: AnyPattern
    function: str


def patterns_of(module: ModuleType, examples: Sequence[Values], searches: frozenset[str]) -> Iterator[SourcePattern]:
    """Yield the expressions of a module. Raise NameError for one that uses a name without a value.

    `examples`: values for names of functions; each makes another expression. `searches`: methods of the project that
    search for the text of an expression; such a text that uses names of a function is left out.
    """
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
            continue
        function = node.func.attr
        is_of_re = isinstance(node.func.value, ast.Name) and node.func.value.id == "re" and function in FUNCTIONS
        if not is_of_re and function not in searches:
            continue
        name = f"{module.__name__}:{node.lineno}"
        codes = [_code(node.args[0]), _code(_flags(node, function))]
        if is_of_re:
            for pattern in dict.fromkeys(_evaluate(codes, module, examples, name)):
                yield SourcePattern(name, pattern, function)
        else:
            with suppress(NameError):
                for pattern in _evaluate(codes, module, (), name):
                    yield SourcePattern(name, pattern, "search")


def _flags(call: ast.Call, function: str) -> ast.expr:
    """Return the syntax of the flags. In all calls of the project, they follow the pattern and the text."""
    position = {"compile": 1, "sub": 4, "subn": 4, "split": 3}.get(function, 2)
    named = [keyword.value for keyword in call.keywords if keyword.arg == "flags"]
    return (named + call.args[position : position + 1] + [ast.Constant(0)])[0]


def _code(node: ast.expr) -> CodeType:
    return compile(ast.fix_missing_locations(ast.Expression(node)), "<a pattern>", "eval")


def _evaluate(
    codes: Sequence[CodeType], module: ModuleType, examples: Sequence[Values], name: str
) -> Iterator[AnyPattern]:
    """Yield the expression, or one for each example that has values for its names."""
    missing: NameError | None = None
    is_built = False
    for values in ({}, *examples):
        names: dict[str, Any] = {**vars(module), **values}
        try:
            # `eval` runs only code of the project itself.
            source, flags = [eval(code, names) for code in codes]
        except NameError as error:
            missing = error
            continue
        is_built = True
        yield re.compile(source, flags)
        if not values:
            return
    if not is_built:
        raise NameError(f"{name}: {missing}. EXAMPLES has no value for it.")
