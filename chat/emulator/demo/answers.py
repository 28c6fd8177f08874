"""What the demo model runs for a prompt, and the texts around it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

TEXTS = tomllib.loads(Path(__file__).with_name("texts.toml").read_text(encoding="utf-8"))
"""The texts of the demo model by kind of answer, language and place."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The programs that one answer runs, and the texts around them."""

    thought: str
    intro: str
    programs: tuple[str, ...]
    repair_explanation: str = ""
    """The text between the first and the second program. It may quote `{error}`."""
    comment: str = ""
    """A template that quotes the printed values. If it is empty, the answer describes the execution instead."""


class Task(Protocol):
    """The task that a prompt sets. A later prompt may change a part of it."""

    def plan(self, language: str) -> Plan:
        """Return the plan, with texts in this language."""


def make_plan(kind: str, language: str, *programs: str, comment: str = "", **facts: object) -> Plan:
    """Return the plan of a kind of answer. Its intro quotes the facts; `comment` replaces its comment."""
    texts = TEXTS[kind].get(language, TEXTS[kind]["en"])
    thought = f"**{texts['title']}**\n\n{texts['thought']}\n\n\n"
    intro = texts["intro"].format(**facts) + "\n\n"
    return Plan(thought, intro, programs, texts.get("repair", ""), comment or texts["comment"])


def localized(group: str, name: str, language: str) -> str:
    """Return a sentence or a name of `texts.toml`."""
    texts: dict[str, str] = TEXTS[group][name]
    return texts[language]


def escape(text: str) -> str:
    """Return a text in the form in which a template quotes it, without line ends and marks of Markdown."""
    return " ".join(text.replace("`", "'").split())[:80].replace("{", "{{").replace("}", "}}")
