"""Makes names unique by appending numbers. Pure."""

from __future__ import annotations

from collections.abc import Callable


class UniqueNames:
    """Returns each name only once: a repeated name gets a number, such as `a-2.csv`.

    The time is linear in the number of names, because counting continues at the last number of a name.
    """

    def __init__(self, same: Callable[[str], str] = str) -> None:
        """`same`: returns a key that is equal for names that count as the same. By default, only equal names do."""
        self._same = same
        self._given: set[str] = set()
        self._numbers: dict[str, int] = {}
        """The last number of each name that repeats."""

    def give(self, stem: str, suffix: str) -> str:
        """Return `stem` and `suffix` as one name, with a number between them if the name was given before."""
        name = f"{stem}{suffix}"
        first = self._same(name)
        number = self._numbers.get(first, 1)
        if number > 1:
            name = f"{stem}-{number}{suffix}"
        while self._same(name) in self._given:
            number += 1
            name = f"{stem}-{number}{suffix}"
        self._numbers[first] = number
        self._given.add(self._same(name))
        return name
