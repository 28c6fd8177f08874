"""Builds the system instruction of a request."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from chat.answering.code_tools import code_tools
from chat.models import Instruction
from chat.providers.catalogue.setups import Setup
from chat.vocabulary.parts import Engine

_TEXTS = {
    name: text.strip()
    for name, text in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).items()
}


PRIVATE = """
The data of this conversation are private. Of attached files you get the names, and of tables the columns with their \
types. The user sees every output whole. You get it without rows, cells and texts of the files: [text 1] stands for a \
text, the same text has the same number each time, and code does not know these numbers. So let code compute what the \
question needs, such as counts, means and shares, and print that, not rows. [number] stands for a number that may be a \
cell: if it is a computed result, print it with more digits. For single values, refer the user to the output. Never \
guess what is withheld, and never write code that hides or encodes data to get it past this filter."""
"""The text for models in private conversations. Operators cannot change it, because it describes how results are
filtered.
"""


def default_texts() -> Mapping[str, str]:
    """Return Plotline's default texts, and those of the tool set that runs code, by the field names of
    `Instruction`.
    """
    tools = code_tools()
    return {**_TEXTS, **(tools.instructions if tools else {})}


def system_instruction(
    setup: Setup,
    row: Instruction | None,
    *,
    engine: Engine | None,
    both_engines: bool = False,
    web_search: bool,
    person: str = "",
    project: str = "",
    own: str,
    is_private: bool = False,
) -> str:
    """Return the system instruction: the operator's texts or else the defaults, then those of the preset, the person,
    the project and the conversation.

    The more specific a text is, the later it comes.

    `row`: the operator's texts. `engine`: where code may run; `None`: nowhere. `both_engines`: whether the model may
    also call a function that runs code in a tool set. `web_search`: whether this answer may search. Texts about code
    and search are included only if this answer may use them. `is_private`: whether data of files are private.
    """
    texts = default_texts() if row is None else {name: getattr(row, name) for name in default_texts()}
    tools = code_tools()
    texts_in_order = [
        texts["general"],
        texts["code_execution"] if engine is Engine.NATIVE else "",
        texts[tools.instruction] if tools and engine is Engine.SESSION else "",
        texts["both_engines"] if tools and both_engines else "",
        PRIVATE if is_private else "",
        texts["web_search"] if web_search else "",
        texts["image_output"] if setup.image_output else "",
        setup.instruction,
        person,
        project,
        own,
    ]
    return "\n\n".join(text.strip() for text in texts_in_order if text.strip())
