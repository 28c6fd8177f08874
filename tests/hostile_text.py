"""Hostile texts for a regular expression, derived from its syntax tree, and a check that its tokens are linear."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from re import _constants, _parser  # type: ignore[attr-defined]  # Python's own parser has no public name
from typing import Any, TypeAlias

Node: TypeAlias = tuple[Any, Any]  # each operator has other arguments
"""An operator of Python's parser with its arguments."""

REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT)
SINGLE_CHARACTERS = ([_constants.LITERAL], [_constants.NOT_LITERAL], [_constants.ANY], [_constants.IN])
BREAKERS = ("\x00", "", "\n", "!", "a")


def parse(pattern: re.Pattern[str] | re.Pattern[bytes] | str) -> Sequence[Node]:
    """Return the syntax tree of a regular expression."""
    if isinstance(pattern, str):
        tree: Sequence[Node] = _parser.parse(pattern)
        return tree
    text = pattern.pattern.decode("latin-1") if isinstance(pattern.pattern, bytes) else pattern.pattern
    tree = _parser.parse(text, pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags)
    return tree


# --- hostile texts ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HostileText:
    """A text of any length on which a backtracking matcher tries many ways. Its end makes the match fail."""

    prefix: str
    body: str
    breaker: str

    def of_length(self, length: int) -> str:
        """Return the text with about this length."""
        return self.prefix + self.body * (length // len(self.body)) + self.breaker


def hostile_texts(tree: Sequence[Node]) -> list[HostileText]:
    """Return texts in which a repetition of the tree, with the text before it, is repeated and then does not match."""
    pumps = dict.fromkeys(pump for pump in _pumps(tree, "") if pump[1])
    return [HostileText(*pump, breaker) for pump in pumps for breaker in BREAKERS]


def _pumps(tree: Sequence[Node], prefix: str) -> Iterator[tuple[str, str]]:
    """Yield (text before it, text to repeat) for each repetition in the tree."""
    whole = prefix + _sample(tree)
    yield "", whole[:-1]
    yield "", whole
    for operator, arguments in tree:
        for child in _children((operator, arguments)):
            yield from _pumps(child, prefix)
        if operator in REPEATS and arguments[1] > 8:
            body = _sample(arguments[2])
            yield prefix, body
            yield "", prefix + body
            for variant in _variants(arguments[2]):
                yield prefix, variant
                yield "", prefix + variant
        prefix += _sample([(operator, arguments)])


def _variants(tree: Sequence[Node]) -> Iterator[str]:
    """Yield samples of the branches of a repeated alternative."""
    for operator, arguments in tree:
        if operator is _constants.BRANCH:
            yield from map(_sample, arguments[1])
        elif operator is _constants.IN:
            yield from (_character([item]) for item in arguments[:6] if item[0] is not _constants.NEGATE)
        else:
            for child in _children((operator, arguments)):
                yield from _variants(child)


def _children(node: Node) -> Iterator[Sequence[Node]]:
    operator, arguments = node
    if operator in REPEATS:
        yield arguments[2]
    elif operator is _constants.SUBPATTERN:
        yield arguments[3]
    elif operator is _constants.BRANCH:
        yield from arguments[1]
    elif operator is _constants.ATOMIC_GROUP:
        yield arguments
    elif operator in (_constants.ASSERT, _constants.ASSERT_NOT):
        yield arguments[1]


def _sample(tree: Sequence[Node]) -> str:
    """Return a short text that the tree matches, as far as lookarounds allow."""
    pieces = []
    for operator, arguments in tree:
        if operator is _constants.LITERAL:
            pieces.append(chr(arguments))
        elif operator is _constants.NOT_LITERAL:
            pieces.append("b" if arguments == ord("a") else "a")
        elif operator is _constants.ANY:
            pieces.append("a")
        elif operator is _constants.IN:
            pieces.append(_character(arguments))
        elif operator in REPEATS:
            pieces.append(_sample(arguments[2]) * max(arguments[0], min(arguments[1], 1)))
        elif operator is _constants.BRANCH:
            pieces.append(_sample(arguments[1][0]))
        elif operator in (_constants.SUBPATTERN, _constants.ATOMIC_GROUP):
            pieces.extend(_sample(child) for child in _children((operator, arguments)))
    return "".join(pieces)


def _character(items: Sequence[Node]) -> str:
    """Return a character of a set."""
    if items[0][0] is _constants.NEGATE:
        excluded = re.compile("[" + "".join(map(_set_source, items[1:])) + "]", re.DOTALL)
        return next((one for one in "a0 -<*\n\x00" if not excluded.match(one)), "é")
    operator, argument = items[0]
    if operator is _constants.LITERAL:
        return chr(argument)
    if operator is _constants.RANGE:
        return chr(argument[0])
    return {
        _constants.CATEGORY_DIGIT: "1",
        _constants.CATEGORY_WORD: "a",
        _constants.CATEGORY_SPACE: " ",
        _constants.CATEGORY_NOT_SPACE: "a",
        _constants.CATEGORY_NOT_WORD: "-",
        _constants.CATEGORY_NOT_DIGIT: "a",
    }.get(argument, "a")


def _set_source(item: Node) -> str:
    operator, argument = item
    if operator is _constants.LITERAL:
        return re.escape(chr(argument))
    if operator is _constants.RANGE:
        return f"{re.escape(chr(argument[0]))}-{re.escape(chr(argument[1]))}"
    names = {
        _constants.CATEGORY_DIGIT: r"\d",
        _constants.CATEGORY_WORD: r"\w",
        _constants.CATEGORY_SPACE: r"\s",
        _constants.CATEGORY_NOT_SPACE: r"\S",
        _constants.CATEGORY_NOT_WORD: r"\W",
        _constants.CATEGORY_NOT_DIGIT: r"\D",
    }
    return names[argument]


# --- structure --------------------------------------------------------------------------------------------------------

REPETITIONS_LIMIT = 300
"""Maximum number of repetitions that counts as bounded."""


def takes_linear_time(tree: Sequence[Node], *, is_followed: bool = False) -> bool:
    """Return whether a search for all matches takes linear time, by a rule that is sufficient but not necessary.

    Each unbounded repetition is possessive or fills an atomic group, and nothing that can fail follows it.
    `is_followed`: something that can fail follows the tree.
    """
    nodes = [_as_possessive(node) for node in tree]
    for index, (operator, arguments) in enumerate(nodes):
        is_node_followed = is_followed or any(_can_fail(node) for node in nodes[index + 1 :])
        if operator in REPEATS:
            _, most, body = arguments
            is_unbounded = most > REPETITIONS_LIMIT
            if is_unbounded and (operator is not _constants.POSSESSIVE_REPEAT or is_node_followed):
                return False
            is_body_followed = not is_unbounded and (is_node_followed or most > 1)
            if not takes_linear_time(body, is_followed=is_body_followed):
                return False
        else:
            is_lookaround = operator in (_constants.ASSERT, _constants.ASSERT_NOT)
            for child in _children((operator, arguments)):
                if not takes_linear_time(child, is_followed=is_node_followed or is_lookaround):
                    return False
    return True


def _as_possessive(node: Node) -> Node:
    """Return the possessive repetition that equals an atomic group with one repetition; other nodes as they are."""
    operator, arguments = node
    if operator is _constants.ATOMIC_GROUP and [inner for inner, _ in arguments] == [_constants.MAX_REPEAT]:
        return _constants.POSSESSIVE_REPEAT, arguments[0][1]
    return node


def repeats_group_possessively(tree: Sequence[Node]) -> bool:
    """Return whether the tree has a possessive repetition of more than one character, such as `(?:ab)*+`.

    Python 3.11.0 to 3.11.4 matches it wrongly (github.com/python/cpython/issues/106052), but `(?>(?:ab)*)` rightly.
    """
    for operator, arguments in tree:
        if operator is _constants.POSSESSIVE_REPEAT and [inner for inner, _ in arguments[2]] not in SINGLE_CHARACTERS:
            return True
        if any(map(repeats_group_possessively, _children((operator, arguments)))):
            return True
    return False


def _can_fail(node: Node) -> bool:
    operator, arguments = node
    if operator in REPEATS:
        return bool(arguments[0] > 0 and any(map(_can_fail, arguments[2])))
    if operator is _constants.BRANCH:
        return all(any(map(_can_fail, branch)) for branch in arguments[1])
    if operator in (_constants.SUBPATTERN, _constants.ATOMIC_GROUP):
        return any(_can_fail(inner) for child in _children((operator, arguments)) for inner in child)
    return True
