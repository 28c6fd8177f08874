"""Calculations: terms, equations, derivatives, integrals, whole numbers. Sympy computes them exactly."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chat.emulator.demo.answers import Plan, Task, make_plan
from chat.emulator.demo.formulas import Formula, parse_formula, take_formulas, take_range
from chat.emulator.demo.prompt import NUMBER, Prompt, parse_numbers, word

KINDS: tuple[str, ...] = (
    "solve",
    "second_derivative",
    "derivative",
    "integral",
    "simplify",
    "expand",
    "factor",
    "limit",
)
KINDS += ("gcd", "lcm", "divisors", "is_prime")
_AIM = r"(?:as |für |when |当)? ?\b(?P<variable>[xyzt]) ?(?:approaches|goes to|tends to|->|→|gegen|趋近?于|趋向) ?"
_AIM += r"(?P<aim>-? ?(?:infinity|∞|unendlich|无穷大?|[\d.]+|pi))(?!\w)"
_SHOW = """\
def show(value):
    if value.free_symbols or value.is_Integer:
        return str(value)
    value = sympy.simplify(value)
    if value.has(sympy.zoo, sympy.nan):
        return "not defined"
    if value.is_Integer or value.is_infinite:
        return str(value)
    decimal = f"{float(value):.10g}" if value.is_real else str(sympy.N(value, 10))
    return f"{decimal}, exactly {value}"


"""
_SOLVE = """\
solutions = sympy.solve(terms, unknowns, dict=True)
lines = [", ".join(f"{name} = {show(value)}" for name, value in one.items()) for one in solutions]
checks = [all(abs(sympy.N(term.subs(one))) < 1e-9 for term in terms) for one in solutions]
if all(sympy.simplify(term) == 0 for term in terms):
    lines = ["true for every value"]
print(f"result: {'; or '.join(lines) or 'no solution'}")
print(f"checked: {sum(checks)}/{len(checks)}")
"""
_VALUES = {
    "": "{term}",
    "simplify": "sympy.simplify({term})",
    "expand": "sympy.expand({term})",
    "factor": "sympy.factor({term})",
    "derivative": "sympy.diff({term}, {variable})",
    "second_derivative": "sympy.diff({term}, {variable}, 2)",
    "integral": "sympy.integrate({term}, {variable})",
    "limit": "sympy.limit({term}, {variable}, {aim})",
}
_LISTS = {
    "gcd": "print(f'result: {math.gcd(*numbers)}')",
    "lcm": "print(f'result: {math.lcm(*numbers)}')",
    "divisors": "print(f'result: {sympy.divisors(*numbers)}')",
    "factor": "factors = sympy.factorint(*numbers)\n"
    "print('result:', ' * '.join(f'{prime}^{times}' if times > 1 else str(prime) for prime, times in factors.items()))",
    "is_prime": "print(f'result: {sympy.isprime(*numbers)}')",
}
"""Programs for whole numbers: `gcd` and `lcm` take several, the others one."""


@dataclass(frozen=True, slots=True)
class Calculation:
    """A program that prints `result: ...`."""

    program: str
    is_solution: bool = False

    def plan(self, language: str) -> Plan:
        """Return the plan that runs the program."""
        return make_plan("solution" if self.is_solution else "calculation", language, self.program)


def read(prompt: Prompt, previous: Task | None) -> Calculation | None:
    """Return the calculation that the prompt asks for."""
    kind = next((kind for kind in KINDS if prompt.take(word(f"calculations.{kind}"))), "")
    if kind in _LISTS and (program := _program_for_numbers(kind, prompt)):
        return Calculation(program)
    limit = prompt.take(_AIM) if kind == "limit" else None
    bounds = take_range(prompt) if kind == "integral" else None
    unknown = prompt.take(r"(?:\bfor|\bnach|求) (?P<name>[xyzt])(?!\s*[\w^*/+=(-])") if kind == "solve" else None
    prompt.take({"derivative": r"\bnach x\b|\bab\b", "expand": r"\baus\b"}.get(kind, "$"))
    formulas = take_formulas(prompt)
    if kind == "solve" or (not kind and [len(sides) for sides in formulas] == [2]):
        return _solution(formulas, unknown["name"] if unknown else "")
    if [len(sides) for sides in formulas] != [1]:
        return None
    [[formula]] = formulas
    if formula.is_number or len(formula.variables) != (kind != "") or (kind == "limit") is not (limit is not None):
        return None
    value = _VALUES[kind]
    if bounds is not None:
        low, high = map(_sympify, bounds)
        value = f"sympy.integrate({{term}}, ({{variable}}, {low}, {high}))"
    aim = re.sub("infinity|∞|unendlich|无穷大?", "oo", limit["aim"]) if limit else ""
    if limit and (parse_formula(aim.replace("oo", "1")) is None or limit["variable"] not in formula.variables):
        return None
    variable = next(iter(formula.variables), "")
    value = value.format(term="term", variable=variable, aim=f'sympy.sympify("{aim}")')
    names = f'{variable} = sympy.Symbol("{variable}")\n' if variable else ""
    return Calculation(
        f'import sympy\n\n\n{_SHOW}{names}term = {_sympify(formula)}\nvalue = {value}\nprint("result:", show(value))\n'
    )


def _program_for_numbers(kind: str, prompt: Prompt) -> str:
    """Return the program for a question about whole numbers; empty if the prompt has none."""
    if kind == "factor" and re.search(r"[\^*/+=(]|(?<![^\W\d])[xyzt](?!\w)", prompt.rest):
        return ""
    match = re.search(rf"{NUMBER}(?:(?:\s*[,;]\s*|\s+(?:and|und)\s+| ?和 ?){NUMBER})*", prompt.rest)
    numbers = match and parse_numbers(match[0], prompt.language)
    is_several = kind in ("gcd", "lcm")
    if not match or not numbers or (len(numbers) > 1) is not is_several:
        return ""
    if not all(isinstance(number, int) and 0 < number < 10**15 for number in numbers):
        return ""
    prompt.take(f"{re.escape(match[0])}(?: (?:a )?prime(?: number)?| eine primzahl)?")
    return f"import {'math' if is_several else 'sympy'}\n\nnumbers = {numbers}\n{_LISTS[kind]}\n"


def _solution(formulas: Sequence[Sequence[Formula]], unknown: str) -> Calculation | None:
    """Return the solution of equations for their variables, or for the variable `unknown`. A term is set to zero."""
    sides = [side for equation in formulas for side in equation]
    variables = frozenset[str]().union(*(side.variables for side in sides))
    unknowns = [unknown] if unknown else sorted(variables)
    if (
        not variables.issuperset(unknowns)
        or len(unknowns) != len(formulas)
        or not all(side.is_algebraic for side in sides)
    ):
        return None
    names = "".join(f'{name} = sympy.Symbol("{name}")\n' for name in sorted(variables))
    terms = ", ".join(" - ".join(map(_sympify, equation)) for equation in formulas)
    program = f"import sympy\n\n\n{_SHOW}{names}terms = [{terms}]\nunknowns = [{', '.join(unknowns)}]\n{_SOLVE}"
    return Calculation(program, is_solution=True)


def _sympify(formula: Formula) -> str:
    return f'sympy.sympify("{formula.sympy.replace("ln(", "log(")}", rational=True)'
