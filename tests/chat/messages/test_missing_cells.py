"""An answer about a column with missing cells that does not say so gets a notice."""

from __future__ import annotations

import pytest

from chat.messages.missing_cells import unmentioned_missing_cells
from chat.vocabulary.parts import OUTCOME_OK, CodeExecutionResult, ExecutableCode, Part, Text

LOADED = ("`sales`: new, 300 rows; `price` missing 11; `note` missing 40",)


def answer(code: str, text: str, changes: tuple[str, ...] = LOADED) -> list[Part]:
    return [ExecutableCode(code, "PYTHON"), CodeExecutionResult("49.8", OUTCOME_OK, table_changes=changes), Text(text)]


@pytest.mark.parametrize(
    ("code", "text", "changes"),
    [
        ("sales['price'].mean()", "The mean price is 49.80 €.", LOADED),
        ("sales['price'].mean()", "Prices dropped by 3 %; this provides evidence. Ich empfehle 平均 航空.", LOADED),
        ("sales.groupby('city').price.agg('median')", "Der mittlere Preis in Ulm ist 50 €.", LOADED),
        ("sales['price'].fillna(0).mean()", "It is 49.8.", ("`sales`: `price` missing 11 -> 0", *LOADED)),
    ],
)
def test_answer_with_a_summary_of_a_column_gets_a_sentence_about_its_missing_cells(
    code: str, text: str, changes: tuple[str, ...]
) -> None:
    sentence = "Missing cells in “price”: 11. The answer does not mention them."
    assert unmentioned_missing_cells(answer(code, text, changes)) == sentence


@pytest.mark.parametrize(
    ("code", "text", "changes"),
    [
        ("sales['price'].mean()", "The mean price is 49.80 €; 11 cells are missing.", LOADED),
        ("sales['price'].mean()", "Der Mittelwert ist 49,80 €. 11 Preise fehlen.", LOADED),
        ("sales['price'].mean()", "平均价格为 49.80 欧元，有 11 个缺失值。", LOADED),
        ("sales['units'].mean()", "The mean is 12.", LOADED),
        ("sales['price'].plot()", "Here is the plot.", LOADED),
        ("sales['price'].mean()", "The mean price is 49.80 €.", ("`sales`: 300 -> 280 rows",)),
        ("sales['price'].mean()", "", LOADED),
    ],
)
def test_answer_that_mentions_or_does_not_use_missing_cells_gets_no_sentence_about_them(
    code: str, text: str, changes: tuple[str, ...]
) -> None:
    assert unmentioned_missing_cells(answer(code, text, changes)) == ""


def test_missing_cells_that_a_result_reports_must_be_mentioned_in_the_answer() -> None:
    result = CodeExecutionResult("49.8", OUTCOME_OK, missing_cells=("`sales`: `price` missing 1,011",))
    parts: list[Part] = [ExecutableCode("sales.price.mean()", "PYTHON"), result]
    sentence = "Missing cells in “price”: 1,011. The answer does not mention them."
    assert unmentioned_missing_cells([*parts, Text("The mean price is 49.80 €.")]) == sentence
    assert unmentioned_missing_cells([*parts, Text("The mean price without 1,011 missing ones is 49.80 €.")]) == ""
