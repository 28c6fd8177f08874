"""Rows and columns that the words around a number name: days, parts of labels, lists, and parallel lines."""

from __future__ import annotations

import pytest

from tests.chat.messages.numbers.verdicts import verdicts

MONTHS = "         litres  bills\n2023-06    7124   51.3\n2023-07    8311   60.7\n2023-08    9245   44.9\n"
SHORT = "     litres\nJun    7124\nJul    8311\nAug    9245\nMax day: 391.6 on 2023-07-14\n"
DAYS = "     calls  lost\nMon    812    61\nTue    745    38\nWed    699    47\n"
DATES = "            rate\n2024-03-06  2.84\n2024-03-07  2.65\n2024-03-08  3.12\n"
SHOPS = (
    "  shop  side  sales\n  Kemer  north  342.4\n  Side  south  513.7\n  Belek  south  281.9\n  Izmir  north  455.1\n"
)
SLOPE = "slope = 3.51\nstderr = 0.482\n"
KEYS = "code  building    cost\nG-05  Library   4211.5\nG-07  Museum    3987.2\nG-11  Depot     1466.8\n"
HEAT = """\
        coal   wind   share
North  812.4  164.3    71.2
South  455.9  301.7    44.8
West   377.1  288.5    39.6
"""


@pytest.mark.parametrize(
    ("output", "text", "right", "wrong"),
    [
        (MONTHS, "Im August 2023 waren es {} Liter.", "9245", "8311"),
        (MONTHS, "En août, on compte {} litres.", "9245", "8311"),
        (MONTHS, "8月用了{}升。", "9245", "8311"),
        (SHORT, "अगस्त में {} लीटर लगे।", "9245", "8311"),
        (SHORT, "Agosto queda en {} litros.", "9245", "8311"),
        (DAYS, "Mittwoch: {}", "699", "745"),
        (DAYS, "周三：{}", "699", "745"),
        (DATES, "The rate was {} on March 7.", "2.65", "2.84"),
        (DATES, "El 7 de marzo fue {}.", "2,65", "2,84"),
        (DATES, "Auch am 7. März war die Quote mit {} hoch.", "2,65", "3,12"),
        (SHOPS, "At the end is Belek, with {}.", "281.9", "342.4"),
        (KEYS, "Museum (G-07): {}", "3987.2", "1466.8"),
        (KEYS, "The museum costs {} a year.", "3987.2", "1466.8"),
        (SLOPE, "The standard error of the slope is {}.", "0.482", "3.51"),
        (SLOPE, "The slope has a standard error of {}.", "0.482", "3.51"),
        (SLOPE, "Der Standardfehler der Steigung ist {}.", "0,482", "3,51"),
    ],
)
def test_words_for_a_day_or_month_and_parts_of_a_label_name_the_row(
    output: str, text: str, right: str, wrong: str
) -> None:
    assert verdicts(output, text.format(right)) == ["output"]
    assert verdicts(output, text.format(wrong)) == ["nowhere"]


def test_raised_digits_in_labels_are_no_months() -> None:
    assert verdicts("   litres\n²    7124\n³    8311\n", "In March it was 7124.") == ["output"]


def test_row_of_empty_cells_and_a_number_has_no_name() -> None:
    assert verdicts(DAYS, "|||812|") == ["output"]


def test_day_does_not_name_the_row_of_its_month() -> None:
    assert verdicts(SHORT, "In July it was 8311. On July 14, 2023, when 391.6 were used, it was hot.") == ["output"] * 2


@pytest.mark.parametrize(
    "text",
    [
        "Am teuersten ist G-05 mit 4211,5, das Heimatmuseum mit 3987,2 und das Lager mit 1466,8.",
        "G-05 costs 4211.5, more than the house of history (3987.2).",
    ],
)
def test_rows_without_known_names_continue_the_list_of_a_named_row(text: str) -> None:
    assert set(verdicts(KEYS, text)) == {"output"}


def test_number_of_another_column_and_row_does_not_continue_a_list() -> None:
    assert verdicts(HEAT, "North has 812.4 of coal, of which the wind took 288.5.") == ["output", "nowhere"]


def test_later_number_does_not_belong_to_what_is_compared() -> None:
    assert verdicts(DAYS, "Im Mittwoch ist der Rückgang gegenüber Montag auf 699 klein.") == ["output"]


def test_numbers_after_respectively_belong_to_the_labels_in_order() -> None:
    text = "Die Reihen Jun und Aug haben zusammen 16369 (jeweils {} und {} Liter)."
    assert verdicts(SHORT, text.format(7124, 9245)) == ["derived", "output", "output"]
    assert verdicts(SHORT, text.format(9245, 7124)) == ["derived", "nowhere", "nowhere"]


LINES = "| Gebiet | Kohle (Wind) |\n|---|---|\n| A | 812,4 (164,3) |\n| B | 455,9 (301,7) |\n| C | {} ({}) |\n"
ITEMS = "- A: 812,4 bei 164,3 Wind\n- B: 455,9 bei 301,7 Wind\n- C: {} bei {} Wind\n"
ACROSS = """\
| | N | S | W |
|---|---|---|---|
| a | 812,4 | 455,9 | 377,1 |
| b | 164,3 | {} | 288,5 |
| c | 71,2 | {} | 39,6 |
"""


@pytest.mark.parametrize("text", [LINES, ITEMS])
def test_numbers_at_one_position_of_parallel_lines_are_from_one_column(text: str) -> None:
    assert set(verdicts(HEAT, text.format("377,1", "288,5"))) == {"output"}
    assert verdicts(HEAT, text.format("288,5", "377,1"))[-2:] == ["nowhere"] * 2


def test_numbers_in_one_column_of_a_transposed_table_are_from_one_row() -> None:
    assert set(verdicts(HEAT, ACROSS.format("301,7", "44,8"))) == {"output"}
    assert verdicts(HEAT, ACROSS.format("288,5", "44,8")).count("nowhere") == 1


@pytest.mark.parametrize(
    ("output", "text", "expected"),
    [
        (DAYS, "There were 812 on Monday, 745 on Tuesday and 699 on the last day.", ["output"] * 3),
        (DAYS, "There were 812 on Monday, 699 on Tuesday and 745 on the last day.", ["output", "nowhere", "output"]),
        (SHORT, "从第一个月的7124一路升到8月的9245。", ["output"] * 2),
        (SHORT, "从第一个月的7124一路升到8月的8311。", ["output", "nowhere"]),
        (SHORT, "Van 24680 litros: 7124 en junio frente a 9245 en agosto.", ["derived", "output", "output"]),
    ],
)
def test_words_of_the_sentence_show_which_label_a_number_has(output: str, text: str, expected: list[str]) -> None:
    assert verdicts(output, text) == expected


ARMS = "                 change\nAlopram           -13.2\nAlopram + Zetin   -23.4\nSugar              -4.1\n"


def test_words_for_a_plus_sign_name_the_row() -> None:
    text = "It fell by {} with Alopram and by {} with Alopram plus Zetin, but by 4.1 with sugar."
    assert verdicts(ARMS, text.format("13.2", "23.4")) == ["output"] * 3
    assert verdicts(ARMS, text.format("23.4", "13.2")) == ["nowhere", "nowhere", "output"]


def test_name_of_a_line_is_learned_from_its_numbers_of_one_digit_and_names_all_its_numbers() -> None:
    text = "**Gruppe eins** (5 Orte): {}.\n**Gruppe zwei** (8 Orte): {}.\n**Gruppe drei** (3 Orte, 811): 44,1.\n"
    output = "      towns  size  rate\nlow       5   915  12.6\nmid       8   643  38.2\nhigh      3   811  44.1\n"
    assert verdicts(output, text.format("12,6", "38,2"))[1::2] == ["output"] * 3
    assert verdicts(output, text.format("38,2", "12,6"))[1:4:2] == ["nowhere"] * 2


YEARS = "         use_2022  use_2023  rate\nLibrary    158.82    144.05  41.7\nMuseum     174.16    168.36  52.9\n"
WEEK = "          calls  lost\nworkday     812    61\nsaturday    745    38\nsunday      699    47\n"
ROUTES = "       calls     cost  cost_kg\nNorth    812  4211.56    0.196\nSouth    745  3987.24    0.121\n"
TRIAL = "            rate A  rate B\n2024-03-06    2.84    3.17\n2024-03-07    2.65    3.42\n"
FALLS = "       before   after  change\nNorth  155.92  142.71  -13.21\nSouth  158.37  134.26  -24.11\n"


@pytest.mark.parametrize(
    ("output", "text", "numbers"),
    [
        (KEYS, "| Rang | Ort | Kosten |\n|---|---|---|\n| 1 | Library | {} |\n| 2 | Museum | {} |\n", "4211.5 3987.2"),
        (WEEK, "* **Sábados**: {} llamadas\n* **Domingos**: {} llamadas\n", "745 699"),
        (MONTHS, "7 月为 {} 升,8 月为 {} 升。", "8311 9245"),
        (HEAT, "**North** (3): viel. Wind brachte {}.\n\n**South.** Wenig. Wind brachte {}.", "164.3 301.7"),
        (DAYS, "पिछले हफ़्ते के मुकाबले Mon में {}, Tue में {} रहे।", "812 745"),
        (HEAT, "L'énergie de l'North atteint {} et celle de l'South {}.", "812.4 455.9"),
        (TRIAL, "Am 7. März waren es {} für A, {} für B.", "2.65 3.42"),
        (FALLS, "The change was smaller with {} in the North and {} in the South.", "13.21 24.11"),
        (YEARS, "The museum used {1} in 2023 after {0} in 2022.", "174.16 168.36"),
        (YEARS, "Das Museum (Museum): von {} auf {} kWh.", "174.16 168.36"),
        (YEARS, "博物馆（Museum）从{}到{}。", "174.16 168.36"),
        (SHOPS, "Kemer (north) and Side (south) sold {} and {}, respectively.", "342.4 513.7"),
    ],
)
def test_swapped_numbers_of_two_rows_columns_or_years_have_no_source(output: str, text: str, numbers: str) -> None:
    one, other = numbers.split()
    right, swapped = verdicts(output, text.format(one, other)), verdicts(output, text.format(other, one))
    assert (right.count("output"), right.count("nowhere")) == (2, 0)
    assert swapped.count("nowhere") == 2


def test_number_from_another_row_than_the_others_of_its_sentence_has_no_source() -> None:
    assert verdicts(HEAT, "北方的煤为812.4,风为164.3,占比71.2。") == ["output"] * 3
    assert verdicts(HEAT, "北方的煤为812.4,风为164.3,占比44.8。") == ["output", "output", "nowhere"]
    assert verdicts(HEAT, "北方的煤为812.4,风为164.3,而南方的风为301.7。") == ["output"] * 3


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (
            ROUTES,
            "| Way | Cost | Cost per kg |\n|---|---|---|\n| North | 4211.56 | 0.196 |\n| South | 3987.24 | 0.121 |\n",
        ),
        (MONTHS, "1. **La chute d'août.** Il y en a 9245. Par rapport à juillet (8311), c'est plus.\n"),
        (YEARS, "| | Use 2023 |\n|---|---|\n| Library | 144.05 (41.7 %) |\n| Museum | 168.36 (52.9 %) |\n"),
        (HEAT, "North braucht 812,4 Kohle statt 455,9."),
    ],
)
def test_numbers_of_another_column_or_row_than_the_nearest_name_have_a_source(output: str, text: str) -> None:
    assert set(verdicts(output, text)) == {"output"}


def test_sentence_names_both_the_group_and_the_label_of_a_row() -> None:
    output = "town    fish  tons\nUlm      eel  11.5\nUlm     carp  17.2\nBonn     eel  29.4\nBonn    carp  36.9\n"
    assert verdicts(output, "Ulm landed 11.5 tons of eel.") == ["output"]
    assert verdicts(output, "Ulm landed 29.4 tons of eel.") == ["nowhere"]
    assert verdicts(output, "Ulm landed 17.2 tons of eel.") == ["nowhere"]


def test_group_of_a_row_with_a_name_of_its_own_does_not_count() -> None:
    assert verdicts(SHOPS, "First is Kemer (north), then Belek with 281.9.") == ["output"]
    assert verdicts(SHOPS, "First is Kemer (north), then Belek with 342.4.") == ["nowhere"]


APPLES = """\
variety  season  yield_t
Gala       2022    517.8
Gala       2023    549.6
Topaz      2022    268.4
Topaz      2023    255.1
"""
PLOTS = """\
  plot  block  treatment  yield_t
0  P01      I    Control     4.95
1  P02      I    Compost     5.72
2  P05     II    Control     4.61
3  P06     II    Compost     5.68
"""
QUARTERS = "quarter         Q3      Q4\ndepartment\nMeat        226310  254870\nTotal       864920  861315\n"
SESSIONS = """\
 Year  Sessions  Adopted
 2020        17       89
 2021        19       98
 2022        23      117
 2023        24      131
"""
IN_LINES = (
    "1. 2020: 17 sessions, {} adopted\n2. 2021: 19 sessions, 98 adopted\n"
    "3. 2022: 23 sessions, 117 adopted\n4. 2023: 24 sessions, 131 adopted\n"
)
PROTOCOLS = "           p50     p99\nProtocol\nHTTP/2   85.08  342.28\nQUIC     75.38  255.06\n"


@pytest.mark.parametrize(
    ("output", "text", "right", "wrong"),
    [
        (APPLES, "Topaz gab im Jahr 2022 genau {} t.", "268,4", "255,1"),
        (PLOTS, "In block II, the control plot gave {} t.", "4.61", "5.68"),
        (QUARTERS, "- Q3: {} €\n- Q4: 861,315 €\n", "864,920", "861,315"),
        (PROTOCOLS, "With HTTP/2, p99 was {} ms.", "342.28", "255.06"),
        # A number in a list is of the cell that the other lines and its year name, and of no other table.
        (
            SESSIONS + "\nmotion  yes_pct\nroof       98.3\npool       75.0\n",
            IN_LINES,
            "89",
            "75",
        ),
    ],
)
def test_number_of_another_cell_than_years_texts_quarters_and_parallel_lines_name_has_no_source(
    output: str, text: str, right: str, wrong: str
) -> None:
    assert "nowhere" not in verdicts(output, text.format(right))
    assert "nowhere" in verdicts(output, text.format(wrong))
