"""The demo model's repertoire: each example selects its entry, and each program prints what its comment quotes."""

from __future__ import annotations

import re
from string import Formatter

import pytest

from chat.emulator import demo_prompts
from chat.emulator.demo_prompts import PROMPTS
from chat.emulator.demo_repertoire import program_runs
from chat.emulator.demo_repertoire.entry import DemoPrompt
from chat.kernels.outputs import ExecutionStatus, ImageOutput
from chat.kernels.sandbox import SandboxUnavailable
from chat.kernels.session import Session

EXAMPLES = [(texts.example, language, entry) for entry in PROMPTS for language, texts in entry.texts.items()]
ENDING_ENTRIES = [entry for entry in PROMPTS if entry is not program_runs.ENDLESS]


@pytest.mark.parametrize(("example", "language", "entry"), EXAMPLES, ids=[example for example, _, _ in EXAMPLES])
def test_example_selects_its_own_entry_in_its_language(example: str, language: str, entry: DemoPrompt) -> None:
    match = demo_prompts.find_prompt(example)
    assert match
    assert match.entry is entry
    assert match.texts is entry.texts[language]


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
    match = demo_prompts.find_prompt(prompt)
    assert match
    assert {name: value.strip() for name, value in match.values.items()} == values


@pytest.mark.parametrize("prompt", ["Hello", "Tell me a story", "What can you do?", "Resort hotels"])
def test_unknown_prompt_selects_no_entry(prompt: str) -> None:
    assert demo_prompts.find_prompt(prompt) is None


def test_table_selects_its_entry_whatever_the_prompt_says() -> None:
    match = demo_prompts.find_table_prompt("Zeige ein Histogramm")
    assert match.entry.needs_table
    assert match.texts.intro.startswith("Ich lese")
    assert match.values == {}


@pytest.mark.parametrize("prompt", ["hello", "hallo", "你好"])
def test_greeting_lists_examples(prompt: str) -> None:
    greeting = demo_prompts.greeting(prompt)
    assert greeting.count("\n- ") >= 4
    assert "GEMINI_API_KEY" in greeting


async def test_every_program_runs_and_prints_what_its_comment_quotes() -> None:
    try:
        session = await Session.start({"data.csv": b"river,km\nVolga,3530\nRhine,1230\n"})
    except SandboxUnavailable as error:
        pytest.skip(f"This machine cannot run code in a sandbox: {error}")
    async with session:
        for entry in ENDING_ENTRIES:
            program = entry.repair.program if entry.repair else entry.program
            execution = await session.execute(program, limit_s=30)
            assert execution.status is ExecutionStatus.OK, execution.text
            has_image = any(isinstance(output, ImageOutput) for output in execution.outputs)
            assert has_image is ("plt.show()" in program), entry.program
            printed = {name.replace(" ", "_") for name in re.findall(r"^(\w[\w ]*): ", execution.text, re.MULTILINE)}
            for texts in entry.texts.values():
                quoted = {name for _, name, _, _ in Formatter().parse(texts.comment) if name}
                assert quoted <= printed, texts.example
