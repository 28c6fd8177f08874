"""The drill of re-runs covers every kind of program that the demo model knows."""

from __future__ import annotations

from collections.abc import Iterator

from bench.repertoire import TABLE, conversations
from chat.emulator.attached_files import AttachedFile
from chat.emulator.demo import maths, tables
from chat.emulator.demo.language import TEXTS, VOCABULARY, Plan
from chat.emulator.demo.plan import plan_answer

NO_PLANS = ("names", "calendar", "comments", "refusal", "examples")
"""The groups of texts that belong to no kind of answer."""


def plans() -> Iterator[tuple[str, Plan | str]]:
    """Yield the plan for each question of the drill."""
    for questions, has_table in conversations():
        program = ""
        for number, question in enumerate(questions):
            files = [AttachedFile("data.csv", "text/csv", TABLE, is_new=number == 0)] if has_table else []
            plan = plan_answer(questions[number::-1], program, files)
            yield question, plan
            program = plan.program if isinstance(plan, Plan) else ""


def test_every_question_of_the_drill_has_a_plan() -> None:
    assert [question for question, plan in plans() if isinstance(plan, str)] == []


def test_every_kind_of_program_runs_in_the_drill() -> None:
    found = [plan for _, plan in plans() if isinstance(plan, Plan)]
    programs = "\n".join(plan.program for plan in found)
    thoughts = {plan.thought for plan in found}
    titles = {
        (kind, language): texts["title"]
        for kind, languages in TEXTS.items()
        if kind not in NO_PLANS
        for language, texts in languages.items()
    }
    assert [name for name, title in titles.items() if not any(one.startswith(f"**{title}**") for one in thoughts)] == []
    snippets = [
        *tables.STATISTICS.values(),
        *(value.partition("{")[0] for value in maths.VALUES.values()),
        *(f'kind="{chart}"' for chart in VOCABULARY["charts"] if chart not in ("histogram", "scatter")),
        *(
            one.splitlines()[-1].partition("{")[0]
            for one in (tables.DESCRIPTION, tables.GROUPS, tables.HISTOGRAM, tables.CORRELATION)
        ),
    ]
    assert [one for one in snippets if one not in programs] == []
