"""Mathematics: formulas and equations, which sympy computes exactly, and the graphs of functions of x.

A formula is rebuilt as code that has only known names, signs and numbers. No other text of a prompt becomes code. A
formula that can be read in two ways, such as `1/2x` or `sin x^2`, is refused.
"""

from __future__ import annotations

import ast
import re
from functools import partial

from chat.emulator.demo.language import FORMULA_GAP, PROGRAMS, TEXTS, VOCABULARY, Plan, Prompt, make_plan, word

FORMULA_LENGTH_LIMIT, FUNCTIONS_LIMIT = 200, 4
VARIABLES = frozenset("xyzt")
FUNCTIONS = ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "ln", "sqrt", "abs", "factorial")
NUMPY = {name: f"np.{name}" for name in FUNCTIONS} | {"ln": "np.log", "pi": "np.pi", "E": "np.e"}
_NAME = rf"(?<![^\W\d_])(?:{'|'.join([*FUNCTIONS, *VARIABLES, 'pi', 'π', 'e'])})(?![^\W\d_])"
_TOKEN = re.compile(rf"\d{{1,40}}(?:\.\d{{1,40}})?|{_NAME}|\*\*|[-+*/^()]")
_RUN = re.compile(rf"(?<!\w)(?:{_TOKEN.pattern}|[=\s])+(?!\w)")
"""A part of a prompt that may be a formula, or an equation."""
_BARE_CALL = re.compile(rf"\b({'|'.join(FUNCTIONS)}) +([xyzt]|pi|\d+(?:\.\d+)?)(?! *[\w(^.]| *\*\*)")
_SHORT_TOKENS = {"pi": "π", "e": "E", "**": "^"}
"""Replacements of tokens, after which only names of functions have two or more letters."""
_AFTER_OPERAND = r"(?:(?<= [xyztEπ])|(?<=[\d)]))"
_INCOMPLETE = re.compile(rf"[a-z]{{2}}\b(?! \()|{_AFTER_OPERAND} \d")
"""Signs of an incomplete formula: a function without brackets, or a number after an operand."""
_REFUSED = re.compile(r"\(\)|factorial\((?!\d{1,3}\))|\b(?:sin|cos|tan)\((?:\d\d|[7-9])[\d.]*\)")
"""Code that is refused: without a meaning, with huge numbers, or where degrees may be meant, such as `sin(90)`."""
VALUES = {
    "": "term",
    "simplify": "sympy.simplify(term)",
    "expand": "sympy.expand(term)",
    "factor": "sympy.factor(term)",
    "derivative": "sympy.diff(term, {variable})",
    "second_derivative": "sympy.diff(term, {variable}, 2)",
    "integral": "sympy.integrate(term, {variable})",
    "definite_integral": "sympy.integrate(term, ({variable}, {bounds}))",
    "is_prime": "sympy.isprime(term)",
    "prime_factors": '" * ".join(map(str, sympy.factorint(term, multiple=True)))',
}
"""Code that computes the answer from a term, by kind of question. The last two kinds need a whole number."""


def find_variables(formula: str) -> set[str]:
    """Return the variables of a formula."""
    return set(re.findall(r"\w+", formula)) & VARIABLES


def take_formulas(prompt: Prompt) -> list[list[str]]:
    """Remove all formulas from the prompt, and return their sides as code for sympy. An equation has two sides."""
    if prompt.language == "de":
        prompt.rest = re.sub(r"(?<![\d,])(\d+),(\d+)(?![\d,])", r"\1.\2", prompt.rest)
    else:
        prompt.rest = re.sub(r"(?<![\d,.])(\d{1,3}),(\d{3})(?:,(\d{3}))?(?![\d,])", r"\1\2\3", prompt.rest)
    for form in VOCABULARY["spoken"]:
        # Replace a formula that the prompt says in words, with the numbers of these words.
        write = partial(lambda form, spoken: f" {form.format(*filter(None, spoken.groups()))} ", form)
        prompt.rest = re.sub(word(f"spoken.{form}"), write, prompt.rest)
    formulas: list[list[str]] = []

    def take(run: re.Match[str]) -> str:
        sides = [parse_formula(side) for side in run[0].split("=")]
        if not all(sides) or len(sides) > 2 or run[0].strip() in ("e", "t", "y", "z"):
            return run[0]
        formulas.append(sides)
        return FORMULA_GAP

    prompt.rest = _RUN.sub(take, prompt.rest)
    return formulas


def take_range(prompt: Prompt) -> list[str]:
    """Remove an interval from the prompt, and return the formulas of its two bounds; empty if there is none."""
    match = prompt.take(word("ranges.interval"))
    return [parse_formula(bound.replace(",", ".")) for bound in filter(None, match.groups())] if match else []


def parse_formula(text: str) -> str:
    """Return a formula as code for sympy; empty if the text is not a formula, or can be read in two ways."""
    written = _BARE_CALL.sub(r"\1(\2)", text)
    tokens = _TOKEN.findall(written)
    # In `e^2x`, it is unclear where the exponent ends.
    is_unclear = len(text) > FORMULA_LENGTH_LIMIT or re.search(r"\^ ?[\d.]+[a-zπ]", text)
    if is_unclear or not tokens or "".join(tokens) != "".join(written.split()):
        return ""
    spaced = " ".join(["", *(_SHORT_TOKENS.get(token, token) for token in tokens)])
    if len(tokens) > 1 and _INCOMPLETE.search(spaced):
        return ""
    # `@` marks a product without a sign, such as `2x`. It becomes `*` after the check for ambiguous operations.
    signed = re.sub(rf"{_AFTER_OPERAND} (?=[\w(])", "@", spaced)
    try:
        tree = ast.parse(signed.replace("^", "**").replace("π", "pi").strip(), mode="eval")
        code = ast.unparse(tree)
        if _REFUSED.search(code) or any(map(_is_refused, ast.walk(tree))):
            return ""
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return ""
    return code.replace("@", "*")


def _is_refused(node: ast.AST) -> bool:
    """Return whether an operation is ambiguous, as in `1/2x`, or has a constant exponent that would take for ever."""
    if not isinstance(node, ast.BinOp):
        return False
    if isinstance(node.op, ast.MatMult) and isinstance(node.left, ast.BinOp):
        has_brackets = node.left.col_offset != node.col_offset
        return isinstance(node.left.op, ast.Div) and not has_brackets
    exponent = ast.unparse(node.right)
    is_long = len(re.findall(r"\d", exponent)) > 4 or "**" in exponent or "factorial" in exponent
    return isinstance(node.op, ast.Pow) and is_long and not find_variables(exponent)


def read_calculation(prompt: Prompt, previous: object) -> Plan | None:
    """Return the plan for a calculation; None if the prompt does not ask for one that is understood."""
    kinds = prompt.take_names("calculations")
    kind = "".join(kinds[:1])
    bounds = take_range(prompt) if kind == "integral" else ()
    named = prompt.take(r"(?:\b(?:for|nach|with respect to)|求) (?P<name>[xyzt])(?!\s*[\w^*/+=(-])")
    equations = take_formulas(prompt)
    variables = sorted(find_variables(str(equations)))
    asked = [named["name"]] if named else variables
    if len(kinds) > 1 or not equations or not set(asked) <= set(variables):
        return None
    [term, *other_side], *others = equations
    if kind == "solve" or (not kind and other_side and not others):
        # The equations may have only whole exponents and no functions. For others, sympy may not find all solutions.
        is_clear = len(asked) == len(equations) and not re.search(r"\w\(|\*\* \D|/ [(xyzt]", str(equations))
        terms = ", ".join(" - ".join(map(_exact, sides)) for sides in equations)
        special = TEXTS["solutions"][prompt.language]
        body = PROGRAMS["solution"].format(terms=terms, unknowns=", ".join(asked), **special) if is_clear else ""
    else:
        is_whole = re.fullmatch(r"[2-9]|\d{2,15}", term) is not None
        kind = "prime_factors" if kind == "factor" and is_whole else "definite_integral" if bounds else kind
        needs_whole = kind in ("prime_factors", "is_prime")
        is_bare = not kind and re.fullmatch(r"-?[\d.]+|[a-zE]+", term)
        has_variable = kind != "" and not needs_whole
        is_clear = not (other_side or others or is_bare) and needs_whole is is_whole and len(variables) == has_variable
        value = VALUES[kind].format(variable="".join(variables), bounds=", ".join(map(_exact, bounds)))
        body = PROGRAMS["term"].format(term=_exact(term), value=value) if is_clear else ""
    return make_plan("calculation", prompt.language, PROGRAMS["calculation"].format(body=body)) if body else None


def _exact(formula: str) -> str:
    """Return code for sympy that keeps decimals exact."""
    return f'sympy.sympify("{formula.replace("ln(", "log(")}", rational=True)'


def read_curves(prompt: Prompt, previous: object) -> Plan | None:
    """Return the plan to draw functions of x. A change of the previous curves need not repeat what stays."""
    is_change = isinstance(previous, tuple) and prompt.take_all("actions.change")
    is_drawn = prompt.take_all("actions.draw") or prompt.take_all("actions.curve")
    bounds = take_range(prompt)
    prompt.rest = re.sub(r"\b(?:y|f ?\( ?x ?\)) ?=", " ", prompt.rest)
    # The name of a function alone means a function of x: `sin` means `sin(x)`.
    functions = [" = ".join(sides) + "(x)" * (sides[0] in FUNCTIONS) for sides in take_formulas(prompt)]
    is_clear = all(find_variables(one) == {"x"} and not re.search("factorial|=", one) for one in functions)
    if isinstance(previous, tuple) and is_change:
        functions, bounds = functions or previous[0], bounds or previous[1]
    if not (is_drawn or is_change) or not is_clear or not 0 < len(functions) <= FUNCTIONS_LIMIT:
        return None
    names = [one.replace(" ** ", "^").replace("E^", "e^") for one in functions]
    title = ", ".join(names)
    usual = ["0", "4 * pi"] if re.search(r"(?:sin|cos|tan)\(", title) else ["-5", "5"]
    low, high = bounds or (["0", "10"] if re.search("sqrt|ln", title) else usual)
    formulas = [*functions, low, high]
    *code, start, end = [re.sub("[A-Za-z]+", lambda name: NUMPY.get(name[0], name[0]), one) for one in formulas]
    lines = ", ".join(f'"{name}": {one}' for name, one in zip(names, code, strict=True))
    program = PROGRAMS["graph"].format(low=start, high=end, curves=lines, title=repr(title))
    kind = "curve" if len(names) == 1 else "curves"
    facts = {"names": ", ".join(map(typeset, names)), "low": typeset(low), "high": typeset(high)}
    return make_plan(kind, prompt.language, program, (functions, bounds), **facts)


def typeset(formula: str) -> str:
    """Convert a sympy formula to LaTeX. Roots and absolute values keep brackets that hold brackets."""
    latex = re.sub(r"sqrt\(([^()]*)\)", r"\\sqrt{\1}", formula)
    latex = re.sub(r"abs\(([^()]*)\)", r"\\left|\1\\right|", latex)
    latex = re.sub(r"(?:\^| \*\* )(\w+|\([^()]*\)|-\w+)", lambda power: f"^{{{power[1].strip('()')}}}", latex)
    latex = re.sub(r"(?<![\\\w])(sin|cos|tan|sinh|cosh|tanh|exp|ln|pi)\b", r"\\\1", latex)
    latex = re.sub(r"(?<![\\\w])(sqrt|abs|factorial)\b", r"\\operatorname{\1}", latex).replace("E", "e")
    return latex.replace("*", r"\,")
