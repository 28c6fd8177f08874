"""Statistics, dictionaries, quantiles and pivot tables in outputs: which of their numbers a sentence may mean."""

from __future__ import annotations

import pytest

from chat.messages.numbers.ledger import trace_numbers
from chat.messages.numbers.source_tables import SourceTables
from chat.messages.numbers.sources import SourceText
from chat.messages.numbers.statistic_words import label_statistic
from tests.chat.messages.numbers.verdicts import verdicts

GROUPS = "{'Alba': 7.21, 'Coral': 7.35}\n{'n_Alba': 11, 'n_Coral': 14}\nmedian: 7.240 vs 7.185"
DESCRIPTION = (
    "count    60.00\nmean     19.52\nstd       7.36\nmin      -9.83\n25%      15.94\n50%      18.18\nmax      35.25\n"
)
QUANTILES = "0.10    17.87\n0.25    23.38\n0.50    30.05\nName: hours, dtype: float64\n"
PIVOT = "year       2018  2023\nregion               \nNorth     20581  5173\nSouth      1272  4735\n"
MEANS = "weighted: 2.698  simple: 2.706\n"
CORRELATIONS = "         age  income\nage     1.00    0.42\nincome  0.42    1.00\n\nn = 60\n"
LINES = "slope = -0.5127\nintercept = 214.8\nR2 = 0.3348  n = 12\n"


@pytest.mark.parametrize(
    ("output", "labels"),
    [
        ("{'Alba': 7.21, 'Ring 2': np.float64(7.35), 'C': nan}", ["alba", "ring 2", "c"]),
        ("t = -4.55, p = 0.01\nn = 180  min = 9.2", ["t", "p", "n", "min"]),
        ("{0.1: 2.96, 0.25: 3.2}", ["10%", "25%"]),
        (QUANTILES, ["10%", "25%", "50%"]),
        ("WT-9     27.591\nWT-10    54.920", ["wt-9", "wt-10"]),
        ("Alba      514960\nRing 2    426649", ["alba", "ring 2"]),
    ],
)
def test_dictionary_keys_and_names_with_digits_are_read_as_row_labels(output: str, labels: list[str]) -> None:
    tables = SourceTables([SourceText("output", output)]).all
    assert [row.label for table in tables for row in table.rows] == labels


@pytest.mark.parametrize(
    ("output", "text", "expected"),
    [
        (GROUPS, "Alba and Coral are 7.21 and 7.35.", ["output"] * 2),
        (GROUPS, "Alba and Coral are 7.35 and 7.21.", ["nowhere"] * 2),
        (GROUPS, "Group sizes are 11 (Alba) and 14 (Coral).", ["output"] * 2),
        (GROUPS, "Group sizes are 14 (Alba) and 11 (Coral).", ["nowhere"] * 2),
        (GROUPS, "| Name | Count | Median |\n|---|---|---|\n| Alba | 11 | 7.24 |", ["output"] * 2),
        (DESCRIPTION, "The mean is 19.52 and the median 18.18.", ["output"] * 2),
        (DESCRIPTION, "The mean is 18.18 and the median 19.52.", ["nowhere"] * 2),
        (DESCRIPTION, "Die Standardabweichung ist 15,94.", ["nowhere"]),
        (DESCRIPTION, "Mittel und Median: 19,52 und 18,18.", ["output"] * 2),
        (DESCRIPTION, "最小值为 -9.83，最大值为 35.25。", ["output"] * 2),
        (DESCRIPTION, "The smallest value is 9.83.", ["nowhere"]),
        (DESCRIPTION, "माध्यिका 19.52 है।", ["nowhere"]),
        (QUANTILES, "| Statistic | Value |\n|---|---|\n| P10 | 17.87 |\n| P25 | 23.38 |", ["output"] * 2),
        (QUANTILES, "| Statistic | Value |\n|---|---|\n| P10 | 23.38 |\n| P25 | 17.87 |", ["nowhere"] * 2),
        (PIVOT, "North went from 20,581 in 2018 to 5,173 in 2023.", ["output"] * 2),
        (PIVOT, "North reached 5,173 in 2018.", ["nowhere"]),
        (PIVOT, "From 2018 to 2023, North fell from 20,581 to 5,173, down 75 %.", ["output", "output", "derived"]),
        (PIVOT, "Both years of South add up to 6,007.", ["derived"]),
        (DESCRIPTION, "The values lie between -9.83 and 35.25.", ["output"] * 2),
        (MEANS, "Weighted by pupils the mean is 2.698, the simple mean 2.706.", ["output"] * 2),
        (MEANS, "Weighted by pupils the mean is 2.706, the simple mean 2.698.", ["nowhere"] * 2),
        (CORRELATIONS, "Age and income have a correlation of 0.42.", ["output"]),
        ("Ulm 50671\nBonn 40391\ngap 10280\n", "In Ulm there are 40,391.", ["nowhere"]),
        ("Name: x, dtype: int64\n", "It was sold 64 times.", ["nowhere"]),
        (LINES, "The intercept is 214.8; each unit takes away 0.5127 less.", ["output"] * 2),
        (LINES, "Each unit raises it by 0.5127.", ["nowhere"]),
        (LINES, "R² is 0.3348, so the line explains 33.5 %.", ["output"] * 2),
        (LINES, "R² is 0.3348 %.", ["nowhere"]),
    ],
)
def test_words_of_the_sentence_select_the_statistic_the_row_and_the_column(
    output: str, text: str, expected: list[str]
) -> None:
    assert verdicts(output, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The wait is 36.75 hours.", ["output"]),
        ("The wait is 36.75 minutes.", ["nowhere"]),
        ("Die Kosten betragen 812,6 EUR.", ["nowhere"]),
        ("La cuota es de 14,38 %.", ["output"]),
    ],
)
def test_unit_of_a_column_is_taken_from_its_name_in_the_code(text: str, expected: list[str]) -> None:
    code = 'df[["wait_hours", "cost_chf", "share_pct"]].mean()'
    assert verdicts("cost    812.6\n\n2022    36.75\n2023    14.38\n", text, code=code) == expected


def test_source_in_a_long_output_is_accepted_although_another_output_has_the_same_statistic() -> None:
    long = "city  mean\n" + "".join(f"City{n}  {n + 0.125}\n" for n in range(4000))
    sources = [SourceText("output", long), SourceText("output", DESCRIPTION)]
    assert [one.verdict for one in trace_numbers("The mean of City17 is 17.125.", sources)] == ["output"]


def test_wrong_value_is_not_derived_from_a_ratio_in_the_same_text() -> None:
    assert verdicts(GROUPS, "Coral is 1.019 times Alba. For Alba it is 7.35.") == ["derived", "nowhere"]


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (
            "         mean   min\nQ1   250456.1  1067\nQ2   270131.4  1107\nQ4   309052.2  1389\n",
            "| | Mean |\n|---|---|\n| Q2 | 270,131 |\n",
        ),
        ("         mean   sd\n5 min   14.53  1.05\n2 days  10.17  2.41\n", "After 5 min, the mean was 14.53."),
    ],
)
def test_names_that_look_like_statistics_do_not_exclude_a_number(output: str, text: str) -> None:
    assert set(verdicts(output, text)) == {"output"}


@pytest.mark.parametrize(("label", "statistic"), [("share %", ""), ("97.5%", "97.5%"), ("95% ci", "")])
def test_percentage_in_a_label_is_a_percentile_only_with_a_number_alone(label: str, statistic: str) -> None:
    assert label_statistic(label) == statistic
