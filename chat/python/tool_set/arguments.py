"""Reads the arguments of calls. Models do not always follow the schema, so errors are sentences for models. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from chat.messages.tool_sets import ToolFailed
from chat.python.tool_set.declarations import CODE_LIMIT_CHARS
from chat.vocabulary.parts import JSON

DEFAULT_LIMIT_S = 60.0
"""Time limit of a call that does not set one."""


@dataclass(frozen=True, slots=True)
class RunArguments:
    """The arguments of `run_python`."""

    code: str
    limit_s: float


def read_run_arguments(arguments: Mapping[str, JSON], longest_s: float) -> RunArguments:
    """Return the code and its time limit. Raises ToolFailed if an argument is invalid or unknown."""
    _refuse_unknown(arguments, "code", "timeout_s")
    code, limit_s = arguments.get("code"), arguments.get("timeout_s")
    if not isinstance(code, str) or not code.strip():
        raise ToolFailed("The argument code must be a text with Python code. Nothing was run.")
    if len(code) > CODE_LIMIT_CHARS:
        raise ToolFailed(f"The code has more than {CODE_LIMIT_CHARS:,} characters. Nothing was run.")
    if limit_s is None:
        return RunArguments(code, min(DEFAULT_LIMIT_S, longest_s))
    if isinstance(limit_s, bool) or not isinstance(limit_s, int | float) or not -math.inf < limit_s < math.inf:
        raise ToolFailed("The argument timeout_s must be a number of seconds. Nothing was run.")
    # A time outside the range is changed, not refused: the model would only call again.
    return RunArguments(code, float(min(max(limit_s, 1.0), longest_s)))


def read_variable_name(arguments: Mapping[str, JSON]) -> str:
    """Return the name of the variable to inspect. Raises ToolFailed if an argument is invalid or unknown."""
    _refuse_unknown(arguments, "name")
    name = arguments.get("name")
    if not isinstance(name, str) or not name.isidentifier():
        raise ToolFailed("The argument name must be the name of a variable.")
    return name


def _refuse_unknown(arguments: Mapping[str, JSON], *known: str) -> None:
    unknown = [name for name in arguments if name not in known]
    if unknown:
        names = ", ".join(f"“{name[:40]}”" for name in unknown[:5])
        raise ToolFailed(f"Unknown arguments: {names}. Known: {', '.join(known)}. Nothing was run.")
