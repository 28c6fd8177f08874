"""Builds the system instruction of a request."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from chat.catalogue.setups import Setup
from chat.models import Instruction

_FILE = Path(__file__).with_suffix(".toml")


@cache
def default_texts() -> Mapping[str, str]:
    """Return Plotline's default texts, by the field names of `Instruction`."""
    return {name: text.strip() for name, text in tomllib.loads(_FILE.read_text(encoding="utf-8")).items()}


def system_instruction(setup: Setup, row: Instruction | None, *, code_execution: bool, own: str) -> str:
    """Return the operator's texts or else the product's, then the preset's, then the conversation's own.

    `row`: the operator's texts. Texts about code and search are included only if this answer may use them.
    """
    texts = default_texts() if row is None else {name: getattr(row, name) for name in default_texts()}
    texts_in_order = [
        texts["general"],
        texts["code_execution"] if code_execution else "",
        texts["web_search"] if setup.web_search else "",
        texts["image_output"] if setup.image_output else "",
        setup.instruction,
        own,
    ]
    return "\n\n".join(text.strip() for text in texts_in_order if text.strip())
