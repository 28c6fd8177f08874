r"""Decides whether the text between two delimiters is a formula, or money, a variable or prose.

- A text between dollars that begins with a digit and holds a word is money: `$5 and 6$`. So is a text with a word that
  ends in a number after a space: `$A or 5$`. With a sign of formulas, the text must hold more words.
- A text that ends in a punctuation mark before another name is between two variables: `$HOME/bin:$PATH`, `$A:$B`.
- A text after a letter or digit, such as `5$/h or 6$`, is a formula only if it has a sign of formulas.
- `$ T $`, with a space at both ends, is a formula if it is one letter, or has a sign of formulas and no words.
- A text of several words without a sign of formulas is prose. So are Chinese, Japanese and Korean words.
"""

from __future__ import annotations

import re

from chat.page.rendering.bare_addresses import CJK_LETTERS

_MATHS_ENVIRONMENT = re.compile(
    r"(?:(?:small|[bBpvV])?matrix|(?:fl|x|xx)?align(?:at)?|aligned(?:at)?|d?cases|d?rcases|d?array|subarray|equation"
    r"|gather(?:ed)?|multlined?|split|eqnarray|displaymath|math|CD"
    r"|tabular[xy]?|longtable|IEEEeqnarray|[bBpvV]?NiceMatrix|tikzpicture|prooftree|algorithm(?:ic)?|lstlisting|verbatim)\*?"
)
_COMMAND_OR_GROUP = re.compile(r"\\[A-Za-z]+|\{[^{}]*\}")
_VARIABLE = re.compile(r"(?<![A-Za-z])[A-Za-z]{2,}+_[A-Za-z_]{2}\w*+")
_WORD = re.compile(r"(?:^|(?<=[\s(]))[A-Za-zÀ-ÿ]{2,}(?=[\s,.;:!?)]|$)")
_WORDS = re.compile(r"(?:^|(?<=[\s(]))(?:[A-Za-z]{2,}[\s,.;:!?]+){2}[A-Za-z]{2,}(?=[\s,.;:!?)]|$)")
_CJK_LETTER = re.compile(f"[{CJK_LETTERS}]")
_SIGN = re.compile(r"\\[A-Za-z]|[=+<>^_{}]")
_STRONG_SIGN = re.compile(r"\\[A-Za-z{}|,;!]|[=^_]")
_SIGN_OR_LETTER = re.compile(rf"{_SIGN.pattern}|\A[\s|]*[A-Za-z][\s|]*\Z")
_ROW = re.compile(r"&|\\\\")
_PRICE_AT_END = re.compile(r"\s\d[\d.,]*\Z")
_CONJUNCTION = re.compile(r"\s(?:and|or|to|und|oder|bis|et|ou|per)\s")
_RELATION = re.compile(r"[\\=^_<>]")
_BRACES = re.compile(r"\{([A-Za-z_]\w*)[^{}]*\}|\{\{ ")
_NO_START = re.compile(r"/|[,.;:!?)\]@#%&](?:[\s,.;:]|\Z)|[，。、；：！？）」』】》]|['\"]|\([\"'#.$]")
_NAME_BEFORE_MORE = re.compile(r"[A-Za-z_]{4}\w*+[,.:;!?]?\s")
_ENDS_OPEN = re.compile(r"(?:[^\w)\]}'!*%|°]|\s[^\w\s])\Z")
_SPACED = re.compile(r"\$ ([A-Za-z]|[^$ ][^$]{0,80}[^$ ]) \$(?![\w$])")
_EDGE_PIPE = re.compile(r"\A\||\|\Z")
_ENDS_OF_NAMES = ("_", ")", "]")


def is_maths_environment(name: str) -> bool:
    r"""Return whether `\begin{name}` begins a formula, or another environment that is shown as its source."""
    return _MATHS_ENVIRONMENT.fullmatch(name) is not None


def is_formula_between_dollars(line: str, start: int, end: int) -> bool:
    """Return whether the dollars at two positions of a line enclose a formula."""
    content, before, after = line[start + 1 : end], line[start - 1 : start], line[end + 1 : end + 2]
    if content == "|":
        return not before.strip() and not after.strip()
    if not content or content[0].isspace() or content[-1].isspace() or content[-1] in "/，。、；：！？（「『【《“":
        return False
    has_command = "\\" in content
    if after.isdigit() and not has_command:
        return False
    if not has_command and (
        _is_beside_names(content, before, after) or not _is_balanced(content) or _is_cut_by_pipes(content)
    ):
        return False
    return not (_NO_START.match(content) or is_money(content) or _is_variable(content, after))


def spaced_formula_end(line: str, start: int) -> int:
    r"""Return where a formula with spaces inside its dollars ends, such as `$ T $`; 0 if there is none.

    Such a formula is a single letter, or has a sign of formulas and no words.
    """
    match = _SPACED.match(line, start)
    if match is None:
        return 0
    words = _WORD.search(_COMMAND_OR_GROUP.sub(" ", match[1]))
    is_formula = len(match[1]) == 1 or (_STRONG_SIGN.search(match[1]) is not None and words is None)
    return match.end() if is_formula else 0


def is_display_formula(content: str, after: str) -> bool:
    """Return whether a text between two dollars on each side is a formula. `after`: the character after them."""
    if after.isdigit() and "\\" not in content:
        return False
    return not is_prose(content) and _NO_START.match(content) is None and ("\\" in content or _is_balanced(content))


def is_bracketed_formula(content: str, closing: str, before: str) -> bool:
    r"""Return whether a text between `\[` and `\]`, or between `\(` and `\)`, is a formula.

    `before`: the character before them. Brackets behind a name hold an index: `list\[i + 1\]`.
    """
    if closing == r"\]" and before.isascii() and (before.isalnum() or before in _ENDS_OF_NAMES):
        return _STRONG_SIGN.search(content) is not None
    return not is_prose(content) and (closing != r"\]" or _SIGN_OR_LETTER.search(content) is not None)


def is_environment(content: str) -> bool:
    """Return whether the text of an environment is a formula, and not a sentence about environments."""
    return _ROW.search(content) is not None or has_sign(content) or not _WORD.search(content)


def has_sign(content: str) -> bool:
    """Return whether a text holds a command of LaTeX or one of `= + < > ^ _ { }`."""
    return _SIGN.search(content) is not None


def continues_formula(line: str) -> bool:
    """Return whether the line after a blank line looks like a part of the formula above it."""
    words = len(_WORD.findall(_COMMAND_OR_GROUP.sub(" ", line)))
    return words < 3 and (_ROW.search(line) is not None or (has_sign(line) and not words))


def is_prose(content: str) -> bool:
    """Return whether a text holds several words and no sign of formulas."""
    return not has_sign(_VARIABLE.sub("variable", content)) and len(_WORD.findall(content)) >= 2


def is_money(content: str) -> bool:
    """Return whether a text between dollars is prose around prices."""
    if _WORDS.search(_COMMAND_OR_GROUP.sub(" ", content)):
        return True
    plain = _VARIABLE.sub("variable", content)
    words = len(_WORD.findall(_COMMAND_OR_GROUP.sub(" ", plain)))
    has_foreign_words = _CJK_LETTER.search(_COMMAND_OR_GROUP.sub(" ", content)) is not None
    if _PRICE_AT_END.search(content) and words >= (2 if _SIGN.search(plain) else 1) and "\\" not in content:
        return True
    if re.match(r"[-+]?\d", content):
        if has_foreign_words and not _STRONG_SIGN.search(content):
            return True
        if _CONJUNCTION.search(content) and not _RELATION.search(plain):
            return True
        return words >= (3 if _SIGN.search(plain) else 1)
    return is_prose(content) or (has_foreign_words and not _SIGN.search(plain))


def _is_variable(content: str, after: str) -> bool:
    """Return whether a text begins with the name of a variable, as in `${HOME} and 5$` or `$PATH: 5$`."""
    if braces := _BRACES.match(content):
        rest = content[braces.end() :]
        if "\\" in content or rest[:1] in ("^", "_"):
            return False
        is_name = braces[1] is None or len(braces[1]) > 1
        return (is_name or after == "{") if not rest else not has_sign(rest) or _BRACES.search(rest) is not None
    plain = _VARIABLE.sub("variable", content)
    return _NAME_BEFORE_MORE.match(plain) is not None and not _SIGN.search(plain)


def _is_beside_names(content: str, before: str, after: str) -> bool:
    """Return whether the dollars belong to names or numbers beside them, as in `$A:$B`, `5$, 6$` or `v$a`."""
    is_single = len(content) == 1 and content != "("
    if (after.isalpha() or after in ("_", "{", "(")) and after.isascii() and after and not is_single:
        if _ENDS_OPEN.search(content) or (content[-1] == "|" != content[0]) or (content[0] == "(" and after == "("):
            return True
        if len(content) > 2 and content.isupper() and content.isalpha() and after.isupper():
            return True
    if before.isascii() and before.isalnum():
        if content[0].isdigit() and before.isupper():
            return True
        if not is_single and not _STRONG_SIGN.search(content) and (before.isdigit() or after.isalnum()):
            return not content.isalnum() or (after.isalnum() and after.isascii())
    return before in ("'", '"') and content[-1] == before


def _is_balanced(content: str) -> bool:
    """Return whether each round or square bracket of a text is closed, as in the interval `[0, 1)`."""
    if len(content) == 1:
        return True
    depth = 0
    for character in content:
        depth += (character in "([") - (character in ")]")
        if depth < 0:
            # Brackets such as those of the interval `]0, 1[` in French texts.
            return content.count("]") == content.count("[") == 1 and "(" not in content
    return depth == 0


def _is_cut_by_pipes(content: str) -> bool:
    """Return whether a text begins or ends with a `|` that is the border of a table's cell."""
    return content.count("|") % 2 == 1 and _EDGE_PIPE.search(content) is not None
