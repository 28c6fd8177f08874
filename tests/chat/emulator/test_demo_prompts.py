"""The table of the demo's prompts: each leads where it should, and each program prints what its comment quotes."""

from __future__ import annotations

import re
from string import Formatter

import pytest

from chat.emulator import demo_programs, demo_prompts
from chat.emulator.demo_prompts import PROMPTS, DemoPrompt
from chat.kernels.outputs import ExecutionStatus, ImageOutput
from chat.kernels.sandbox import SandboxUnavailable
from chat.kernels.session import Session

EXAMPLES = [(words.example, language, entry) for entry in PROMPTS for language, words in entry.words.items()]
ENDS_BY_ITSELF = [entry for entry in PROMPTS if entry.program is not demo_programs.ENDLESS]


@pytest.mark.parametrize(("example", "language", "entry"), EXAMPLES, ids=[example for example, _, _ in EXAMPLES])
def test_example_leads_to_its_own_program_in_its_language(example: str, language: str, entry: DemoPrompt) -> None:
    found = demo_prompts.find(example)
    assert found
    assert found[0] is entry
    assert found[1] is entry.words[language]


@pytest.mark.parametrize(
    ("prompt", "values"),
    [
        ("the first 12 primes, please", {"count": "12"}),
        ("前 7 个素数", {"count": "7"}),
        ("first 9 fibonacci numbers", {"count": "9"}),
        ("solve 2x^2 + 3x - 5 = 0", {"equation": "2x^2 + 3x - 5 = 0"}),
        ("solve a quadratic equation", {}),
    ],
)
def test_values_are_taken_from_the_prompt(prompt: str, values: dict[str, str]) -> None:
    found = demo_prompts.find(prompt)
    assert found
    assert {name: value.strip() for name, value in found[2].items()} == values


@pytest.mark.parametrize("prompt", ["Hello", "Tell me a story", "What can you do?", "Resort hotels"])
def test_other_prompts_lead_nowhere(prompt: str) -> None:
    assert demo_prompts.find(prompt) is None


def test_table_decides_whatever_the_prompt_says() -> None:
    entry, words, values = demo_prompts.find_for_table("Zeige ein Histogramm")
    assert entry.needs_table
    assert words.intro.startswith("Ich lese")
    assert values == {}


@pytest.mark.parametrize("prompt", ["hello", "hallo", "你好"])
def test_greeting_lists_examples(prompt: str) -> None:
    greeting = demo_prompts.greeting(prompt)
    assert greeting.count("\n- ") >= 4
    assert "GEMINI_API_KEY" in greeting


async def test_every_program_runs_and_prints_what_its_comment_quotes() -> None:
    try:
        session = await Session.start({"data.csv": b"river,km\nVolga,3530\nRhine,1230\n"})
    except SandboxUnavailable as fault:
        pytest.skip(f"no code can run here: {fault}")
    async with session:
        for entry in ENDS_BY_ITSELF:
            program = entry.repair.program if entry.repair else entry.program
            execution = await session.execute(program, limit_s=30)
            assert execution.status is ExecutionStatus.OK, execution.text
            draws = any(isinstance(output, ImageOutput) for output in execution.outputs)
            assert draws is ("plt.show()" in program), entry.program
            printed = {name.replace(" ", "_") for name in re.findall(r"^(\w[\w ]*): ", execution.text, re.MULTILINE)}
            for words in entry.words.values():
                quoted = {name for _, name, _, _ in Formatter().parse(words.comment) if name}
                assert quoted <= printed, words.example
