"""What a model is told: only what is true of this answer, the operator's words before the product's."""

from __future__ import annotations

import pytest
from pytest_django import DjangoAssertNumQueries

from chat.catalogue.instructions import default_texts, system_instruction
from chat.catalogue.setups import Setup
from chat.models import Instruction

pytestmark = pytest.mark.django_db

PLAIN = Setup("gemini", "m", label="M")
EVERYTHING = Setup("gemini", "m", label="M", google_search=True, image_output=True, instruction=" Preset's. ")
FIELDS = ["general", "code_execution", "google_search", "image_output"]


def test_defaults_fit_the_operators_row() -> None:
    assert list(default_texts()) == FIELDS
    assert all(default_texts().values())
    Instruction(pk=1, **default_texts()).full_clean()


def test_model_is_told_everything_in_order() -> None:
    texts = default_texts()
    expected = [*(texts[name] for name in FIELDS), "Preset's.", "Own."]
    assert system_instruction(EVERYTHING, code_execution=True, own="Own.\n") == "\n\n".join(expected)


def test_model_is_told_nothing_of_what_it_cannot_do() -> None:
    assert system_instruction(PLAIN, code_execution=False, own="") == default_texts()["general"]
    with_code = system_instruction(PLAIN, code_execution=True, own=" ")
    assert with_code == f"{default_texts()['general']}\n\n{default_texts()['code_execution']}"


def test_operators_row_replaces_the_defaults_and_its_deletion_brings_them_back() -> None:
    row = Instruction.objects.create(pk=1, general="Rhyme.", code_execution="", google_search="Seek.")
    assert system_instruction(EVERYTHING, code_execution=True, own="Own.") == "Rhyme.\n\nSeek.\n\nPreset's.\n\nOwn."
    row.delete()
    assert default_texts()["general"] in system_instruction(PLAIN, code_execution=True, own="")


def test_empty_texts_say_nothing() -> None:
    Instruction.objects.create(pk=1)
    assert system_instruction(PLAIN, code_execution=True, own="") == ""


def test_instruction_takes_one_query(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(1):
        system_instruction(EVERYTHING, code_execution=True, own="")


def test_defaults_say_how_graphs_come_to_be_in_few_words() -> None:
    code = default_texts()["code_execution"]
    for said in ("plt.show() once", "savefig", "no Markdown images", "file names", "no internet", "no pip", "table"):
        assert said in code
    for library in ("numpy", "pandas", "scipy", "scikit-learn", "sympy", "matplotlib", "seaborn"):
        assert library in code
    assert "Nothing survives from one answer to the next" in code
    assert "search first" in default_texts()["google_search"]
    assert "user's language" in default_texts()["general"]
    assert sum(len(text.split()) for text in default_texts().values()) < 250
