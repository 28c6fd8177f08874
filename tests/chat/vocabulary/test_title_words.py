"""Titles that are made of the first question."""

from __future__ import annotations

import pytest

from chat.vocabulary.title_words import title_of

PASTED = "import pandas as pd\n\ndf = pd.read_csv('sales.csv')\ndf.plot()\n"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Plot a sine wave", "Plot a sine wave"),
        ("x = 5", "x = 5"),
        ("Dear team,\nif you have time, look at this", "Dear team, if you have time, look at this"),
        ("Why does this fail?\n```python\nprint(1)\n```", "Why does this fail?"),
        (f"{PASTED}\nWhy is it empty?", "Why is it empty?"),
        (f"{PASTED}plt.title('Sales by region')\nplt.show()", "Sales by region"),
        (f"# Sales of the year\n{PASTED}", "Sales of the year"),
        (f'"""Reads the log of the turbine."""\n{PASTED}', "Reads the log of the turbine."),
        ("def fib(n):\n    return n if n < 2 else fib(n - 1)\n", "fib"),
        ("```python\nprint(1)\n```", "print(1)"),
        (PASTED, "sales.csv"),
        (f"{PASTED}plt.ylabel('Rain, mm')", "Rain, mm"),
        (
            "import numpy as np\nfrom math import pi\nweekly = np.arange(9) * pi\nweekly.sum()",
            "weekly = np.arange(9) * pi",
        ),
        ("```\n```", "Code"),
        ("word " * 20, "word " * 11 + "word…"),
    ],
)
def test_title_is_made_of_the_words_or_the_code_of_the_question(text: str, title: str) -> None:
    assert title_of(text) == title
