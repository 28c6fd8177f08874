"""Short cases, one for each rule: forms of outputs, names of numbers in sentences, and computed values."""

from __future__ import annotations

import pytest

from chat.messages.numbers.measures import known_units
from tests.chat.messages.numbers.verdicts import verdicts

TEST = "F = 28.43, p = 0.0265\n"
NESTED = """{
 "Ulm": {
  "stops": 1312,
  "km_stop": 3.22
 },
 "Bonn": {
  "stops": 1187,
  "km_stop": 4.31
 }
}
"""
DICTIONARIES = "[{'city': 'Ulm', 'rate': 3.12}, {'city': 'Bonn', 'rate': 5.27}]\n"
ZONES = "zone B: slope -0.1927 per h, R2 0.967\nzone C: slope -0.0680 per h, R2 0.802\n"
TOTALS = "total stops 6126 total km 21697.7 failed 223\n"
TWO_LABELS = """\
           count   mean
age   sex
18-34 F      109  234.3
      M      203  226.7
55+   F       40  268.9
      M       56  265.1
"""
INTERVALS = "mag\n2.5-2.9    77\n4.0+       21\nName: count, dtype: int64\n"
QUANTILES = "       count  mean   50%   75%\nroom\nS01      288  4.11  4.12  4.51\nS02      288  4.43  4.42  4.84\n"
TWO_LINES = """\
       mean        count
arm    drug placebo drug placebo
site
Lyon -10.24 -2.59 25 22
Bonn -9.55 -4.22 20 23
"""
PIVOT = "returned   0   1\ncategory\nHome      88  17\nShoes     97  34\n"
LEAGUE = "        W  D  L  GF\nUlm    14  4  4  47\nBonn   12  7  3  39\n"
MODEL = "slope 2.684 intercept 313.4 r 0.781 se 0.215\n"
HOURS = "Ulm: 0.1927 per h\n"
GROUPS = "     n  mean\nUlm  10  4.10\nBonn 30  5.30\nKiel 20  6.80\n"
COUNTS = "       count\nUlm      640\nBonn     287\n\nadmitted: {'Ulm': 124, 'Bonn': 48}\n"
PAIRS = "biochar - control   diff  -1.19  p 0.6244\ncontrol - nitrogen  diff  -6.67  p 0.0000\n"
QUARTERS = "      cost\nQ1     301\nQ2     322\nQ3     315\nQ4     340\n"
YEARS = "       cost\nyear\n2021  30100\n2022  32210\n2023  31500\n2024  34000\n"
BALANCE = "month  balance\nJan      -3368\nFeb      -1951\nMar       1082\nApr       4235\n"
COEFFICIENTS = """\
                 coef    std err          t      P>|t|      [0.025      0.975]
------------------------------------------------------------------------------
Intercept     51.2200      4.120     12.432      0.000      43.078      59.362
age           -0.8120      0.210     -3.867      0.000      -1.227      -0.397
"""
TUKEY = """\
 group1   group2  meandiff p-adj  reject
----------------------------------------
biochar  control     -1.19 0.6244  False
control nitrogen     -6.67    0.0   True
"""
STATES = "status\nok         412\nlate        57\n"
CHANGES = "       change_pct\nUlm          -7.4\nBonn          7.9\n"
SALARIES = """              mean
sex              F       H
job
manager     4741.0  4946.0
clerk       2310.0  2421.0
"""
LEVELS = "       temp\nUlm   -7.4\nBonn   7.9\n"
TIMES = "      median_ms\nroute\n/a         1840\n/b          912\n"
AMOUNTS = "      revenue_k_eur\nUlm           301.8\nBonn          411.6\n"
PRICES = "     price_eur\nTea       8.60\nJam       2.40\n"
PLAIN = "      first  second\nUlm   737.8   640.9\nBonn  902.6   743.8\n"
FORMULA = "slope = -0.2045\nintercept = 21.4\n"
LONG = "121932631112635269\n7.382905639401\n"
CRASHES = "      sessions  crashes\nUlm     843950     7372\nBonn    743950     8372\n"
CROPS = """\
        north  south  area  farms  days
Wheat    6.21   6.94   120     33    97
Maize    7.42   9.31    47     19    88
Rye      4.66   5.10    28     14    91
Oats     3.95   4.03    36     21    93
Beets   74.30  77.90    25     12   131
"""
HERD = "cows: 16\nmilk_kg: 455.2\n\n          coef    se\nwarmth  -72.31  1.83\nsize      5.12  2.44\n"
YIELDS = "      yield\nUlm    1212\nBonn   4001\nKiel    856\n"


@pytest.mark.parametrize(
    ("output", "text", "expected"),
    [
        (NESTED, "Bonn has 4.31 km per stop and 1,187 stops.", ["output"] * 2),
        (NESTED, "Bonn has 3.22 km per stop.", ["nowhere"]),
        (DICTIONARIES, "Ulm is at 3.12 and Bonn at 5.27.", ["output"] * 2),
        (DICTIONARIES, "Ulm is at 5.27.", ["nowhere"]),
        (ZONES, "Zone B loses 0.193 an hour; the line fits well (R² = 0.967).", ["output"] * 2),
        (TOTALS, "They drove 21,698 km in all.", ["output"]),
        (TWO_LABELS, "Men of 18-34 took 226.7 minutes.", ["output"] * 2),
        (TWO_LABELS, "There were 259 men.", ["derived"]),
        (INTERVALS, "77 have 2.5 to 2.9, and just 21 reach 4.0 or more.", ["output"] * 5),
        (QUANTILES, "The upper quartile of S01 is 4.51 °C.", ["output"]),
        (QUANTILES, "The upper quartile of S01 is 4.84 °C.", ["nowhere"]),
        (TWO_LINES, "In Lyon, 25 had the drug and 22 the placebo.", ["output"] * 2),
        (SALARIES, "Clerks earn 2,421 € against 2,310 €.", ["output"] * 2),
        (PIVOT, "Of the shoes, 34 came back.", ["output"]),
        (QUARTERS, "In Q3, it was 315.", ["output"]),
        (QUARTERS, "In Q3, it was 322.", ["nowhere"]),
        (COEFFICIENTS, "Each year of age takes 0.812 off.", ["output"]),
        (TUKEY, "Nitrogen is 6.67 taller than the control.", ["output"]),
        (LEAGUE, "Ulm won 14.", ["output"]),
        (LEAGUE, "Ulm scored 7.", ["nowhere"]),
        ("p=9.93e-10", "It is 9.93 times as high.", ["nowhere"]),
    ],
)
def test_source_of_a_number_is_found_in_each_form_of_output(output: str, text: str, expected: list[str]) -> None:
    assert verdicts(output, text) == expected


@pytest.mark.parametrize(
    ("output", "text", "expected"),
    [
        (TEST, "Over the many plants of the garden it is clear (F = 28.43, p = 0.0265).", ["output"] * 2),
        (LEAGUE, "Few were lost: Ulm 3 and Bonn 4 in all.", ["nowhere"] * 2),
        (LEAGUE, "Ulm scored 47 and lost 3; Bonn lost 3.", ["output", "nowhere", "output"]),
        (NESTED, "- **Ulm and Bonn** drive far. They have 1,312 and 1,187 stops.", ["output"] * 2),
        (STATES, "There, 412 were ok, 57 (12.2 %) late.", ["output", "output", "derived"]),
        (INTERVALS, "Most lie between 2.5 and 2.9, 77 below 2.9 and 21 above it.", ["output"] * 5),
        (CHANGES, "Clos Ulm reached 7.4 %.", ["output"]),
        (LEVELS, "In Ulm it was 7.4.", ["nowhere"]),
        (PAIRS, "Nitrogen is 6.67 taller than the control.", ["output"]),
        (TWO_LABELS, "Among those of 55+ years, 40 were women.", ["output"]),
        (TEST, "It is significant (p < 0.001).", []),
        (LEAGUE, "Ulm scored more than Bonn, with 14 wins.", ["output"]),
        (LEAGUE, "Ulm won 14; the other club has 12 wins.", ["output", "output"]),
        (QUANTILES, "They reach 4.51 to 4.84, with a median of 4.12 and a mean of 4.11.", ["output"] * 4),
        (COUNTS, "Von 640 sind 124 über 400 Tsd. Zellen, also 19,4 %.", ["output", "output", "derived"]),
        ("mean  40.0\n75%   61.5\n90%   88.5\n", "The top tenth is above 88.5.", ["output"]),
        ("slope 3.521  standard error 0.163\n", "The slope is 3.521 ± 0.163.", ["output", "output"]),
    ],
)
def test_names_in_a_sentence_select_the_row_or_statistic_that_is_the_source(
    output: str, text: str, expected: list[str]
) -> None:
    assert verdicts(output, text) == expected


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (MODEL, "At 1,600 units, the model predicts 4,608."),
        (MODEL, "The line reaches 5,000 at 1,746."),
        (MODEL, "The interval of the slope goes from 2.26 to 3.11."),
        (MODEL, "With r = 0.781, r² is 0.610."),
        (MODEL, "With r = 0.781, it explains 61.0 %."),
        (HOURS, "It loses 0.1927 per hour, or 4.62 a day."),
        (GROUPS, "Weighted by size, it is 5.60."),
        (GROUPS, "Each step adds 1.35."),
        (GROUPS, "Ulm has 4.10, Bonn 5.30 and Kiel 6.80, which gives 5.40."),
        (COUNTS, "Ulm admits 19.4 %."),
        (TWO_LABELS, "Men are 63.5 % of all."),
        (YEARS, "Both halves differ: the first had 62,310."),
        (YEARS, "Once it fell by 2.2 %."),
        (BALANCE, "All losses together are 5,319."),
        (CRASHES, "In Ulm, the rate is 8.74 per 1,000 sessions."),
        (CROPS, "The gap is 0.73, or 11.8 %."),
        (HERD, "The 16 cows give 455.2 kg, or 28.45 kg each."),
        (HERD, "The slope is −72.31 with a standard error of 1.83.\n\nIt is 39.5 times as great."),
    ],
)
def test_value_that_can_be_computed_from_the_output_has_a_source(output: str, text: str) -> None:
    *others, computed = verdicts(output, text)
    assert "nowhere" not in others
    assert computed == "derived"
    last = text.rsplit(" ", 2 if "%" in text else 1)[0]
    assert verdicts(output, f"{last} 7,777.77.")[-1:] == ["nowhere"]


def test_numbers_of_a_table_have_the_scale_that_its_header_or_the_text_says() -> None:
    sales = "quarter  sales\n2024Q1   18702\n2024Q2   19574\n\nin k EUR\n"
    rows = "|---|---|\n| Q1 | 18.70 |\n| Q2 | 19.57 |\n"
    assert verdicts(sales, f"| Quarter | Sales (M€) |\n{rows}")[-2:] == ["output"] * 2
    assert verdicts(sales, f"| Quarter | Sales |\n{rows}\n(all in millions)")[-2:] == ["output"] * 2
    assert verdicts(sales, f"| Quarter | Sales |\n{rows}")[-2:] == ["nowhere"] * 2


@pytest.mark.parametrize(
    ("output", "text", "expected"),
    [
        (TIMES, "/a needs 1,840 ms, which is 1.84 s.", ["output", "output"]),
        (TIMES, "/b needs 912 seconds.", ["nowhere"]),
        (TIMES, "| | /a | /b |\n|---|---|---|\n| Median (s) | 1.84 | 0.91 |", ["output", "output"]),
        (AMOUNTS, "Ulm had 301.8 k€, Bonn 411,600 €.", ["output", "output"]),
        (AMOUNTS, "Ulm had 301.8 €.", ["nowhere"]),
        (PRICES, "Tea costs 8.60 €, jam 240 cents.", ["output", "output"]),
        (PRICES, "Tea costs 8.60 cents.", ["nowhere"]),
        (PLAIN, "It took 737.8 ms, 640.9 ms and 902.6 ms.", ["output"] * 3),
        (PLAIN, "It took 737.8 ms, 640.9 ms and 743.8 s.", ["output", "output", "nowhere"]),
        ("gas 23437 kWh, CO2 4711 kg", "That is 4,711 kg, or 4.711 t.", ["output", "output"]),
        ("gas 23437 kWh, CO2 4711 kg", "That is 4,711 g.", ["nowhere"]),
        ("     lead_mg_l\nUlm      41.7\n", "Ulm has 41.7 mg/l.", ["output"]),
        ("     lead_mg_l\nUlm      41.7\n", "Ulm has 41.7 kg/l.", ["nowhere"]),
        ("     lead_mg_l\nUlm      41.7\n", "उल्म में 41.7 मिग्रा/ली है।", ["output"]),
        ("     lead_mg_l\nUlm      41.7\n", "उल्म में 41.7 ग्राम/ली है।", ["nowhere"]),
        ("     mean_age\nUlm     40.35\n", "Ulm: 40.35 days.", ["nowhere"]),
        ("     wind_kmh\nUlm      41.7\n", "Ulm has 11.58 m/s.", ["output"]),
        ("     wind_kmh\nUlm      41.7\n", "Ulm has 41,700 m/s.", ["nowhere"]),
        (YIELDS, "Ulm had 1,212 kWh, Bonn 4,001 kWh, Kiel 856 kWh.", ["output"] * 3),
        (YIELDS, "Ulm had 1,212 kWh, Bonn 4,001 Wh, Kiel 856 kWh.", ["output", "nowhere", "output"]),
        (FORMULA, "The line is 21.4 − 0.2045 × width.", ["output", "output"]),
        (LONG, "It is 121,932,631,112,635,269.", ["output"]),
        (LONG, "It is 121,932,631,112,635,268.", ["nowhere"]),
        (LONG, "It is 7.382905639407.", ["nowhere"]),
        ("load_mw 58089\n", "最高负荷为58,089兆瓦。", ["output"]),
        ("site  dbh_cm\nA     16.2\nB     18.4\n", "A 的胸径为 16.2 米。", ["nowhere"]),
        ("site  lead_mg_l\nA     14.56\nB     13.36\n", "A has 14.56 mg/l.", ["output"]),
        ("site  lead_mg_l\nA     14.56\nB     13.36\n", "A has 14.56 g/l.", ["nowhere"]),
        ("daily energy in GWh: {'load': 1258.4, 'solar': 159.0}\n", "总用电量约12.6亿千瓦时。", ["output"]),
        ("total value (k EUR): 57938.7\n", "The total is 57,938.7 euros.", ["nowhere"]),
        (
            "A 7095\nB 12516\n",
            "A hat 7.095 – 43 % weniger als B, dort sind es 12.516.",
            ["output", "derived", "output"],
        ),
    ],
)
def test_unit_scale_and_digits_must_be_those_of_the_source(output: str, text: str, expected: list[str]) -> None:
    assert verdicts(output, text) == expected


def test_result_of_a_statistical_test_is_a_claim_also_beside_a_word_for_a_rule() -> None:
    assert verdicts(TEST, "As is usual, p = 0.26.") == ["nowhere"]
    assert verdicts(TEST, "The usual p is 0.26.") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The old 2031 forecast is kept.", []),
        ("The old 2,031 forecasts are kept.", ["nowhere"]),
        ("This holds with 95 % certainty.", []),
        ("This holds with 94 % certainty.", ["nowhere"]),
    ],
)
def test_years_and_usual_levels_of_confidence_need_no_source(text: str, expected: list[str]) -> None:
    assert verdicts(LEVELS, text) == expected


@pytest.mark.parametrize(
    ("column", "cell", "right", "wrong"),
    [
        ("share_eur", "12.53", "Ulm has 12.53 €.", "Ulm has 12.53 %."),
        ("share_pct", "12.53", "Ulm has 12.53 %.", "Ulm has 12.53 €."),
        ("level", "7", "Ulm has 7.", "Ulm has 700 %."),
    ],
)
def test_percentage_and_amount_are_no_copies_of_each_other(column: str, cell: str, right: str, wrong: str) -> None:
    output = f"      {column}\nUlm   {cell}\n"
    assert verdicts(output, right) == ["output"]
    assert verdicts(output, wrong) == ["nowhere"]


def test_name_with_a_maximum_beside_it_is_a_minimum_and_no_unit() -> None:
    assert known_units(["temp_min = 1; temp_max = 2"]).units == frozenset()
    assert known_units(["rework_min = 1"]).units == {"min"}


def test_letter_between_two_words_of_a_name_is_a_unit() -> None:
    assert known_units(["yield_t_ha"]).units == {"t", "t/ha"}


def test_rows_of_a_group_are_not_compared_with_each_other() -> None:
    rows = (f"{('Bonn', 'Ulm')[n % 2]:5} s{n} {n * 37 % 101 + 11:4} {n * 53 % 211 + 23:4}\n" for n in range(18))
    output = "city  set   a    b\n" + "".join(rows)
    assert verdicts(output, "In Ulm they paid 54 last time.") == ["nowhere"]


def test_digit_in_a_list_of_code_is_preferred_to_a_computation() -> None:
    text, code = "It begins with 3, then come 55 and 34.", "a, b = 0, 1\nprimes = [2, 3, 5]"
    assert verdicts("55 34 144", text, code=code) == ["code", "output", "output"]


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("Ulm  12345678901234567890123456789012\n", "Ulm had +12345678901234567890123456789011 more."),
        ("      price\nUlm   1e+308\nBonn  1e+999\n", "It is $1e308, $1e400 and $2e308."),
    ],
)
def test_numbers_beyond_the_range_of_decimals_and_floats_raise_no_error(output: str, text: str) -> None:
    assert verdicts(output, text)
