"""Defines what a grammar is, and the tokens that many languages share.

Invariant: no part of a pattern that can fail follows an unbounded repetition, and every unbounded repetition is
possessive. `tests/chat/page/rendering/test_highlight.py` checks this on the syntax tree of every pattern. An attempt to
match a token then either consumes the text that it read, or fails after a bounded number of characters. So highlighting
takes linear time, even for hostile code. The lexers of Pygments have no such bound (decision 22).

The CSS classes have Pygments' names: c comment, s string, m number, k keyword, kc constant, nb builtin or variable,
nf function, nc class or section, nt tag or key, na attribute, nd decorator, cp directive, gd/gi/gu/gh lines of a
diff, gp prompt, gr error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

#: Class of the pattern that matches names; each name is looked up in `Grammar.words`.
NAME = "name"

TOKEN_CLASSES = frozenset(
    ["c", "s", "m", "k", "kc", "nb", "nf", "nc", "nt", "na", "nd", "cp", "gd", "gi", "gu", "gh", "gp", "gr"]
)


@dataclass(frozen=True)
class Grammar:
    """The tokens of one language."""

    tokens: tuple[tuple[str, str], ...]
    """Class and pattern of each kind of token; the first that matches is taken. No pattern has capturing groups."""
    words: Mapping[str, str] = field(default_factory=dict)
    """Name -> its class."""
    introducers: Mapping[str, str] = field(default_factory=dict)
    """Name -> class of the name that follows it: `def` is followed by a function."""
    ignores_case: bool = False
    embedded: Mapping[str, str] = field(default_factory=dict)
    """First characters of a token, such as `<script` -> language of the code after the token."""


def lookup(**words: str) -> dict[str, str]:
    """Return a map of word -> class. The arguments are `class_="word word"`."""
    return {word: css_class for css_class, text in words.items() for word in text.split()}


WORDS = (NAME, r"[^\W\d]\w*+")
NUMBER = ("m", r"\d\w*+(?:\.\d\w*+)?(?:(?<=[eE])[+-]\d++)?")
HASH_COMMENT = ("c", r"#[^\n]*+")
SPACED_HASH_COMMENT = ("c", r"(?<![^\s;(])#[^\n]*+")
BLOCK_COMMENT = ("c", r"/\*(?>(?:[^*]++|\*(?!/))*)(?:\*/)?")
SLASH_COMMENT = ("c", r"//[^\n]*+")
DOUBLE_QUOTED = r'"(?>(?:[^"\\\n]++|\\[\s\S])*)"?'
SINGLE_QUOTED = r"'(?>(?:[^'\\\n]++|\\[\s\S])*)'?"
TRIPLE_DOUBLE = r'"""(?>(?:[^"\\]++|\\[\s\S]|"(?!""))*)(?:""")?'
TRIPLE_SINGLE = r"'''(?>(?:[^'\\]++|\\[\s\S]|'(?!''))*)(?:''')?"
BACKQUOTED = ("s", r"`(?>(?:[^`\\]++|\\[\s\S])*)`?")
STRINGS = ("s", f"{DOUBLE_QUOTED}|{SINGLE_QUOTED}")
CHARACTER = ("s", r"'(?:\\[^\n][^'\n]{0,8}|[^'\\\n])'")
ANNOTATION = ("nd", r"@[^\W\d][\w.]*+")
SHELL_VARIABLE = ("nb", r"\$(?:\w++|\{[^}\n]{0,200}+\}?|[@*#?$!-])")

#: Keyword -> class of the name that follows it: a function.
FUNCTIONS = dict.fromkeys(["def", "fn", "func", "fun", "function", "macro", "sub"], "nf")
