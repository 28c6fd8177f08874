"""Numbers of answers as they are read: six languages, units, scale words, powers, and what is no claim."""

from __future__ import annotations

import pytest

from chat.messages.numbers.reading import read_numbers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The total is 1,234.5 and −3.2 % less.", ["1234.5", "-3.2 %"]),
        ("About $1.2 million, 12–15 %.", ["1200000 USD", "12 %", "15 %"]),
        ("It is 1.2×10^5 or 1e5, with $R^2 = 0.87$.", ["120000", "100000", "0.87"]),
        ("Die Summe ist 1.234 und 3,5 % von 1,2 Mio. €.", ["1234", "3.5 %", "1200000 EUR"]),
        ("Das sind 2,5 Mrd. und 1.327.063 Stück.", ["2500000000", "1327063"]),
        ("Le total est de 12\u202f345,67\u00a0€ et 1 234.", ["12345.67 EUR", "1234"]),
        ("En conjunto son 724.620,8 € y 2.568,20 €.", ["724620.8 EUR", "2568.20 EUR"]),
        ("约12.3万，增长１２.３%。", ["123000", "12.3 %"]),
        ("कुल १२,३४,५६७ और 3.2 लाख है।", ["1234567", "320000"]),
        ("Es sind 1'234'567.80 CHF.", ["1234567.80 CHF"]),
        ("Es sind 59,1 Tausend oder 2,3 Tsd. €.", ["59100", "2300 EUR"]),
        ("Soit 45,2 milliers d'euros et 2,14 millions de dollars.", ["45200 EUR", "2140000 USD"]),
        ("它用了 5,466 千瓦时和 3千。", ["5466", "3000"]),
        ("The slope is 3.3e-06.", ["0.0000033"]),
        ("整体来看,3167.4万，低谷，4,634。", ["31674000", "4634"]),
        ("Der Januar 58 Stunden, les 12 mares, 25 marks.", ["58", "12", "25"]),
        ("It took 655ms for 16GB in the 1990s.", ["655", "16"]),
        ("अक्टूबर के 18.9 लाख से 87.5% अधिक, 7 यूरो।", ["1890000", "87.5 %", "7 EUR"]),
        ("That is 8.7 per 1,000 visits, soit 8,7 pour mille.", ["8.7 ‰", "8.7 ‰"]),
        ("| Fulda | 5,1 | 25 |\n| Bonn | 3.456 | -129 |", ["5.1", "25", "3456", "-129"]),
    ],
)
def test_numbers_are_read_with_their_units(text: str, expected: list[str]) -> None:
    assert [f"{one.amount.value:f} {one.unit}".strip() for one in read_numbers(text)] == expected


@pytest.mark.parametrize(
    "text",
    [
        "I used pandas 2.2.3 with Python 3.12, version 4.",
        "As in 2023, Q3 is above Q2 of 2019–2022.",
        "The file is dated 3 May 2024, 14:30, and 2024-05-03.",
        "Der 1. Platz, Stand: 3. Mai 2024, 14:30 Uhr.",
        "文件日期为2024年5月3日14:30。第1名",
        "See `df.head(5)` and [step 7](https://example.org/a/17).",
        "## 2.1 Result\n\n1. First\n2. Second",
        "This predates COVID-19, the A4 form and B2B.",
        "```python\nx = 17\n```",
        "It came 1st, then 2nd.",
        "The 25th to 75th percentile, die 25. bis 75. Perzentil-Werte, percentiles 25 a 75.",
        "25वें से 75वें पर्सेंटाइल, 第 25 至第 75 百分位",
        "As a rule, |r| > 0.5 is strong, with n − 1 in the denominator.",
        "Claude Opus 4.5, Llama 3.1 and Grok 4",
        "**版本：**0.9 of **Version:** 3.1",
    ],
)
def test_versions_dates_ranks_and_digits_in_code_are_not_read_as_numbers(text: str) -> None:
    assert read_numbers(text) == []
