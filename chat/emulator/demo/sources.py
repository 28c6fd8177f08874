"""Reads from a prompt where numbers come from: typed lists, sequences such as the primes, random numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from chat.emulator.demo.formulas import take_range
from chat.emulator.demo.prompt import NUMBER, Prompt, parse_number, parse_numbers, word

ITEMS_LIMIT = 1_000
COUNT_LIMIT = 100_000
BOUND_LIMIT = 1_000_000
_N = r"(?P<n>\d{1,7})"
_SEPARATOR = r"(?:\s*[,;、]\s*|\s+(?:and|und)\s+| ?和 ?|\s+)"
_LIST = rf"{NUMBER}(?:{_SEPARATOR}{NUMBER})++"
_LABELLED = rf"[^\W\d]\w{{0,30}}\s*[:=]?\s*{NUMBER}"
_COUNTED = rf"{NUMBER} (?!and\b|und\b|times\b|mal\b)[^\W\d]\w{{0,30}}"
_JOINT = r"(?:\s*[,;、]\s*(?:and |und )?|\s+(?:and|und)\s+| ?和 ?)"
_DICE = {"a": 1, "one": 1, "two": 2, "three": 3, "einem": 1, "zwei": 2, "drei": 3, "一": 1, "两": 2, "三": 3}
_ROLLS = (
    rf"\b(?:roll|throw)(?:ing)? (?P<dice>a|one|two|three|[1-9]) (?:die|dice) {_N} times\b",
    rf"\b{_N} (?:dice rolls|rolls of (?P<dice>a|one|two|three|[1-9]) (?:die|dice))\b",
    rf"\bwürfle {_N} ?mal(?: mit (?P<dice>einem|zwei|drei|[1-9]) würfeln?)?\b",
    rf"掷 ?(?P<dice>一|两|三|[1-9])? ?[个颗]?骰子 ?{_N} ?次",
)
_FLIPS = (
    rf"\b(?:flip|toss) a coin {_N} times\b|\b(?P<m>\d{{1,7}}) coin (?:flips|tosses)\b",
    rf"\bwirf eine münze {_N} ?mal\b|[抛掷] ?(?:一枚)?硬币 ?(?P<m>\d{{1,7}}) ?次",
)
_RANDOM = r"(?:(?P<n>\d{1,7}) ?个? ?)?(?:\brandom (?:numbers|values|integers|samples)\b|\bzufallszahlen\b|随机数)"
_NORMAL = r"(?:\b(?:from|of|aus|with) )?(?:\b(?:a|einer) )?(?:\b(?:normal(?: distribution)?|normally distributed)\b|"
_NORMAL += r"\bnormalverteil(?:ung|te[nr]?)\b|(?:服从)?正态分布)"
_UNIFORM = r"\b(?:uniform(?:ly distributed)?|gleichverteilte[nr]?)\b|均匀分布"
_SEQUENCES = ("primes", "fibonacci", "squares", "cubes", "even", "odd", "integers")
_MULTIPLES = rf"\b(?:multiples of|vielfachen? von) {_N}(?: (?:or|oder) (?P<m>\d{{1,7}}))?(?!\w)"
_MULTIPLES += r"|(?P<k>\d{1,7}) ?(?:或者? ?(?P<l>\d{1,7}) ?)?的倍数"
_NTH = rf"(?<![\w.,]){_N}(?:st|nd|rd|th|te[rsn]?|\.(?= ))(?!\w)|第 ?(?P<m>\d{{1,7}}) ?个?"
_FIRST = rf"(?:\b(?:first|ersten)\b|前) ?{_N} ?个?(?!\w)"
_BELOW = rf"(?:\b(?:below|under|(?:less|smaller) than|unter(?:halb von)?|kleiner als)\b|小于) ?{_N}(?!\w)"
_UP_TO = rf"(?:\b(?:up to|until|bis)\b|不超过|不大于) ?{_N}(?!\w)|(?P<m>\d{{1,7}}) ?以内"


@dataclass(frozen=True, slots=True)
class Source:
    """Numbers to work with."""

    code: str
    """Code that sets `values`, a list, and `labels` if there are labels."""
    note: str = ""
    """The name of the sentence that says what is assumed."""
    imports: str = ""
    has_labels: bool = False
    is_single: bool = False
    kind: str = "typed"
    """`counted` are amounts such as `3 kg, 500 g`, which can be drawn, but not added."""


def read_source(prompt: Prompt) -> Source | None:
    """Take the one source of numbers that the prompt names; `None` if there is none, or if it is too large."""
    for read in (_read_rolls, _read_random, _read_sequence, _read_typed):
        attempt = prompt.copy()
        source = read(attempt)
        if source is not None:
            prompt.rest = attempt.rest
            return source
    return None


def _read_typed(prompt: Prompt) -> Source | None:
    for kind, pair in (("typed", _LABELLED), ("counted", _COUNTED)):
        pairs = prompt.take(rf"{pair}(?:{_JOINT}{pair})++")
        if pairs is not None:
            numbers = [parse_number(text, prompt.language) for text in re.findall(NUMBER, pairs[0])]
            labels = re.findall(r"(?<!\w)(?!and\b|und\b)[^\W\d]\w*", pairs[0].replace("和", " "))
            if None in numbers or len(numbers) != len(labels) or any(map(_has_meaning, labels)):
                return None
            return Source(f"labels = {labels!r}\nvalues = {numbers!r}\n", has_labels=True, kind=kind)
    match = prompt.take(_LIST) or prompt.take(rf"{NUMBER},\S*\d(?!\w)")
    typed = match and parse_numbers(match[0], prompt.language)
    if not typed or not 1 < len(typed) <= ITEMS_LIMIT:
        return None
    return Source(f"values = {typed!r}\n")


def _has_meaning(label: str) -> bool:
    """Return whether a label may be no name, but a word of the question."""
    known = "|".join(word(f"sequences.{kind}") for kind in _SEQUENCES)
    return len(label) > 1 and (re.search(known, label) is not None or not Prompt("en", label).unknown_words("series"))


def _read_rolls(prompt: Prompt) -> Source | None:
    imports = "import numpy as np\n"
    rolls = next((match for pattern in _ROLLS if (match := prompt.take(pattern))), None)
    if rolls is not None and 0 < int(rolls["n"]) <= COUNT_LIMIT:
        dice = _DICE.get(rolls["dice"] or "a") or int(rolls["dice"])
        code = f"values = np.random.default_rng(7).integers(1, 7, ({rolls['n']}, {dice})).sum(axis=1).tolist()\n"
        return Source(code, "dice", imports, kind="random")
    flips = next((match for pattern in _FLIPS if (match := prompt.take(pattern))), None)
    if flips is not None and 0 < int(flips["n"] or flips["m"]) <= COUNT_LIMIT:
        code = f"values = np.random.default_rng(7).integers(0, 2, {int(flips['n'] or flips['m'])}).tolist()\n"
        return Source(code, "coins", imports, kind="coins")
    return None


def _read_random(prompt: Prompt) -> Source | None:
    is_normal, is_uniform = prompt.take(_NORMAL), prompt.take(_UNIFORM)
    match = prompt.take(_RANDOM) or (is_normal and prompt.take(rf"{_N}(?=\s*¦)"))
    if match is None or (is_normal and is_uniform):
        return None
    count = int(match["n"] or 1000)
    mean = prompt.take_number(rf"\b(?:with )?(?:mean|mittelwert)(?: of| von)? (?P<n>{NUMBER})")
    deviation = prompt.take_number(
        rf"\b(?:standard )?(?:deviation|standardabweichung|streuung)(?: of| von)? (?P<n>{NUMBER})"
    )
    interval = _take_interval(prompt)
    if not 0 < count <= COUNT_LIMIT or (interval and (is_normal or mean is not None)):
        return None
    imports, generator, note = "import numpy as np\n", "values = np.random.default_rng(7)", "random"
    if interval and interval != (0, 1) and not is_uniform:
        return Source(
            f"{generator}.integers({interval[0]}, {interval[1]} + 1, {count}).tolist()\n", note, imports, kind=note
        )
    if interval or is_uniform:
        low, high = interval or (0, 1)
        return Source(f"{generator}.uniform({low}, {high}, {count}).tolist()\n", note, imports, kind=note)
    loc, scale = (100, 15) if mean is None and deviation is None else (mean or 0, 1 if deviation is None else deviation)
    return Source(f"{generator}.normal({loc}, {scale}, {count}).tolist()\n", "normal", imports, kind=note)


def _read_sequence(prompt: Prompt) -> Source | None:
    multiples = prompt.take(_MULTIPLES)
    kinds = [kind for kind in _SEQUENCES if prompt.take(word(f"sequences.{kind}"))]
    nth, first = _take_whole(prompt, _NTH), _take_whole(prompt, _FIRST)
    interval = _take_interval(prompt)
    below, up_to = _take_whole(prompt, _BELOW), _take_whole(prompt, _UP_TO)
    if interval is None and all(one is None for one in (nth, first, below, up_to)):
        first = _take_whole(prompt, rf"(?<!\w){_N} ?个?(?=\s*¦)")
    selections = sum(one is not None for one in (nth, first, interval, below, up_to))
    if selections != 1 or len(kinds) + bool(multiples) > 1 or not (kinds or multiples or interval):
        return None
    kind = kinds[0] if kinds else "multiples" if multiples else "range"
    if nth is not None or first is not None:
        return _counted(kind, nth or first or 0, is_single=nth is not None)
    low, high = interval or (1, below - 1 if below is not None else up_to or 0)
    divisors = [int(one) for one in multiples.groups() if one] if multiples else []
    if 0 in divisors:
        return None
    condition = {"even": "k % 2 == 0", "odd": "k % 2 == 1"}.get(
        kind, " or ".join(f"k % {one} == 0" for one in divisors)
    )
    return _bounded(kind, low, high, condition)


def _take_whole(prompt: Prompt, pattern: str) -> int | None:
    """Take a match, and return the number in its only group that has one."""
    match = prompt.take(pattern)
    return int(next(filter(None, match.groups()))) if match else None


_TERMS = {"squares": "k**2", "cubes": "k**3", "even": "2 * k", "odd": "2 * k - 1", "integers": "k"}


def _counted(kind: str, n: int, *, is_single: bool) -> Source | None:
    """Return the first n members of a sequence, or only the n-th."""
    if not 0 < n <= (1_000 if kind == "fibonacci" else COUNT_LIMIT // 10):
        return None
    start = n if is_single else 1
    term = _TERMS.get(kind, {"fibonacci": "int(sympy.fibonacci(k))", "primes": "sympy.prime(k)"}.get(kind, ""))
    code = f"values = [{term} for k in range({start}, {n} + 1)]\n"
    if kind == "primes" and not is_single:
        code = f"values = list(sympy.primerange(2, sympy.prime({n}) + 1))\n"
    imports = "import sympy\n" if "sympy" in code else ""
    return (
        Source(code, "fibonacci" if kind == "fibonacci" else "", imports, is_single=is_single, kind=kind)
        if term
        else None
    )


def _bounded(kind: str, low: int, high: int, condition: str) -> Source | None:
    """Return the members of a sequence from low to high, both included."""
    if not -BOUND_LIMIT <= low <= high <= BOUND_LIMIT:
        return None
    if kind == "primes":
        return Source(f"values = list(sympy.primerange({low}, {high} + 1))\n", "bounds", "import sympy\n", kind=kind)
    if kind in ("fibonacci", "squares", "cubes"):
        term = _TERMS.get(kind, "int(sympy.fibonacci(k))")
        last = 40 if kind == "fibonacci" else 1_000
        code = f"values = [{term} for k in range(1, {last} + 1) if {low} <= {term} <= {high}]\n"
        return Source(
            code, kind if kind == "fibonacci" else "bounds", "import sympy\n" if "sympy" in code else "", kind=kind
        )
    filtered = f" if {condition}" if condition else ""
    return Source(f"values = [k for k in range({low}, {high} + 1){filtered}]\n", "bounds", kind=kind)


def _take_interval(prompt: Prompt) -> tuple[int, int] | None:
    """Take `from 1 to 100` out of the prompt."""
    attempt = prompt.copy()
    bounds = take_range(attempt)
    if bounds is None or not all(re.fullmatch(r"-?\d{1,7}", bound.sympy) for bound in bounds):
        return None
    prompt.rest = attempt.rest
    return int(bounds[0].sympy), int(bounds[1].sympy)
