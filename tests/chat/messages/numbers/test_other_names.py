"""Rows that an answer calls by other names than the table in its source: translations, months, short names."""

from __future__ import annotations

import pytest

from tests.chat.messages.numbers.verdicts import verdicts

QUAKES = """\
          n  mean_mag  max_depth
region
Aegean   65      3.25       66.6
Crete    48      3.24       50.2
Marmara  26      3.37       32.6
"""
BIRDS = "curlew     -36.5\nlapwing    -40.1\nName: change_pct, dtype: float64\n"
WIND = "year     2023    2024\nmonth\n" + "".join(f"{n:<5} {900 + 13 * n}.3  {1000 + 17 * n}.1\n" for n in range(1, 13))
CLASSES = "        n   std\n班级\n高三1班  48  37.9\n高三2班  44  40.0\n高三3班  50  39.5\n"
SOIL = "zone      A      B\nday\n1     32.56  28.70\n2     30.16  24.23\n3     27.80  19.39\n"
FUNDS = "Alder Global: 3,095,220 USD, yearly fees USD 13,928\nBeacon Euro: 1,343,468 EUR, yearly fees USD 18,546\n"
IN_GERMAN = (
    "| Region | Anzahl | Magnitude |\n|---|---|---|\n| Ägäis | 65 | 3,25 |\n| Kreta | {} |\n| Marmara | {} |\n\n"
)


@pytest.mark.parametrize(
    ("output", "text", "expected"),
    [
        (QUAKES, IN_GERMAN.format("48 | 3,24", "26 | 3,37"), ["output"] * 6),
        (
            QUAKES,
            IN_GERMAN.format("48 | 3,24", "26 | 3,37") + "Am tiefsten waren 66,6 km in der Ägäis.",
            ["output"] * 7,
        ),
        (QUAKES, IN_GERMAN.format("48 | 3,24", "26 | 3,37") + "Am tiefsten waren 50,2 km in der Ägäis.", ["nowhere"]),
        (BIRDS, "The lapwings fell, le vanneau (lapwing) perd 40,1 %.", ["output"]),
        (BIRDS, "The lapwings fell, le vanneau (lapwing) perd 36,5 %.", ["nowhere"]),
        (WIND, "Im Oktober 2024 waren es 1.170,1 GWh.", ["output"]),
        (WIND, "Im Oktober 2024 waren es 1.187,1 GWh.", ["nowhere"]),
        (CLASSES, "标准差最大的是2班(40.0)。", ["output"]),
        (CLASSES, "标准差最大的是2班(37.9)。", ["nowhere"]),
        (SOIL, "| Zone | Day 1 | Day 2 |\n|---|---|---|\n| B | 28.70 | 24.23 |\n", ["output"] * 2),
        (SOIL, "| Zone | Day 1 | Day 2 |\n|---|---|---|\n| B | 28.70 | 19.39 |\n", ["output", "nowhere"]),
    ],
)
def test_number_of_another_row_than_the_other_name_means_has_no_source(
    output: str, text: str, expected: list[str]
) -> None:
    assert verdicts(output, text)[-len(expected) :] == expected


def test_swapped_numbers_in_a_translated_table_have_no_source() -> None:
    assert verdicts(QUAKES, IN_GERMAN.format("48 | 3,37", "26 | 3,24")).count("nowhere") == 2


def test_subject_of_a_line_is_no_other_name_of_the_row_with_its_numbers() -> None:
    text = (
        "* **Strength:** 3.25 in the mean, with up to 65 quakes.\n\nThe strength is least in Crete: 3.24 and 48 quakes."
    )
    assert verdicts(QUAKES, text) == ["output"] * 4


def test_second_number_of_a_line_belongs_to_the_name_before_its_colon() -> None:
    assert verdicts(FUNDS, "- Alder Global: 3,095,220 USD, fees of $13,928 a year") == ["output"] * 2
    assert verdicts(FUNDS, "- Alder Global: 3,095,220 USD, fees of $18,546 a year") == ["output", "nowhere"]


def test_name_with_accents_is_the_label_without_them() -> None:
    output = "        glow  mass\nVega    40.1  2.14\nRegulus  288  3.81\nSirius  25.4  2.06\n"
    assert verdicts(output, "La luminosité de Véga est de 40,1.") == ["output"]
    assert verdicts(output, "La luminosité de Véga est de 25,4.") == ["nowhere"]
