"""What a model is told before a conversation begins."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from chat.catalogue.setups import Setup
from chat.models import Instruction
from chat.statements import Select

_FILE = Path(__file__).with_suffix(".toml")
_ROW = Select(lambda: Instruction.objects.filter(pk=1).order_by())


@cache
def default_texts() -> Mapping[str, str]:
    """What the product itself says, by the fields of `Instruction`."""
    return {name: text.strip() for name, text in tomllib.loads(_FILE.read_text(encoding="utf-8")).items()}


def system_instruction(setup: Setup, *, code_execution: bool, own: str) -> str:
    """The operator's texts or else the product's, then the preset's, then the conversation's own.

    What a model is told about running code or searching depends on whether it can in this answer. One query.
    """
    row = _ROW.first()
    texts = default_texts() if row is None else {name: getattr(row, name) for name in default_texts()}
    said = [
        texts["general"],
        texts["code_execution"] if code_execution else "",
        texts["google_search"] if setup.google_search else "",
        texts["image_output"] if setup.image_output else "",
        setup.instruction,
        own,
    ]
    return "\n\n".join(text.strip() for text in said if text.strip())
