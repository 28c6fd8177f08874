"""Conversations that let the demo model run every kind of program that it knows, in its three languages. Pure."""

from __future__ import annotations

from chat.emulator.demo.language import TEXTS

TABLE = b"""date,region,product,units,price
2026-01-05,North,Lamp,3,49.90
2026-01-19,South,Chair,1,120.00
2026-02-02,North,Desk,2,310.50
2026-02-20,East,Lamp,6,47.50
2026-03-08,South,Lamp,4,51.25
2026-03-30,East,Chair,5,115.00
"""

LANGUAGES = ("en", "de", "zh")

CALCULATIONS = (
    "What is 17 * 23?",
    "square root of 2",
    "solve x + y = 5, x - y = 1",
    "second derivative of x^4",
    "derivative of x^3",
    "integral of x^2",
    "integrate x^2 from 0 to 3",
    "simplify (x^2 - 1)/(x - 1)",
    "expand (x + 1)^3",
    "factor x^2 - 5x + 6",
    "prime factors of 360",
    "Is 97 a prime number?",
    "Leite x^3 + 2x ab",
    "Löse x^2 = 2",
    "Vereinfache (x^2 - 1)/(x - 1)",
    "求 x^4-5x^2+4=0 的所有根",
)

CURVES = ("Compare sin(x) and cos(x) from 0 to 10", "Vergleiche sin(x) und cos(x)", "比较 sin(x) 和 cos(x)", "Plot 1/x")

SERIES = (
    "mode of 3, 3, 5 and 8",
    "sum and mode of 3, 5 and 8",
    "minimum and maximum of 3, 5, 8",
    "standard deviation of 2, 4, 4, 4, 5, 5, 7, 9",
    "sort 8, 3, 5",
    "pie chart: A 30, B 20, C 50",
    "line chart of 3, 5, 8, 2",
    "roll two dice 1000 times and plot the distribution",
    "1000 random numbers from a normal distribution",
    "500 random numbers",
    "the 10th prime",
    "How many primes are there below 100?",
    "sum of all multiples of 3 or 5 below 1000",
    "first 10 squares",
    "even numbers up to 20",
    "odd numbers up to 20",
    "sum of the integers from 1 to 100",
    "gib mir die ersten 40 fibonacci zahlen",
    "Summe von 3 und 5",
    "3, 5, 8 的条形图",
    "前 10 个斐波那契数",
)

TABLES = (
    "what is the mean price in region North?",
    "which product has the highest total units?",
    "show only rows where units > 2",
    "units per month",
    "price over time",
    "number of rows by region",
    "histogram of price",
    "plot price against units",
    "describe units",
    "draw the units",
    "how many different products",
    "pie chart of region",
    "total units by region as a bar chart",
    "Summe von units nach region",
    "按 region 的 units 总和",
)

FOLLOW_UPS = (
    ("Plot a sine wave", "Make it a cosine", "again"),
    ("median of 3, 5, 8", "again"),
    ("```python\nvalues = [1, 2, 3]\nprint(sum(values))\n```", "```python\nprint(max(values))\n```"),
    ("Zeichne eine Sinuskurve", "Mach daraus einen Kosinus"),
    ("画一条正弦曲线", "改成余弦"),
    ("Führe das aus:\n```python\nprint(2 + 3)\n```", "führe das noch einmal aus"),
    ("请运行：\n```python\nprint(2 + 3)\n```", "再来一次"),
)
"""Questions that follow one another in a conversation."""


def conversations() -> list[tuple[tuple[str, ...], bool]]:
    """Return the questions of each conversation, and whether a table is attached to the first."""
    examples = TEXTS["examples"]
    shown = [text for language in LANGUAGES for text in examples[language]]
    questions = [*shown, *CALCULATIONS, *CURVES, *SERIES]
    of_table = [text for language in LANGUAGES for text in examples[f"table_{language}"]] + [*TABLES]
    return [
        *(((text,), False) for text in dict.fromkeys(questions)),
        *((texts, False) for texts in FOLLOW_UPS),
        *(((text,), True) for text in of_table),
    ]
