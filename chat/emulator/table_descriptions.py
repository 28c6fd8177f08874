"""Parses the descriptions of attached tables in a request. Pure.

Plotline writes a line of JSON for each: the columns, and the code that reads the table, or why it cannot be read. Files
that only code in the Python session can open are named in a sentence.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from chat.emulator.generation_request import TABLES, GenerationRequest, is_of_tables
from chat.emulator.wire import WireObject

_IN_SESSION = re.compile(
    r"\[The file .+ \([\d,]+ bytes\) is in the working directory of the Python session, as “(.+)”\.\]"
)


@dataclass(frozen=True, slots=True)
class TableDescription:
    """The description of one file in a request. A file that is only named has neither code nor a refusal."""

    name: str
    """The file's name where code runs."""
    is_new: bool
    """Whether the file came with the last prompt."""
    code: str = ""
    """An expression that reads the table with pandas."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """The types of the columns, by name: `number`, `text`, `date`, `time` or `boolean`."""
    roles: Mapping[str, str] = field(default_factory=dict)
    """The roles of columns that have one, by name: `identifier`, `year`, `code`, `money` or `percent`."""
    notes: Sequence[str] = ()
    is_cut: bool = False
    """Whether the request leaves out a part, such as further columns."""
    refusal: str = ""
    """The reason why the file cannot be read as a table."""

    @property
    def is_readable(self) -> bool:
        """Whether the description has code that reads the table, and the code is one expression."""
        try:
            ast.parse(self.code, mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
        return bool(self.columns) and len(self.code.splitlines()) == 1


def table_descriptions(request: GenerationRequest) -> list[TableDescription]:
    """Return the newest description of each file, the oldest file first."""
    found: dict[str, TableDescription] = {}
    for index, content in enumerate(request.contents):
        if content.get("role", "user") == "user":
            texts = [part["text"] for part in content["parts"] if part.get("text")]
            named = {match[1] for text in texts if (match := _IN_SESSION.fullmatch(text))}
            attached = named | set(_data_names(content))
            is_last = index >= request.last_prompt_index
            found |= {name: TableDescription(name, is_last) for name in sorted(named)}
            described = [part["text"] for at, part in enumerate(content["parts"]) if is_of_tables(content["parts"], at)]
            for one in (one for text in described for one in _parse(text)):
                # A description may be repeated with a later question. A file is new only if the last prompt brought it.
                is_new = is_last and (one.name in attached or one.name not in found)
                found[one.name] = replace(one, is_new=is_new)
    return list(found.values())


def _data_names(content: WireObject) -> Iterator[str]:
    for part in content["parts"]:
        if "inlineData" in part:
            yield str(part["inlineData"].get("displayName", ""))


def _parse(text: str) -> Iterator[TableDescription]:
    """Yield the descriptions in a text. Other lines are skipped."""
    heading, _, lines = text.partition("\n")
    for line in lines.splitlines() if heading.strip() == TABLES else ():
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and isinstance(value.get("file"), str):
            notes = value.get("notes")
            yield TableDescription(
                value["file"],
                is_new=False,
                code=_text(value.get("read_as")).strip(),
                columns=_texts(value.get("columns")),
                roles=_texts(value.get("roles")),
                notes=[one for one in notes if isinstance(one, str)] if isinstance(notes, list) else [],
                is_cut=value.get("cut") is True,
                refusal=_text(value.get("refused")),
            )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> dict[str, str]:
    items = value.items() if isinstance(value, dict) else ()
    return {name: text for name, text in items if isinstance(text, str)}
