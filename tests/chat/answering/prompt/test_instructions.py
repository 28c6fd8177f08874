"""The system instruction: it tells a model only what holds for this answer, and operators can replace its texts."""

from __future__ import annotations

import pytest

from chat.answering.prompt.instructions import default_texts, system_instruction
from chat.models import Instruction
from chat.providers.catalogue.setups import Setup
from chat.vocabulary.parts import Engine

pytestmark = pytest.mark.django_db

PLAIN = Setup("gemini", "m", label="M")
EVERYTHING = Setup("gemini", "m", label="M", web_search=True, image_output=True, instruction=" Preset's. ")
FIELDS = ["general", "code_execution", "python_session", "both_engines", "web_search", "image_output"]


def test_default_instruction_texts_pass_the_validation_of_the_instruction_model() -> None:
    assert default_texts().keys() == set(FIELDS)
    assert all(default_texts().values())
    Instruction(pk=1, **default_texts()).full_clean()


def test_system_instruction_has_the_texts_of_its_engine_in_a_fixed_order() -> None:
    texts = default_texts()
    for engine, both, others in (
        (Engine.NATIVE, False, ("python_session", "both_engines")),
        (Engine.NATIVE, True, ("python_session",)),
        (Engine.SESSION, False, ("code_execution", "both_engines")),
    ):
        expected = [*(texts[name] for name in FIELDS if name not in others), "Preset's.", "Own."]
        instruction = system_instruction(
            EVERYTHING, None, engine=engine, both_engines=both, web_search=True, own="Own.\n"
        )
        assert instruction == "\n\n".join(expected)


def test_system_instruction_omits_texts_about_tools_that_the_answer_may_not_use() -> None:
    texts = default_texts()
    assert system_instruction(PLAIN, None, engine=None, web_search=False, own="") == texts["general"]
    with_code = system_instruction(PLAIN, None, engine=Engine.NATIVE, web_search=False, own=" ")
    assert with_code == f"{texts['general']}\n\n{texts['code_execution']}"
    # A preset may allow the search, and the model may not be able to search beside functions.
    without_search = system_instruction(EVERYTHING, None, engine=Engine.SESSION, web_search=False, own="")
    assert texts["web_search"] not in without_search


def test_instruction_texts_of_the_operator_replace_the_defaults() -> None:
    row = Instruction(general="Rhyme.", code_execution="", web_search="Seek.")
    instruction = system_instruction(EVERYTHING, row, engine=Engine.NATIVE, web_search=True, own="Own.")
    assert instruction == "Rhyme.\n\nSeek.\n\nPreset's.\n\nOwn."
    assert default_texts()["general"] in system_instruction(PLAIN, None, engine=None, web_search=False, own="")


def test_system_instruction_is_empty_if_the_operators_texts_are_empty() -> None:
    assert system_instruction(PLAIN, Instruction(), engine=Engine.NATIVE, web_search=False, own="") == ""
