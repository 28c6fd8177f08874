"""Finds the entry of the demo model's repertoire that a prompt selects, and greets those whose prompt selects none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from chat.emulator.demo_repertoire import mathematics, plots, program_runs, random_numbers, tables
from chat.emulator.demo_repertoire.entry import DemoPrompt, PromptTexts

PROMPTS: tuple[DemoPrompt, ...] = (
    plots.SINE,
    plots.COSINE,
    random_numbers.HISTOGRAM,
    mathematics.PRIMES,
    tables.CSV,
    program_runs.DIVISION,
    random_numbers.PI,
    mathematics.FIBONACCI,
    random_numbers.WALK,
    random_numbers.FIT,
    plots.BARS,
    tables.SALES,
    plots.MANDELBROT,
    mathematics.QUADRATIC,
    program_runs.SORTS,
    program_runs.ENDLESS,
)
"""All entries; the first one whose pattern matches answers."""

GREETINGS: Mapping[str, str] = {
    "en": "I am Plotline's **demo model**. I am not an AI: I know a few prompts by heart. What I run is real, though: "
    "the code below my answers is executed in a sandbox on this server, and its output and graphs are what came out."
    "\n\nTry one of these:\n\n{examples}\n\nOr send Python of your own in a fenced block, and I will run it:\n\n"
    "````\n```python\nprint(sum(range(101)))\n```\n````\n\n"
    "To talk to Gemini itself, whoever runs this server sets `GEMINI_API_KEY` and starts it again.\n",
    "de": "Ich bin das **Demo-Modell** von Plotline. Ich bin keine KI: Ich kenne ein paar Eingaben auswendig. Was ich "
    "ausführe, ist aber echt: Der Code läuft in einer Sandbox auf diesem Server.\n\nZum Beispiel:\n\n{examples}\n\n"
    "Oder schick eigenes Python in einem Codeblock (` ```python `), dann führe ich es aus.\n\nFür Gemini selbst setzt "
    "der Betreiber dieses Servers `GEMINI_API_KEY` und startet neu.\n",
    "zh": "我是 Plotline 的**演示模型**。我不是人工智能，只认识几种提示。"
    "但我运行的代码是真的：它在本服务器的沙箱中执行。\n\n"
    "可以试试：\n\n{examples}\n\n也可以把自己的 Python 放在代码块（` ```python `）里发给我，"
    "我会运行它。\n\n"
    "要使用真正的 Gemini，请服务器管理员设置 `GEMINI_API_KEY` 并重新启动。\n",
}


@dataclass(frozen=True, slots=True)
class PromptMatch:
    """The entry that a prompt selects."""

    entry: DemoPrompt
    texts: PromptTexts
    """The entry's texts in the language of the prompt, else in English."""
    values: Mapping[str, str] = field(default_factory=dict)
    """Values from the prompt for lines `name = ...` of the program."""


def language_of(prompt: str) -> str:
    """Return `zh`, `de` or `en`, decided by the letters and some words of the prompt."""
    if re.search(r"[\u4e00-\u9fff]", prompt):
        return "zh"
    german = r"[äöüß]|\b(zeichne|zeige|berechne|beschreibe|schätze|bitte|eine?n?|die|das|und|hallo|mach\w*)\b"
    return "de" if re.search(german, prompt, re.IGNORECASE) else "en"


def greeting(prompt: str) -> str:
    """Return the answer to an unknown prompt: it says what the demo model is and lists examples."""
    language = language_of(prompt)
    examples = [entry.texts[language].example for entry in PROMPTS if language in entry.texts]
    return GREETINGS[language].format(examples="\n".join(f"- {example}" for example in examples))


def find_prompt(prompt: str) -> PromptMatch | None:
    """Return the first entry whose pattern matches the prompt, or None."""
    for entry in PROMPTS:
        match = re.search(entry.pattern, prompt, re.IGNORECASE)
        if match:
            values = {name: value for name, value in match.groupdict().items() if value}
            return PromptMatch(entry, _texts_for(entry, prompt), values)
    return None


def find_table_prompt(prompt: str) -> PromptMatch:
    """Return the entry that describes an attached table, for a prompt with a new table and any text."""
    [entry] = [entry for entry in PROMPTS if entry.needs_table]
    return PromptMatch(entry, _texts_for(entry, prompt))


def _texts_for(entry: DemoPrompt, prompt: str) -> PromptTexts:
    return entry.texts.get(language_of(prompt), entry.texts["en"])
