"""Numbers: statistics and charts of typed lists, sequences and random numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from chat.emulator.demo.answers import Plan, Task, localized, make_plan
from chat.emulator.demo.prompt import Prompt, word
from chat.emulator.demo.sources import Source, read_source

OPERATIONS = {
    "mean": 'print(f"mean: {statistics.fmean(values):.10g}")',
    "median": 'print(f"median: {statistics.median(values):.10g}")',
    "mode": 'print("mode:", *statistics.multimode(values))',
    "sum": 'print(f"sum: {sum(values)}")',
    "product": 'print(f"product: {math.prod(values)}")',
    "smallest": 'print(f"smallest: {min(values)}")',
    "largest": 'print(f"largest: {max(values)}")',
    "deviation": 'print(f"deviation: {statistics.stdev(values):.10g} (sample), '
    '{statistics.pstdev(values):.10g} (population)")',
    "variance": 'print(f"variance: {statistics.variance(values):.10g} (sample), '
    '{statistics.pvariance(values):.10g} (population)")',
    "count": 'print(f"count: {len(values)}")',
    "descending": 'print("descending:", *sorted(values, reverse=True)[:1000])',
    "ascending": 'print("ascending:", *sorted(values)[:1000])',
    "palindrome": """\
digits = str(values[-1])
half = int(digits[: (len(digits) + 1) // 2])
mirrored = {int(f"{first}{str(first)[::-1][len(digits) % 2 :]}") for first in (half - 1, half, half + 1)}
palindromes = mirrored | {10 ** (len(digits) - 1) - 1, 10 ** len(digits) + 1}
distance = min(abs(one - values[-1]) for one in palindromes)
print("palindrome:", *sorted(one for one in palindromes if abs(one - values[-1]) == distance))""",
    "heads": 'print(f"heads: {sum(values)}")',
    "value": 'print(f"value: {values[0]}")',
    "last": 'print(f"last: {values[-1]}")',
}
"""Code that prints a statistic of numbers as a line `name: value`."""
LISTING = """\
for start in range(0, min(len(values), 500), 10):
    print(*values[start : start + 10])
"""
_NAMED: tuple[str, ...] = (
    "descending",
    "ascending",
    "mean",
    "median",
    "mode",
    "sum",
    "product",
    "smallest",
    "largest",
    "deviation",
)
_NAMED += ("variance", "count", "palindrome")
CHARTS = {
    "histogram": 'plt.hist(values, bins={bins}, color="#2a9d8f", edgecolor="white")',
    "bar": 'bars = plt.bar(names, values, color="#457b9d")\nplt.bar_label(bars)',
    "pie": 'plt.pie(values, labels=names, autopct="%1.1f%%")',
    "line": 'plt.plot(names, values, marker="o")',
    "box": "plt.boxplot(values)",
}


@dataclass(frozen=True, slots=True)
class Series:
    """Operations on numbers, and a chart of them."""

    source: Source
    operations: tuple[str, ...]
    chart: str = ""
    bins: int = 0

    def plan(self, language: str) -> Plan:
        """Return a plan with a program that reads the numbers, draws them if asked to, and prints the operations."""
        operations = self.operations or self._usual_operations()
        lines = "\n".join(OPERATIONS[name] for name in operations) + "\n"
        shows_all = not self.operations and not self.chart and not self.source.is_single
        body = f"{self.source.code}\n{self._drawing()}{LISTING if shows_all else ''}{lines}"
        modules = "".join(f"import {name}\n" for name in ("math", "statistics") if f"{name}." in body)
        libraries = ("import matplotlib.pyplot as plt\n" if self.chart else "") + self.source.imports
        program = f"{modules}\n{libraries}\n{body}".replace("\n\n\n", "\n\n").lstrip("\n")
        return make_plan("series", language, program, comment=quote(operations, language),
                         note=localized("notes", self.source.note or "none", language))  # fmt: skip

    def _usual_operations(self) -> tuple[str, ...]:
        """Return what is printed if the prompt names nothing."""
        if self.source.is_single:
            return ("value",)
        if self.source.kind == "coins":
            return ("heads", "count")
        if self.chart:
            return ("count", "mean", "deviation") if self.chart == "histogram" else ("count", "smallest", "largest")
        return ("count", "sum") if self.source.kind in ("typed", "random") else ("count", "last", "sum")

    def _drawing(self) -> str:
        if not self.chart:
            return ""
        bins = (
            str(self.bins)
            if self.bins
            else "np.arange(min(values) - 0.5, max(values) + 1)"
            if self._is_discrete()
            else '"auto"'
        )
        names = "labels" if self.source.has_labels else "range(1, len(values) + 1)"
        named = f"names = {names}\n" if "names" in CHARTS[self.chart] else ""
        return (
            f"plt.figure(figsize=(8, 4.5))\n{named}{CHARTS[self.chart].format(bins=bins)}\n"
            "plt.tight_layout()\nplt.show()\n\n"
        )

    def _is_discrete(self) -> bool:
        return self.source.note in ("dice", "coins")


def quote(operations: Iterable[str], language: str) -> str:
    """Return a comment that quotes the values that these operations print."""
    end = "。" if language == "zh" else ". "
    return "".join(f"{localized('names', name, language)}: **{{{name}}}**{end}" for name in operations).strip()


def read(prompt: Prompt, previous: Task | None) -> Series | None:
    """Return the operations that the prompt asks for. A change may leave out the numbers, or the operations."""
    before = previous if isinstance(previous, Series) and prompt.take_all(word("actions.change")) else None
    bins = prompt.take(
        r"(?:\b(?:with|mit|in) )?(?P<n>[1-9]\d{0,2}) (?:bins?|klassen|balken)\b|(?P<m>\d{1,3}) ?个?(?:组|区间)"
    )
    chart = next((chart for chart in CHARTS if prompt.take(word(f"charts.{chart}"))), "")
    source = read_source(prompt)
    is_drawn = prompt.take(word("actions.draw")) is not None
    operations = tuple(name for name in _NAMED if prompt.take(word(f"statistics.{name}")))
    if prompt.take(word("statistics.sort")) and not {"ascending", "descending"}.intersection(operations):
        operations += ("ascending",)
    if source is None and before is not None:
        source = before.source
        chart, operations = (chart, operations) if chart or operations else (before.chart, before.operations)
        bins_number = int(next(filter(None, bins.groups()))) if bins else before.bins
    elif source is not None:
        bins_number = int(next(filter(None, bins.groups()))) if bins else 0
        if before is not None and not (chart or operations or is_drawn):
            chart, operations, bins_number = before.chart, before.operations, bins_number or before.bins
    else:
        return None
    series = Series(source, operations, chart or _usual_chart(source, is_drawn=is_drawn), bins_number)
    return series if _makes_sense(series, has_bins=bins is not None) else None


def _usual_chart(source: Source, *, is_drawn: bool) -> str:
    if not is_drawn:
        return ""
    if source.kind in ("random", "coins"):
        return "histogram"
    return "bar" if source.has_labels else "line"


def _makes_sense(series: Series, *, has_bins: bool) -> bool:
    """Return whether the numbers allow the chart and the operations."""
    source, names = series.source, series.operations
    is_long = source.kind not in ("typed", "counted") and not re.search(r"range\(1, \d\d? \+", source.code)
    if (series.chart in ("bar", "pie") and is_long) or (series.chart == "pie" and "-" in source.code):
        return False
    if source.kind == "counted" and (not series.chart or names):
        return False
    if "palindrome" in names and not source.is_single:
        return False
    if source.is_single and (series.chart or set(names) - {"palindrome"}):
        return False
    if has_bins and series.chart != "histogram":
        return False
    # A list without a question: it is unclear what is wanted.
    if source.kind == "range":
        return bool(set(names) - {"count"})
    return bool(source.kind != "typed" or series.chart or names)
