"""The directions of computed numbers, and more results that answers compute."""

from __future__ import annotations

import pytest

from tests.chat.messages.numbers.verdicts import verdicts

PRICES = "      price\nUlm   14.35\nBonn  11.28\nKiel  17.90\n"
RATES = "year   share  units\n2021  0.3120   4180\n2022  0.2750   4655\n"
NUMBERED = "   year   share  units\n0  2021  0.3120   4180\n1  2022  0.2750   4655\n"
YEARS = "      sold_2023  sold_2024  diff\nUlm        4180       4655   475\nBonn       3020       2900  -120\n"
LINE = "slope = -0.2137\nintercept = 812.4\n"
MATRIX = "        width  depth\nwidth    1.00  -0.47\ndepth   -0.47   1.00\n"
PLANS = "  month  plan_basic\n2024-01        5179\n2024-06        5578\n2024-12        4686\n"
PEOPLE = "州  人口2010  人口2020\n甲  88943905  96911079\n丙  52745866  50769446\n"
WHOLE = "      rate\nUlm   61.3\nBonn  78.5\n\noverall rate: 68.92\n"
TWO_SUMS = "gas      7314.0\nsolar    2911.0\n"
TESTS = "group  words\none    11.25\ntwo     7.50\n"
RESULT = ["output", "output", "derived"]
CHANGES = "       old    new  change_pct\nUlm   4180   4655        11.4\nBonn  2900   3020         4.1\n"


@pytest.mark.parametrize(
    ("output", "text", "right", "wrong", "expected"),
    [
        (PRICES, "Ulm is 3.07 {} Bonn.", "above", "below", ["derived"]),
        (PRICES, "Ulm costs 3.07 {} than Bonn.", "more", "less", ["derived"]),
        (PRICES, "Ulm liegt 3,07 {} dem von Bonn.", "über", "unter", ["derived"]),
        (PRICES, "Ulm coûte 3,07 de {} que Bonn.", "plus", "moins", ["derived"]),
        (PRICES, "Ulm queda 3,07 por {} de la de Bonn.", "encima", "debajo", ["derived"]),
        (PRICES, "Ulm 比 Bonn {} 3.07。", "高", "低", ["derived"]),
        (PRICES, "Ulm, Bonn से 3.07 {} है।", "अधिक", "कम", ["derived"]),
        (PRICES, "Ulm is 27.2 % {} Bonn.", "above", "below", ["derived"]),
        (PRICES, "दाम 14.35 से 11.28 हो गया – 3.07 की {}।", "गिरावट", "बढ़ोतरी", ["output", "output", "derived"]),
        (TESTS, "Readers recalled 11.25 words, listeners 7.5. Readers had 3.75 words {}.", "more", "fewer", RESULT),
        (TESTS, "Leser: 11,25, Hörer: 7,5. Leser liegen 3,75 {} den Hörern.", "über", "unter", RESULT),
        (TESTS, "读书组 11.25 分，听讲组 7.5 分。听讲组比读书组{} 3.75 分。", "低", "高", RESULT),
        (TESTS, "पाठक: 11.25, श्रोता: 7.5। श्रोता पाठक से 3.75 अंक {} हैं।", "कम", "अधिक", RESULT),
        (TESTS, "Lectores: 11,25, es decir, 3,75 {} que la otra parte.", "más", "menos", ["output", "derived"]),
        (RATES, "Units {} by 475 to 4,655.", "rose", "fell", ["derived", "output"]),
        (RATES, "Die Zahl {} um 475 auf 4.655.", "stieg", "sank", ["derived", "output"]),
        (RATES, "Units {} by 475, from 4,180 to 4,655.", "rose", "fell", ["derived", "output", "output"]),
        (NUMBERED, "In 2022, units {} by 475.", "rose", "fell", ["derived"]),
        (PLANS, "The plan went {} by 493 in the year.", "down", "up", ["derived"]),
        (PEOPLE, "丙的人口{}了198万。", "减少", "增加", ["derived"]),
        (
            YEARS,
            "Ulm stieg von 4180 auf 4655. Der Absatz nahm um 11,4 % {}.",
            "zu",
            "ab",
            ["output", "output", "derived"],
        ),
        (
            WHOLE,
            "The overall rate is 68.92, Ulm's 61.3. So Ulm is 7.62 {}.",
            "below",
            "above",
            ["output", "output", "derived"],
        ),
    ],
)
def test_computed_difference_has_the_direction_of_the_words(
    output: str, text: str, right: str, wrong: str, expected: list[str]
) -> None:
    assert verdicts(output, text.format(right)) == expected
    assert verdicts(output, text.format(wrong)) == ["nowhere" if one == "derived" else one for one in expected]


@pytest.mark.parametrize(("output", "text"), [(CHANGES, "In Ulm it {} by 11.4 %."), (YEARS, "In Ulm they {} by 475.")])
def test_copied_change_has_the_direction_of_the_words(output: str, text: str) -> None:
    assert verdicts(output, text.format("grew")) == ["output"]
    assert verdicts(output, text.format("fell")) == ["nowhere"]


@pytest.mark.parametrize(
    ("output", "text", "expected"),
    [
        (MATRIX, "| Pair | r |\n|---|---|\n| width, depth | -0.47 |\n", ["output"]),
        (MATRIX, "| Pair | r |\n|---|---|\n| width, depth | 0.47 |\n", ["nowhere"]),
        (MATRIX, "Their r is +0.47.", ["nowhere"]),
        (LINE, "The line is y = 812.4 − 0.2137 × x.", ["output", "output"]),
    ],
)
def test_sign_of_a_copy_is_that_of_the_source(output: str, text: str, expected: list[str]) -> None:
    assert verdicts(output, text) == expected


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (LINE, "The slope is -0.2137, so 1,000 more of them cost 214."),
        (LINE, "The slope is -0.2137 a year, or about 2.1 less in a decade."),
        (PRICES, "Ulm has 14.35 and Kiel 17.90. Both are far apart: Ulm is at 80.2 % of it."),
        (TWO_SUMS, "There are 7,314 of gas and 2,911 of solar. Gas is 71.5 % of all."),
        (RATES, "There were 4,180 and then 4,655 of them. The rise is 11.4 %."),
        (RATES, "In 2022 it is -3.7 points."),
        (PRICES, "The mean is 14.35 here and 17.90 there, on average 3.55 apart."),
    ],
)
def test_result_that_an_answer_computes_from_numbers_before_it_has_a_source(output: str, text: str) -> None:
    *copied, computed = verdicts(output, text)
    assert set(copied) <= {"output"}
    assert computed == "derived"


def test_difference_to_a_goal_in_the_question_uses_its_scale() -> None:
    output, text = "q4    2781472\nq3    2309218\n", "Q4 had 2,781,472 and is 281,472 above the goal."
    assert verdicts(output, text, question="Is the goal of 2.5 million reached?") == ["output", "derived"]
    assert verdicts(output, text, question="Is the goal reached?") == ["output", "nowhere"]


def test_total_without_one_of_two_rows_is_no_result() -> None:
    assert verdicts(TWO_SUMS, "Gas had 2,911, which rose.") == ["nowhere"]
    assert verdicts(TWO_SUMS, "Gas had 7,314, which rose.") == ["output"]


def test_number_of_one_named_row_is_no_sum_of_two_values() -> None:
    fibres = "         fibre\nAlmond    12.5\nLentil    10.7\nBread      6.8\n"
    assert verdicts(fibres, "Lentil has 10.7, Almond 17.5.") == ["output", "nowhere"]
    assert verdicts(fibres, "Lentil has 10.7 and Bread 6.8, together 17.5.") == ["output", "output", "derived"]


def test_percentage_is_no_sum_of_a_column_of_counts() -> None:
    counts = "      orders\nUlm      112\nBonn      41\nKiel      37\n"
    assert verdicts(counts, "It grew by 190 %.") == ["nowhere"]
    assert verdicts(counts, "It has 190 in all.") == ["derived"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The goal is 1.27.", "nowhere"),
        ("Ulm costs 1.27 times as much as Bonn.", "derived"),
        ("Ulm costs 1.27x as much as Bonn.", "derived"),
        ("Das Verhältnis von Ulm zu Bonn ist 1,27.", "derived"),
        ("Each visit takes 3.55 of it.", "nowhere"),
        ("The gap from Ulm to Kiel is 3.55.", "derived"),
        ("Entre Ulm et Kiel, il y a 3,55.", "derived"),
        ("Ulm 与 Kiel 相差 3.55。", "derived"),
    ],
)
def test_ratio_or_difference_of_two_distant_values_needs_a_word_for_it(text: str, expected: str) -> None:
    assert verdicts(PRICES, text) == [expected]


def test_word_that_contains_a_word_for_a_rule_is_no_rule() -> None:
    assert verdicts(MATRIX, "Mit den erzielten Toren sind es 0,81.") == ["nowhere"]
    assert verdicts(MATRIX, "The standard deviation is 0.81.") == ["nowhere"]
    assert verdicts(MATRIX, "Das Ziel sind 0,81.") == []
