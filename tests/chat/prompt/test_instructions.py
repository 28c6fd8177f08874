"""The system instruction: it tells a model only what holds for this answer, and operators can replace its texts."""

from __future__ import annotations

import pytest

from chat.catalogue.setups import Setup
from chat.models import Instruction
from chat.prompt.instructions import default_texts, system_instruction

pytestmark = pytest.mark.django_db

PLAIN = Setup("gemini", "m", label="M")
EVERYTHING = Setup("gemini", "m", label="M", web_search=True, image_output=True, instruction=" Preset's. ")
FIELDS = ["general", "code_execution", "web_search", "image_output"]


def test_default_texts_can_be_stored_as_the_operators_row() -> None:
    assert list(default_texts()) == FIELDS
    assert all(default_texts().values())
    Instruction(pk=1, **default_texts()).full_clean()


def test_instruction_has_all_texts_in_order() -> None:
    texts = default_texts()
    expected = [*(texts[name] for name in FIELDS), "Preset's.", "Own."]
    assert system_instruction(EVERYTHING, None, code_execution=True, own="Own.\n") == "\n\n".join(expected)


def test_instruction_omits_what_the_model_cannot_do() -> None:
    assert system_instruction(PLAIN, None, code_execution=False, own="") == default_texts()["general"]
    with_code = system_instruction(PLAIN, None, code_execution=True, own=" ")
    assert with_code == f"{default_texts()['general']}\n\n{default_texts()['code_execution']}"


def test_operators_row_replaces_the_defaults() -> None:
    row = Instruction(general="Rhyme.", code_execution="", web_search="Seek.")
    instruction = system_instruction(EVERYTHING, row, code_execution=True, own="Own.")
    assert instruction == "Rhyme.\n\nSeek.\n\nPreset's.\n\nOwn."
    assert default_texts()["general"] in system_instruction(PLAIN, None, code_execution=True, own="")


def test_empty_texts_are_left_out() -> None:
    assert system_instruction(PLAIN, Instruction(), code_execution=True, own="") == ""
