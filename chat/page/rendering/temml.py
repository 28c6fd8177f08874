"""Runs Temml, a library in JavaScript that converts LaTeX formulas to MathML, in QuickJS.

Temml supports the commands of KaTeX, of chemistry (`\\ce`) and of physics (`\\dv`). QuickJS is an interpreter that runs
in this process. It takes 6 MB, and limits memory, time and the depth of calls. docs/decisions/0030 has figures.

All calls run on one thread, because an interpreter can be used only by the thread that created it.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    import quickjs

TIME_LIMIT_S = 0.5
"""Limit for the CPU time of the whole process. The slowest formula that `maths` accepts takes about 0.1 s."""
MEMORY_LIMIT_BYTES = 64 * 1024 * 1024

GC_CALLS = 500
"""Number of formulas after which garbage with cycles is collected, which takes as long as one formula."""
_calls = count(1)

_CONVERT = """
function convert(latex, isBlock) {
  try {
    const options = {displayMode: isBlock, throwOnError: true, trust: false, maxExpand: 1000};
    return {mathml: temml.renderToString(latex, options)};
  } catch (error) {
    // Out of memory, time or depth. Other errors, also Temml's own faults, mean that the formula is not known.
    if (error instanceof InternalError) throw error;
    return {mathml: ""};
  }
}
"""


@cache
def missing_scripts() -> list[Path]:
    """Return the files of Temml that are missing, because they were not downloaded."""
    # `isfile` returns False also if the folder may not be read.
    return [path for path in _scripts() if not os.path.isfile(path)]


def convert_formula(latex: str, *, is_block: bool) -> str:
    """Return the MathML of a formula, as untrusted text; empty if Temml is missing or cannot convert it."""
    # A text with an unpaired surrogate, which JSON can hold, is no formula.
    if missing_scripts() or latex != latex.encode(errors="ignore").decode():
        return ""
    try:
        converted: object = _converter()(latex, is_block, run_gc=next(_calls) % GC_CALLS == 0)
    except (import_module("quickjs").JSException, SystemError, TypeError):
        # Memory, time or depth was exhausted, or the Python binding cannot handle a string.
        return ""
    return str(converted["mathml"]) if isinstance(converted, dict) else ""


def _scripts() -> list[Path]:
    folder = Path(settings.NODE_MODULES) / "temml"
    extensions = ("mhchem/mhchem.min.js", "physics/physics.js", "texvc/texvc.js")
    return [folder / "dist" / "temml.min.js", *(folder / "contrib" / extension for extension in extensions)]


@cache
def _converter() -> quickjs.Function:
    code = "\n".join(path.read_text(encoding="utf-8") for path in _scripts()) + _CONVERT
    # QuickJS is imported only for the first formula, because its import starts a thread.
    converter: quickjs.Function = import_module("quickjs").Function("convert", code, own_executor=True)
    converter.set_time_limit(TIME_LIMIT_S)
    converter.set_memory_limit(MEMORY_LIMIT_BYTES)
    return converter
