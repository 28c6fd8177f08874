"""Curves: the graph of functions of x over an interval."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chat.emulator.demo.answers import TEXTS, Plan, Task, make_plan
from chat.emulator.demo.formulas import FUNCTIONS, Formula, parse_formula, take_formulas, take_range
from chat.emulator.demo.prompt import Prompt, word

FUNCTIONS_LIMIT = 4
PROGRAM = """\
import matplotlib.pyplot as plt
import numpy as np

np.seterr(all="ignore")
x = np.linspace({low}, {high}, 4001)
curves = {{{curves}}}

# The lowest and highest values of a curve with a pole, or too steep for these points, are not certain.
finite = {{name: y for name, y in curves.items() if not np.isinf(y).any()}}
smooth = [name for name, y in finite.items() if np.nanmax(abs(np.diff(y))) <= 0.1 * (np.nanmax(y) - np.nanmin(y))]
# The same is true for a curve with a hole between two points, such as sin(x)/x at 0.
holes = {{name: (np.isnan(y[1:-1]) & np.isfinite(y[:-2] + y[2:])).any() for name, y in curves.items()}}
certain = [name for name in smooth if not holes[name]]

plt.figure(figsize=(8, 4.5))
for name, y in curves.items():
    shown = y.copy()
    if name not in smooth:
        limit = 10 * np.nanmedian(abs(y))
        shown[abs(shown) > limit] = np.nan
    plt.plot(x, shown, linewidth=2, label=name)
plt.axhline(0, color="gray", linewidth=0.8)
plt.title({title})
plt.xlabel("x")
plt.grid(alpha=0.3)
plt.legend()
plt.tight_layout()
plt.show()

for name, y in curves.items():
    print(f"curve: {{name}}")
    print(f"lowest: {{np.nanmin(y):.5g}}" if name in certain else "lowest: not certain")
    print(f"highest: {{np.nanmax(y):.5g}}" if name in certain else "highest: not certain")
    peaks = np.flatnonzero((y[1:-1] > y[:-2]) & (y[1:-1] > y[2:])) + 1
    print(f"peaks: {{len(peaks)}}" if name in certain else "peaks: not certain")
    if name in certain and len(peaks):
        # The top of the parabola through three points.
        left, middle, right = y[peaks[0] - 1 : peaks[0] + 2]
        top = x[peaks[0]] + (x[1] - x[0]) / 2 * (left - right) / (left - 2 * middle + right)
        print(f"first peak: {{top:.3f}}")
    else:
        print("first peak: –")
"""


@dataclass(frozen=True, slots=True)
class Curves:
    """The graph of functions of x."""

    functions: tuple[Formula, ...]
    bounds: tuple[Formula, Formula]

    def plan(self, language: str) -> Plan:
        """Return a plan with a program that draws the functions between the bounds."""
        names = [one.sympy.replace(" ** ", "^").replace("E^", "e^") for one in self.functions]
        curves = ", ".join(f'"{name}": {one.numpy} + 0 * x' for name, one in zip(names, self.functions, strict=True))
        low, high = self.bounds
        program = PROGRAM.format(low=low.numpy, high=high.numpy, curves=curves, title=repr(", ".join(names)))
        kind = "curve" if len(names) == 1 else "curves"
        comment = self._comment(names[0], language) if kind == "curve" else ""
        facts = {"names": ", ".join(names), "low": low.sympy, "high": high.sympy}
        return make_plan(kind, language, program, comment=comment, **facts)

    def _comment(self, name: str, language: str) -> str:
        """Return the comment on one curve, with changes that differ from what it shows."""
        texts: dict[str, str] = TEXTS["curve"].get(language, TEXTS["curve"]["en"])
        if "suggestion" not in texts:
            return texts["comment"]
        other = "sine" if "cos" in name else "cosine"
        is_usual = [bound.sympy for bound in self.bounds] == ["0", "10"]
        suggestion = texts["suggestion"].format(other=other, bounds="-5 to 5" if is_usual else "0 to 10")
        return f"{texts['comment']}\n\n{suggestion}"


def read(prompt: Prompt, previous: Task | None) -> Curves | None:
    """Return the curves that the prompt asks for. A change of the previous ones may leave out what stays."""
    before = previous if isinstance(previous, Curves) and prompt.take_all(word("actions.change")) else None
    is_drawn = prompt.take(word("actions.draw")) or prompt.take(word("actions.curve"))
    bounds = take_range(prompt)
    prompt.rest = re.sub(r"\b(?:y|f ?\( ?x ?\)) ?=|(?<=sinus)(?:kurve|welle|funktion)\b", " ", prompt.rest)
    formulas = take_formulas(prompt)
    if any(len(sides) > 1 for sides in formulas) or not (before or is_drawn):
        return None
    functions = [_of_x(one) for [one] in formulas] or (before.functions if before else ())
    if not 0 < len(functions) <= FUNCTIONS_LIMIT or not all(one and one.numpy for one in functions):
        return None
    drawn = tuple(one for one in functions if one)
    bounds = bounds or (before.bounds if before else _usual_bounds(drawn))
    return Curves(drawn, bounds) if all(bound.numpy and not bound.variables for bound in bounds) else None


def _of_x(formula: Formula) -> Formula | None:
    """Return a function of x, also for the bare name of a function; `None` if the formula is none."""
    if formula.sympy in FUNCTIONS:
        return parse_formula(f"{formula.sympy}(x)")
    return formula if formula.variables == {"x"} else None


def _usual_bounds(functions: Sequence[Formula]) -> tuple[Formula, Formula]:
    """Return the interval for functions without one."""
    names = set(re.findall("[a-z]+", " ".join(one.sympy for one in functions).lower()))
    if names & {"sin", "cos", "tan"} and names <= {"sin", "cos", "tan", "x"}:
        low, high = "0", "4*pi"
    elif names & {"sqrt", "ln"}:
        low, high = "0", "10"
    else:
        low, high = ("-5", "5") if names & {"e", "exp"} else ("-10", "10")
    return _constant(low), _constant(high)


def _constant(text: str) -> Formula:
    return Formula(text, frozenset(), is_algebraic=True)
