"""Finds the formulas in a prompt and writes them anew, as code.

The code consists of known names, signs and numbers alone; nothing else of the prompt's text gets into it. A formula
that can be read in two ways, such as `1/2x` or `sin x^2`, is refused.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from chat.emulator.demo.prompt import FORMULA_GAP, NUMBER, Prompt

LENGTH_LIMIT = 200
VARIABLES = frozenset("xyzt")
FUNCTIONS = frozenset({"sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "ln", "sqrt", "abs"})
CONSTANTS = {"pi": "pi", "π": "pi", "e": "E"}
_NUMPY = {name: f"np.{name}" for name in FUNCTIONS} | {
    **{"ln": "np.log", "asin": "np.arcsin", "acos": "np.arccos", "atan": "np.arctan", "pi": "np.pi", "E": "np.e"},
}
_TOKEN = re.compile(r"\d{1,40}(?:\.\d{1,40})?|[^\W\d_]+|(?P<space>\s+)|\*\*|[-+*/^()!=°]|(?P<other>.)", re.DOTALL)
_BOUND = r"(?:- ?)?(?<![\w.])(?:\d{1,15}(?:[.,]\d{1,15})?(?!\d)(?: ?\*? ?(?:pi|π))?|pi|π)(?: ?/ ?\d{1,15})?"
_LOW, _HIGH = rf"(?P<low>{_BOUND})", rf"(?P<high>{_BOUND})"
_OF_X = r"(?:\b(?:for|with|für|mit) [xt]\b|\b[xt] ?(?:=|in\b|∈))? ?"
RANGES = (
    rf"(?:\b(?:for|with|für|mit|on|in|over|auf|im intervall)\b|在)? ?(?:\b[xt] ?(?:in|∈|=))? ?"
    rf"\[ ?{_LOW} ?[,;] ?{_HIGH} ?\]",
    rf"{_LOW} ?<=? ?[xt] ?<=? ?{_HIGH}",
    rf"{_OF_X}(?:\b(?:between|zwischen)\b|在) ?{_LOW} ?(?:\b(?:and|und)\b|[和到至]) ?{_HIGH}(?: ?之间)?",
    rf"{_OF_X}(?:\b(?:from|over|in|von)\b|从|(?<==)) ?{_LOW} ?(?:\b(?:to|bis)\b|[到至]|\.\.\.?) ?{_HIGH}(?: ?之间)?",
    rf"{_LOW} ?[到至] ?{_HIGH} ?之间",
)
"""Ways to write an interval: `[0, 5]`, `0 <= x <= 5`, `from 0 to 5`."""
_OPERAND = rf"(?P<n>{NUMBER})"
_LAST = r"(?!\s*[-+*/^!(])"
"""Matches the end of an operand. No sign may follow: `square root of 16 + 9` does not say where the root ends."""
_SPOKEN = (
    (r"(?<![\d,])(\d+),(\d+)(?![\d,])", r"\1.\2", "de"),
    (r"(?<![\d,.])(\d{1,3}),(\d{3})(?:,(\d{3}))?(?![\d,])", r"\1\2\3", "en zh"),
    (r"\b(?:sine|sinus)\b|正弦", " sin ", ""),
    (r"\b(?:cosine|[ck]osinus)\b|余弦", " cos ", ""),
    (r"\b(?:tangent|tangens)\b|正切", " tan ", ""),
    (r"\b(sin|cos|tan|ln) (?:of|von)\b", r"\1", ""),
    (rf"\b(?:square root of|(?:quadrat)?wurzel (?:aus|von)) {_OPERAND}{_LAST}", r"sqrt(\g<n>)", ""),
    (rf"{_OPERAND} ?的平方根", r"sqrt(\g<n>)", ""),
    (rf"(?<![\w.])(\d+(?:\.\d+)?) ?(?:%|percent|prozent) (?:of|von) (\d+(?:\.\d+)?)(?!\w){_LAST}", r"\1/100*\2", ""),
    (r"(?<![\w.])(\d+(?:\.\d+)?) ?的 ?(\d+(?:\.\d+)?) ?%", r"\1*\2/100", ""),
    (r"(?<![\w.])(\d+) ?的 ?(\d+) ?次方", r"\1^\2", ""),
    (r"(?<![\w.])(\d+)(?: factorial\b| fakultät\b| ?的阶乘)", r"\1!", ""),
    (r"\b(?:factorial of|fakultät von) (\d+)(?!\w)", r"\1!", ""),
    (r"\b(?:squared|zum quadrat)\b|平方", "^2", ""),
    (r"\bcubed\b|立方", "^3", ""),
    (r"\b(?:(?:raised )?to the power of|hoch)\b", "^", ""),
    (r"\bplus\b|加", "+", ""),
    (r"\bminus\b|减", "-", ""),
    (r"(?<=\d) (?:times|multiplied by|mal|multipliziert mit|x)(?= \d)|乘以?", "*", ""),
    (r"\b(?:divided by|geteilt durch|durch)\b|除以", "/", ""),
)
"""Spoken forms, with what is written for them, and the languages that have them; empty: all."""


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula, or one side of an equation."""

    sympy: str
    """Code for sympy."""
    variables: frozenset[str]
    is_algebraic: bool
    """Whether no variable stands in an exponent, or in a function other than a root."""

    @property
    def is_number(self) -> bool:
        """Whether there is nothing to compute: a number, or the name of a function."""
        return self.sympy in FUNCTIONS or re.fullmatch(r"-?[\d.]+|pi|E", self.sympy) is not None

    @property
    def numpy(self) -> str:
        """Code for numpy; empty if numpy has no such function."""
        if "factorial" in self.sympy:
            return ""
        return re.sub(r"[A-Za-z]+", lambda name: _NUMPY.get(name[0], name[0]), self.sympy)


def take_formulas(prompt: Prompt) -> list[list[Formula]]:
    """Take all formulas out of the prompt: for each its sides, of which an equation has two."""
    for pattern, written, languages in _SPOKEN:
        if not languages or prompt.language in languages:
            prompt.rest = re.sub(pattern, written, prompt.rest)
    formulas: list[list[Formula]] = []
    rest, run = "", ""
    for token in [*_TOKEN.finditer(prompt.rest), None]:
        text = token[0] if token else ""
        if token and not token["other"] and (not text.isalpha() or _is_name(text)):
            run += text
            continue
        sides = [parse_formula(side) for side in run.split("=")]
        found = [side for side in sides if side is not None]
        is_part_of_word = _are_one_word(rest, run) or _are_one_word(run, text)
        is_formula = len(found) == len(sides) <= 2 and not is_part_of_word and run.strip() not in ("e", "t", "y", "z")
        formulas += [found] if is_formula else []
        rest += (FORMULA_GAP if is_formula else run) + text
        run = ""
    prompt.rest = rest
    return formulas


def take_range(prompt: Prompt) -> tuple[Formula, Formula] | None:
    """Take an interval out of the prompt, and return its bounds."""
    for pattern in RANGES:
        match = prompt.take(pattern)
        if match is not None:
            low, high = (parse_formula(match[name].replace(",", ".")) for name in ("low", "high"))
            return (low, high) if low and high else None
    return None


def parse_formula(text: str) -> Formula | None:
    """Return the formula that a text is; `None` if it is none."""
    if len(text) > LENGTH_LIMIT or any(token["other"] for token in _TOKEN.finditer(text)):
        return None
    tokens = [token[0] for token in _TOKEN.finditer(text) if not token["space"]]
    if not tokens or not all(_is_name(token) or not token.isalpha() for token in tokens):
        return None
    code = _write(tokens)
    try:
        tree = ast.parse(code, mode="eval")
        nodes = list(ast.walk(tree))
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        functions = [node for node in nodes if isinstance(node, ast.Name) and node.id in FUNCTIONS]
        is_bare_name = isinstance(tree.body, ast.Name)
        if any(isinstance(node, ast.Tuple) for node in nodes) or any(len(call.args) != 1 for call in calls):
            return None
        if len(functions) != sum(ast.unparse(call.func) != "factorial" for call in calls) and not is_bare_name:
            return None
        if any(_is_refused(node) for node in nodes):
            return None
        is_algebraic = not any(_hides_variable(node) for node in nodes)
        return Formula(ast.unparse(tree), VARIABLES.intersection(tokens), is_algebraic)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _are_one_word(left: str, right: str) -> bool:
    return left[-1:].isalnum() and right[:1].isalnum()


def _is_name(token: str) -> bool:
    return token in VARIABLES or token in FUNCTIONS or token in CONSTANTS


def _is_refused(node: ast.AST) -> bool:
    """Return whether a power would take for ever, or whether degrees may be meant, as in `sin(90)`."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ("sin", "cos", "tan"):
        return isinstance(node.args[0], ast.Constant) and float(ast.unparse(node.args[0])) > 2 * math.pi
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Pow):
        return False
    exponent = ast.unparse(node.right)
    is_tower = "**" in exponent and not any(isinstance(one, ast.Name) for one in ast.walk(node.right))
    return len(re.findall(r"\d", exponent)) > 4 or "factorial" in exponent or is_tower


def _hides_variable(node: ast.AST) -> bool:
    hidden: ast.AST | None = None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        hidden = node.right
    elif isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id == "sqrt"):
        hidden = node
    return hidden is not None and any(isinstance(one, ast.Name) and one.id in VARIABLES for one in ast.walk(hidden))


def _write(tokens: Sequence[str]) -> str:
    """Return Python code for the tokens of a formula, with all signs of multiplication; empty if it is ambiguous."""
    pieces: list[str] = []
    previous, sign, outer_signs = "", "", [""]
    for token in tokens:
        is_start = token == "(" or token[0].isalnum()
        is_end = previous in (")", "!", "°", "bare") or (previous[:1].isalnum() and previous not in FUNCTIONS)
        name = CONSTANTS.get(token, token)
        if previous in FUNCTIONS and token != "(":
            if not token[0].isalnum() or token in FUNCTIONS:
                return ""
            pieces.append(f"({name})")
            previous = "bare"
            continue
        if is_end and is_start:
            if token[0].isdecimal() or sign == "/" or previous == "bare":
                return ""
            pieces.append("*")
        if token == "(":
            outer_signs.append(sign)
        elif token == ")":
            sign = outer_signs.pop() if len(outer_signs) > 1 else ""
        elif token in "+-*/^**":
            sign = token
        if token == "!":
            if not pieces or not re.fullmatch(r"\d{1,3}|[xyzt]", pieces[-1]):
                return ""
            pieces[-1] = f"factorial({pieces[-1]})"
        elif token in ("^", "**"):
            if previous in ("bare", "°"):
                return ""
            pieces.append("**")
        else:
            pieces.append("*pi/180" if token == "°" else name)
        previous = token
    return "".join(pieces)
