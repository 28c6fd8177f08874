"""Where numbers come from: rounding, units, signs, rows and columns, and arithmetic."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from chat.messages.numbers.contexts import Contexts
from chat.messages.numbers.ledger import trace_numbers
from chat.messages.numbers.sources import SourceText, Verdict
from tests.chat.messages.numbers.verdicts import verdicts
from tests.time_growth import GROWTH_LIMIT, time_growth

TABLE = """      city  revenue_eur  orders  growth
0     Ulm      76993.30    1381  0.1234
1    Bonn       2568.20      43 -0.0521
2  Kassel      74770.75    2266  0.5000
"""
SALES = """\
  region   revenue  orders  share
0  North  48210.55     312  0.274
1   East  61340.90     401  0.349
"""


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Ulm had a revenue of 76,993.3 €.", "output"),
        ("Ulm had a revenue of 77 thousand.", "output"),
        ("Ulm had a revenue of 76,994 €.", "nowhere"),
        ("Ulm had a revenue of 76,993.3 $.", "nowhere"),
        ("Bonn had a revenue of 76,993.3 €.", "nowhere"),
        ("Ulm grew by 12.3 %.", "output"),
        ("Ulm grew by 12.4 %.", "nowhere"),
        ("Bonn fell by 5.2 %.", "output"),
        ("Bonn grew by 5.2 %.", "nowhere"),
        ("Ulm grew by -12.3 %.", "nowhere"),
        ("The limit of 4,711 is kept.", "question"),
        ("The limit of 815 is kept.", "code"),
        ("The difference between Ulm and Bonn in orders is 1,338.", "derived"),
        ("The total of orders is 3,690.", "derived"),
        ("The total of orders is 3,691.", "nowhere"),
        ("Ulm had a revenue of 77,000 €.", "output"),
        ("Ulm had a revenue of 76,000 €.", "nowhere"),
    ],
)
def test_number_has_a_source_only_if_row_unit_sign_and_rounding_fit_its_sentence(text: str, verdict: str) -> None:
    assert verdicts(TABLE, text, question="Is 4711 above it?", code="limit = 815") == [verdict]


def test_numbers_that_are_swapped_between_two_rows_have_no_source() -> None:
    assert verdicts(TABLE, "Ulm (1,381 orders) is behind Kassel (2,266 orders).") == ["output", "output"]
    assert verdicts(TABLE, "Ulm (2,266 orders) is behind Kassel (1,381 orders).") == ["nowhere", "nowhere"]


def test_statistic_of_a_column_is_no_source_for_the_value_of_a_row() -> None:
    output = f"{TABLE}\n{'':8}orders\nmean  1230.000\nmax   2266.000\n"
    for text, verdict in (
        ("Ulm is above the average of 1,230 orders.", "output"),
        ("Ulm has 1,230 orders.", "nowhere"),
        ("Ulm has 2,266 orders.", "nowhere"),
    ):
        assert verdicts(output, text) == [verdict], text


@pytest.mark.parametrize(
    ("output", "text", "expected"),
    [
        (SALES, "East has 34.9 % of the revenue.", ["output"]),
        (SALES, "North comes to 48,210.55 in 312 orders.", ["output", "output"]),
        (SALES, "North comes to 48,210.55 in 274 orders.", ["output", "nowhere"]),
        ("year,units,price\n2019,1240,18.50\n2020,1475,17.90\n", "Units rose from 1,240 to 1,475.", ["output"] * 2),
        (
            "year,units,price\n2019,1240,18.50\n2020,1475,17.90\n",
            "Units rose from 1,240 to 1,457.",
            ["output", "nowhere"],
        ),
        ("Inhabitants by state (million)\nUlm 3755251\nBonn 1892122\n", "Ulm has 3,755,251 inhabitants.", ["output"]),
        (
            "group  n  mean\nA  48  17.36\nB  52  14.09\nt = 4.04, df = 98",
            "Group A (n = 48) averages 17.4, t = 4.04.",
            ["output"] * 3,
        ),
        (SALES, "North: 48,210.55. East: 61,340.90. East is ahead by 13,130.35.", ["output", "output", "derived"]),
    ],
)
def test_column_names_restrict_only_sources_in_the_rows_of_their_own_table(
    output: str, text: str, expected: list[str]
) -> None:
    assert verdicts(output, text) == expected


def test_digits_of_keys_and_digests_are_not_read_as_numbers() -> None:
    assert trace_numbers("9" * 5_000, [SourceText("output", "9" * 5_000, None, None)]) == []


def test_factors_that_occur_only_in_the_code_are_not_checked() -> None:
    """Without this rule, each would be computed from the other: 6 is 42 / 7, and 7 is 42 / 6."""
    sources = [SourceText("output", "42"), SourceText("code", "print(6 * 7)")]
    [number] = trace_numbers("The product of 6 and 7 is **42**.", sources)
    assert (int(number.value), number.verdict) == (42, "output")


def test_context_of_a_number_in_a_very_long_sentence_has_at_most_1000_characters() -> None:
    text = "one and two and " * 2_000
    contexts = [Contexts(text).at(position) for position in range(0, len(text), 997)]
    assert all(len(one.text) <= 1_000 and one.start + one.position == 997 * n for n, one in enumerate(contexts))


@pytest.mark.parametrize(
    ("output", "text", "expected"),
    [
        ("       gwh\nWind   10254.0\nSolar  5306.0\n", "Wind made 10.25 TWh.", ["output"]),
        ("       gwh\nWind   10254.0\nSolar  5306.0\n", "Wind made 10.35 TWh.", ["nowhere"]),
        ("      sales (万)\nUlm   48200.0\nBonn  31200.5\n", "Ulm: 4.82亿元", ["output"]),
        ("     eur_kg_2022\nUlm        4.496\nBonn       3.713\n", "Ulm pays 4.50 €/kg.", ["output"]),
        (
            "      punctual   min\nS3       94.68  93.3\nS1       92.42  90.5\n",
            "S3: 94.7 %, at least 93.3 %",
            ["output"] * 2,
        ),
        (
            "quarter  cancelled  mean\n1        428  6082.0\n3        546  6869.0\n",
            "The mean rose from 6,082 in Q1 to 6,869 in Q3.",
            ["output"] * 2,
        ),
        (
            "       skus      value\nDerby    18  193665.67\nHull     11  161207.56\n",
            "Stock of $355k: $193.7k in Derby, $161.2k in Hull.",
            ["derived", "output", "output"],
        ),
        (
            "       n     sum   mean\nCar  129  1565300.0  12134.0\nHome  146  1925500.0  13188.0\n",
            "Home has loans for 1,565,300.",
            ["nowhere"],
        ),
    ],
)
def test_source_is_found_if_the_text_uses_another_unit_or_a_short_form_of_a_name(
    output: str, text: str, expected: list[str]
) -> None:
    assert verdicts(output, text) == expected


def test_time_for_a_table_in_an_answer_grows_linearly_with_its_rows() -> None:
    def trace(rows: int) -> None:
        lines = "".join(f"| City{n} | {n * 7.3:.1f} |\n" for n in range(rows))
        output = "".join(f"City{n}  {n * 7.3:.1f}\n" for n in range(rows))
        text = f"| City | Sales (M€) |\n|---|---|\n{lines}\n{'All in one place. ' * 8 * rows}"
        trace_numbers(text, [SourceText("output", output)])

    assert time_growth(trace, 1_600) < GROWTH_LIMIT


@pytest.mark.parametrize("label", ["q", "mean"])
def test_time_for_a_list_grows_linearly_with_its_lines_and_with_tables_that_have_its_column(label: str) -> None:
    def trace(count: int) -> None:
        text = "".join(f"- one: {n % 90 + 10 if n % 3 else n + 7000}.25 kg\n" for n in range(count))
        tables = [f"name   kg\n{label}  {n % 90 + 10}.25\nq{n}b  {n % 90 + 10}.75\n\n" for n in range(count)]
        trace_numbers(text, [SourceText("output", "".join(tables[n : n + 500])) for n in range(0, count, 500)])

    assert time_growth(trace, 1_600) < GROWTH_LIMIT


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        ("code", lambda n: " ".join(f"wind{one}_min" for one in range(n))),
        ("code", lambda n: f"f'''a,b\n1,2\n{'{x}a' * n}'''"),
        ("output", lambda n: "a " * n + "\n" + "1 " * n),
    ],
    ids=["names-of-minima", "parts-of-a-text", "columns"],
)
def test_time_grows_linearly_with_the_length_of_a_source(kind: Verdict, source: Callable[[int], str]) -> None:
    assert time_growth(lambda n: trace_numbers("It is 5.3.", [SourceText(kind, source(n))]), 6_000) < GROWTH_LIMIT
