"""Decides what the demo model answers to a conversation: a plan, or a text that says why there is none.

A question that is not understood completely is refused. A follow-up such as `make it a cosine` changes the task before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from chat.emulator.attached_files import AttachedFile
from chat.emulator.demo import calculations, curves, series, showpieces, tables
from chat.emulator.demo.answers import TEXTS, Plan, Task, make_plan
from chat.emulator.demo.prompt import LENGTH_LIMIT, Prompt, language_of, read_prompt, word
from chat.emulator.demo.table_files import Table, read_table, take_pasted_table
from chat.emulator.demo.table_questions import Question

EARLIER_PROMPTS = 6
FOLLOWED_LENGTH_LIMIT = 500
"""Limits for the earlier prompts that are read to find out what a follow-up refers to: their number and length."""
TOPICS = {"showpieces": showpieces.read, "calculation": calculations.read, "curves": curves.read, "series": series.read}
_OWN_CODE = re.compile(r"```(?:python|py|python3)[ \t]*\r?\n(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)
_CONTINUATION = re.compile(r"\W*(?:please\s+)?(?:continue|go on|carry on|weiter|继续)", re.IGNORECASE)
_ADDRESS = re.compile(r"\bhttps?://|\bwww\.", re.IGNORECASE)
_GRAPH_QUOTE = re.compile(r"\AChange (?:the graph “(?P<title>.*?)” \()?graph \d+\)?: ")
"""The words that the button below a graph writes. The demo model can only change the last graph."""
_TABLE_WORDS = re.compile(r"\b(?:csv|tsv|table|file|tabelle|datei)\b|表格|文件", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Reading:
    """The task that a prompt was understood as, and what was not understood."""

    language: str
    task: Task | None = None
    unknown: tuple[str, ...] = ()
    """The words that were not understood, by the topic that understood most."""
    fitting: tuple[str, ...] = ()
    """The names of the tables, if the prompt fits several."""


def plan_answer(
    prompts: Sequence[str], last_program: str, files: Sequence[AttachedFile], *, asks_web: bool = False
) -> Plan | str:
    """Return the plan for the newest prompt, or the text of the answer if there is nothing to run.

    `prompts` are the texts of the user, newest first; `last_program` is the last code of the conversation. `asks_web`:
    whether the request offers web search, which the demo model cannot use.
    """
    prompts = list(prompts)
    while len(prompts) > 1 and _CONTINUATION.match(prompts[0]):
        del prompts[0]
    if prompts and (quote := _GRAPH_QUOTE.match(prompts[0])) and (quote["title"] or "") in last_program:
        prompts = [_GRAPH_QUOTE.sub("", one, count=1) for one in prompts]
    text = prompts[0] if prompts else ""
    own_code = _OWN_CODE.search(text)
    if own_code is not None:
        return make_plan("own_code", language_of(text[: own_code.start()][:LENGTH_LIMIT]), own_code[1])
    if last_program and _asks_again(text):
        return make_plan("again", language_of(text), last_program)
    known = {file.name: table for file in files if file.is_table and (table := read_table(file))}
    reading, task = _Reading(language_of(text[:LENGTH_LIMIT])), None
    earlier = list(takewhile(lambda one: not _OWN_CODE.search(one), prompts[1 : EARLIER_PROMPTS + 1]))
    is_change = read_prompt(text[:LENGTH_LIMIT]).take(word("actions.change")) is not None
    for one in [*reversed(earlier), text]:
        pasted, rest = take_pasted_table(one)
        if pasted is not None:
            known.pop("", None)
            known[""] = pasted
        if one is text or (is_change and len(rest) <= FOLLOWED_LENGTH_LIMIT):
            fresh = {file.name for file in files if file.is_new} if one is text else set()
            reading = _read(rest, task, known, {""} if pasted else fresh)
            task = reading.task or task
    if reading.task:
        return reading.task.plan(reading.language)
    return _refusal(reading, known, files, text, asks_web=asks_web)


def _asks_again(text: str) -> bool:
    prompt = read_prompt(text[:200])
    return len(text) < 200 and prompt.take(word("again.again")) is not None and not prompt.unknown_words("again")


def _read(text: str, previous: Task | None, known: dict[str, Table], fresh: set[str]) -> _Reading:
    """Read one prompt. `fresh` are the names of the tables that came with it."""
    if len(text) > LENGTH_LIMIT or re.search(r"\d{41}", text):
        return _Reading(language_of(text[:LENGTH_LIMIT]), unknown=(f"{text[:40]}…",))
    prompt = read_prompt(text)
    misses: list[list[str]] = []
    found: dict[str, Task] = {}
    named = [name for name in known if name and name.lower() in prompt.rest]
    for name in named or known:
        attempt = Prompt(prompt.language, prompt.rest.replace(name.lower(), " ") if name else prompt.rest)
        task = tables.read(attempt, previous, known[name])
        unknown = attempt.unknown_words("tables")
        if task is not None and not unknown and (name in fresh or task.question != Question(known[name])):
            found[name] = task
        elif task is not None:
            misses.append(unknown)
    if len(found) > 1:
        preferred = [name for name in found if name in fresh]
        if len(preferred) != 1:
            return _Reading(prompt.language, fitting=tuple(found))
        found = {preferred[0]: found[preferred[0]]}
    if found:
        return _Reading(prompt.language, next(iter(found.values())))
    for topic, read in TOPICS.items():
        attempt = prompt.copy()
        task_of_topic = read(attempt, previous)
        unknown = attempt.unknown_words(topic)
        if task_of_topic is not None and not unknown:
            return _Reading(prompt.language, task_of_topic)
        misses += [unknown] if task_of_topic is not None else []
    rest = min(misses, key=len) if misses else prompt.unknown_words("series")
    return _Reading(prompt.language, unknown=tuple(rest))


def _refusal(
    reading: _Reading, known: dict[str, Table], files: Sequence[AttachedFile], text: str, *, asks_web: bool
) -> str:
    """Return the answer to a question that is not understood: what it is, and what can be asked."""
    texts: dict[str, str] = TEXTS["refusal"][reading.language]
    unreadable = [file.name for file in files if file.is_new and file.name not in known]
    words = ", ".join(f"*{one}*" for one in dict.fromkeys(reading.unknown[:8]))
    lines = [texts["words"].format(words=words) if words else texts["hello"]]
    if reading.unknown and (asks_web or _needs_web(text)):
        lines.append(texts["no_web"])
    if reading.fitting:
        lines.append(texts["which_table"].format(files=_quoted(reading.fitting)))
    elif unreadable:
        lines.append(texts["unreadable"].format(files=_quoted(unreadable)))
    elif not known and _TABLE_WORDS.search(text[:LENGTH_LIMIT]):
        lines.append(texts["no_table"])
    for name, table in known.items():
        columns = _quoted([column.name for column in table.columns[:30]])
        lines.append(texts["columns"].format(file=_quoted([name or "CSV"]), columns=columns))
    examples = [*TEXTS["examples"][reading.language], *TEXTS["examples"][f"table_{reading.language}"]]
    lines += [texts["examples"], "\n".join(f"- {example}" for example in examples), texts["close"] + "\n"]
    return "\n\n".join(lines)


def _needs_web(text: str) -> bool:
    """Return whether a prompt asks for what changes from day to day, or for a web page."""
    prompt = read_prompt(text[:LENGTH_LIMIT])
    return _ADDRESS.search(text[:LENGTH_LIMIT]) is not None or prompt.take(word("web.live")) is not None


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"`{' '.join(name.replace('`', '').split())[:60]}`" for name in names)
