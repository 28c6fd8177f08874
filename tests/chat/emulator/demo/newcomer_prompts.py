"""Fifty prompts of people who try the demo model, each with an independent check of its answer, or with a refusal.

The checks compute the right answer again, with the standard library alone.
"""

from __future__ import annotations

import csv
import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType

from tests.chat.emulator.demo.run_programs import Result

Check = Callable[[Result], bool]
NO_FILES: Mapping[str, bytes] = MappingProxyType({})

SALES = b"""date,region,product,units,price
2024-01-05,North,Lamp,3,"$1,200.50"
2024-01-20,South,Desk,5,$80.00
2024-02-03,North,Desk,2,$85.00
2024-03-11,West,Lamp,4,"$1,150.00"
2024-03-15,South,Lamp,1,"$1,210.00"
"""
TREES = "Datum;Art;Menge;Preis\n01.02.2024;Baum;3;1.200,50\n15.02.2024;Busch;10;80,00\n03.03.2024;Baum;5;99,90\n"
PEOPLE = b"name,city\nAnn,Paris\nBob,Rome\nCid,Paris\n"
PASTED = "name,score\nAnn,3\nBob,5\nCid,10\n\nWhat is the average score?"


@dataclass(frozen=True, slots=True)
class Newcomer:
    """A prompt, with what is attached, and the check of its answer."""

    prompt: str
    check: Check | None
    """`None`: the demo model must refuse."""
    files: Mapping[str, bytes] = field(default_factory=lambda: NO_FILES)


def primes(limit: int) -> list[int]:
    return [number for number in range(2, limit) if all(number % one for one in range(2, math.isqrt(number) + 1))]


def fibonacci(number: int) -> int:
    last, following = 0, 1
    for _ in range(number):
        last, following = following, last + following
    return last


def nearest_palindrome(number: int) -> int:
    return min((one for one in range(number * 2) if str(one) == str(one)[::-1]), key=lambda one: abs(one - number))


def column(data: bytes, name: str, sign: str = ",") -> list[str]:
    return [row[name] for row in csv.DictReader(data.decode().splitlines(), delimiter=sign)]


def prices() -> list[float]:
    return [float(cell.replace("$", "").replace(",", "")) for cell in column(SALES, "price")]


def units() -> list[int]:
    return [int(cell) for cell in column(SALES, "units")]


def sums_by(keys: list[str], values: list[float]) -> dict[str, float]:
    sums: dict[str, float] = defaultdict(float)
    for key, value in zip(keys, values, strict=True):
        sums[key] += value
    return dict(sorted(sums.items()))


def prints(**expected: object) -> Check:
    """Check printed values; numbers may differ by rounding."""

    def check(result: Result) -> bool:
        for name, value in expected.items():
            printed = result.printed[name.replace("_", " ")]
            if isinstance(value, float | int) and not isinstance(value, bool):
                if not math.isclose(result.number(name.replace("_", " ")), value, rel_tol=1e-4, abs_tol=1e-9):
                    return False
            elif printed != str(value):
                return False
        return True

    return check


def lists(numbers: list[int]) -> Check:
    return lambda result: all(str(number) in result.text.split() for number in numbers)


def draws_bars(heights: list[float], **expected: object) -> Check:
    return lambda result: list(result.figures[0].bars) == heights and prints(**expected)(result)


def draws_histogram_of(count: int, low: float = -math.inf, high: float = math.inf) -> Check:
    def check(result: Result) -> bool:
        in_bounds = low <= result.number("mean") <= high
        return sum(result.figures[0].bars) == count == result.number("count") and in_bounds

    return check


def draws(function: Callable[[float], float], low: float, high: float, number: int = 0) -> Check:
    """Check a curve, apart from the line of the axis."""

    def check(result: Result) -> bool:
        xs, ys = [line for line in result.figures[0].lines if len(line[0]) > 100][number]
        is_right = all(math.isclose(function(x), y, rel_tol=1e-9, abs_tol=1e-9) for x, y in zip(xs, ys, strict=True))
        return is_right and math.isclose(xs[0], low) and math.isclose(xs[-1], high)

    return check


def both(first: Check, second: Check) -> Check:
    return lambda result: first(result) and second(result)


FIFTY_PRIMES = primes(230)
TYPED = [3, 3, 4, 5, 5, 5, 6, 7, 7, 8, 8, 8, 8, 9, 10, 12]
sales, trees, people = {"sales.csv": SALES}, {"trees.csv": TREES.encode()}, {"people.csv": PEOPLE}
correlation = round(statistics.correlation(units(), prices()), 4)
two_files = {**sales, **people}

PROMPTS = (
    Newcomer(
        "Calculate 20th fibonacci number. Then find the nearest palindrome",
        prints(palindrome=nearest_palindrome(fibonacci(20))),
    ),
    Newcomer("First 50 primes", both(lists(FIFTY_PRIMES), prints(count=50, sum=sum(FIFTY_PRIMES)))),
    Newcomer(
        "What is the sum of the first 50 prime numbers? Generate and run code for the calculation, "
        "and make sure you get all 50.",
        prints(sum=sum(FIFTY_PRIMES)),
    ),
    Newcomer("Draw a histogram of 1000 random numbers", draws_histogram_of(1000)),
    Newcomer("Plot a sine wave", both(draws(math.sin, 0, 4 * math.pi), prints(highest="1 (x = 1.57)"))),
    Newcomer("plot x^2 - 3x + 1 from -2 to 5", draws(lambda x: x * x - 3 * x + 1, -2, 5)),
    Newcomer("Compare sin(x) and cos(x) from 0 to 10", both(draws(math.sin, 0, 10), draws(math.cos, 0, 10, 1))),
    Newcomer("What is 17 * 23?", prints(result=17 * 23)),
    Newcomer("2^100", prints(result=str(2**100))),
    Newcomer("what is 15% of 80", prints(result=12)),
    Newcomer("square root of 2", prints(result=math.sqrt(2))),
    Newcomer("solve x^2 - 5x + 6 = 0", prints(result="x = 2 ∨ x = 3")),
    Newcomer("solve x + y = 5, x - y = 1", prints(result="x = 3, y = 2")),
    Newcomer("derivative of x^3", prints(result="3*x**2")),
    Newcomer("integrate x^2 from 0 to 3", prints(result=9)),
    Newcomer("Is 97 a prime number?", prints(result=97 in primes(100))),
    Newcomer("prime factors of 360", prints(result="2 * 2 * 2 * 3 * 3 * 5")),
    Newcomer("How many primes are there below 100?", prints(count=len(primes(100)))),
    Newcomer(
        "sum of all multiples of 3 or 5 below 1000", prints(sum=sum(k for k in range(1000) if k % 3 * (k % 5) == 0))
    ),
    Newcomer("What is the mean of 3, 5 and 8?", prints(mean=statistics.fmean([3, 5, 8]))),
    Newcomer(
        "standard deviation of 2, 4, 4, 4, 5, 5, 7, 9", prints(deviation=statistics.stdev([2, 4, 4, 4, 5, 5, 7, 9]))
    ),
    Newcomer("bar chart of apples 3, pears 5, plums 8", draws_bars([3, 5, 8])),
    Newcomer("histogram of these: " + " ".join(map(str, TYPED)), draws_histogram_of(len(TYPED))),
    Newcomer(
        "pie chart: A 30, B 20, C 50", lambda result: [round(one) for one in result.figures[0].slices] == [108, 72, 180]
    ),
    Newcomer("roll two dice 1000 times and plot the distribution", draws_histogram_of(1000, 6.5, 7.5)),
    Newcomer(
        "Estimate pi with 5000 points",
        both(prints(points=5000), lambda result: abs(result.number("estimate") - math.pi) < 0.1),
    ),
    Newcomer("Balkendiagramm von 3, 5, 8", draws_bars([3, 5, 8])),
    Newcomer("Was ist der Mittelwert von 3,5 und 8?", prints(mean=(3.5 + 8) / 2)),
    Newcomer("Summe von 3 und 5", prints(sum=8)),
    Newcomer("Zeichne x^2 - 3 von -2 bis 4", draws(lambda x: x * x - 3, -2, 4)),
    Newcomer("gib mir die ersten 40 fibonacci zahlen", lists([fibonacci(number) for number in range(1, 41)])),
    Newcomer("列出前 50 个素数", lists(FIFTY_PRIMES)),
    Newcomer("求 x^4-5x^2+4=0 的所有根", prints(result="x = -2 ∨ x = -1 ∨ x = 1 ∨ x = 2")),
    Newcomer(
        "What is in here?", both(prints(rows=5, columns=5), lambda result: f"{max(prices())}" in result.text), sales
    ),
    Newcomer(
        "average price by product",
        prints(highest="Lamp", highest_value=statistics.fmean(prices()[i] for i in (0, 3, 4)), lowest_value=82.5),
        sales,
    ),
    Newcomer(
        "total units by region as a bar chart",
        draws_bars(list(sums_by(column(SALES, "region"), [float(one) for one in units()]).values())),
        sales,
    ),
    Newcomer(
        "only the product column as a histogram",
        draws_bars([count for _, count in sorted(Counter(column(SALES, "product")).items())]),
        sales,
    ),
    Newcomer("how many rows have price above 100?", prints(rows=sum(price > 100 for price in prices())), sales),
    Newcomer("correlation between units and price", prints(correlation=correlation), sales),
    Newcomer(
        "plot units over time",
        lambda result: (
            list(result.figures[0].lines[0][1]) == units()
            and all(before < after for before, after in pairwise(result.figures[0].lines[0][0]))
        ),
        sales,
    ),
    Newcomer("Summe der Menge pro Monat", prints(highest="2024-02", highest_value=13, lowest_value=5), trees),
    Newcomer("Durchschnittlicher Preis", prints(mean=(1200.5 + 80 + 99.9) / 3), trees),
    Newcomer("how many different cities are there?", prints(groups=2, highest="Paris"), two_files),
    Newcomer(PASTED, prints(mean=6)),
    Newcomer("What is the weather in Berlin?", None),
    Newcomer("Write a poem about the sea", None),
    Newcomer("convert 100 km to miles", None),
    Newcomer("plot the population of Japan 1950-2020 as a bar chart", None),
    Newcomer("average price without the region North", None, sales),
    Newcomer("sum of the first 50 primes divided by 7", None),
)
