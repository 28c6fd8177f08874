"""Decides how the demo model answers a conversation: with a plan, or with a text that says why there is none.

A question that is not understood completely is refused. A follow-up such as `make it a cosine` changes the last task.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import dropwhile, takewhile

from chat.emulator.attached_files import AttachedFile
from chat.emulator.demo.language import (
    LENGTH_LIMIT,
    TEXTS,
    Plan,
    Prompt,
    make_plan,
    normalize,
    quoted_names,
    read_prompt,
    sentence,
    word,
)
from chat.emulator.demo.lists import read_list_plan
from chat.emulator.demo.maths import read_calculation, read_curves
from chat.emulator.demo.offers import nearest_questions
from chat.emulator.demo.recipes import read_recipe
from chat.emulator.demo.styles import has_graph, take_styles, with_styles
from chat.emulator.demo.table_files import Table, known_tables, take_pasted_table
from chat.emulator.demo.tables import Question, read_table_plan
from chat.emulator.table_descriptions import TableDescription
from chat.vocabulary.markdown_source import escape_label

EARLIER_PROMPTS = 6
"""Maximum number of earlier prompts that are parsed to find out what a follow-up refers to."""
TOPICS = {"calculation": read_calculation, "curves": read_curves, "lists": read_list_plan, "recipes": read_recipe}
OWN_CODE = re.compile(r"```(?:python|py|python3)[ \t]*\r?\n(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)
_CONTINUATION = re.compile(r"\W*(?:please\s+)?(?:continue|go on|carry on|weiter|继续)", re.IGNORECASE)
_GRAPH_QUOTE = re.compile(
    r"\A(?:Change (?:the )?|Die (?=Grafik „)|更改(?=图表))?(?:(?:graph |Grafik |图表)[“„](?P<title>.*?)[”“] ?[(（])?"
    r"(?:graph|Grafik|图表) ?\d+[)）]?(?: ändern)?[:：] ?"
)
"""The text that the button below a graph writes into a prompt, in each language."""


def plan_answer(
    prompts: Sequence[str],
    programs: Sequence[str],
    files: Sequence[AttachedFile],
    described: Sequence[TableDescription] = (),
    *,
    asks_web: bool = False,
) -> Plan | str:
    """Return the plan for the newest prompt, or the text of the answer if there is nothing to run.

    `prompts` are the texts of the user, `programs` the code of the conversation, both newest first. `described`: what
    the request says about tables. `asks_web`: whether the request offers web search, which the demo model cannot use.
    """
    prompts, last_program = _resolve_quote(without_continuations(prompts), programs)
    text = prompts[0]
    if own_code := OWN_CODE.search(text):
        return make_plan("own_code", read_prompt(text[: own_code.start()]).language, "\n".join(OWN_CODE.findall(text)))
    prompt = read_prompt(text[:LENGTH_LIMIT])
    if repeated := _repeat(prompt, text, last_program):
        return repeated
    tables = known_tables(files, described)
    new = {one.name for one in described if one.is_new} | {one.name for one in files if one.is_new and one.is_table}
    text = text if new else _whole_question(prompts, prompt, tables)
    answer: Plan | list[str] | None = None
    previous: object = None
    is_change = prompt.take(word("actions.change")) is not None
    earlier = takewhile(lambda one: not OWN_CODE.search(one), prompts[1 : EARLIER_PROMPTS + 1])
    for one in (*reversed([*earlier]), text):
        pasted, rest = take_pasted_table(one)
        tables |= {"": pasted} if pasted else {}
        if one is text or is_change:
            fresh = {""} if pasted else new if one is text else set()
            answer = _read(rest, previous, tables, fresh)
            previous = answer.request if isinstance(answer, Plan) else previous
    if isinstance(answer, Plan):
        return answer
    changes = TEXTS["changes"][prompt.language] if is_change and has_graph(last_program) else ()
    return _refuse(answer, tables, files, described, text, asks_web=asks_web, changes=changes)


def without_continuations(prompts: Sequence[str]) -> list[str]:
    """Return the prompts, newest first, without the newest ones that only ask to continue the answer."""
    return [*dropwhile(_CONTINUATION.match, prompts)] or [*prompts[-1:]] or [""]


def _resolve_quote(prompts: Sequence[str], programs: Sequence[str]) -> tuple[Sequence[str], str]:
    """Return the prompts without the quote of a graph, and the program that drew it. No quote: the last program."""
    last_program = next(iter(programs), "")
    quote = _GRAPH_QUOTE.match(prompts[0])
    if quote is None:
        return prompts, last_program
    quoted = next((one for one in programs if (quote["title"] or "") in one), "")
    # For a graph of an earlier program, only the look can be changed, so the earlier prompts are dropped.
    known = prompts if quoted == last_program else prompts[:1]
    # The quote is replaced by "now", a word that asks for a change.
    return [_GRAPH_QUOTE.sub("now ", one, count=1) for one in known], quoted


def answer_clock(text: str, date: Mapping[str, str]) -> str:
    """Return the answer from Plotline's note about the date, if the prompt asks for date or time; otherwise empty."""
    prompt = read_prompt(text[:LENGTH_LIMIT])
    if not prompt.take(word("clock.asked")) or prompt.unknown_words("clock"):
        return ""
    facts = {name: TEXTS["calendar"].get(one, {}).get(prompt.language, one) for name, one in date.items()}
    return sentence("clock" if date else "no_clock", prompt.language, **facts) + "\n"


def _repeat(prompt: Prompt, text: str, last_program: str) -> Plan | None:
    """Return the plan to run the last program again, or to change the look of its graph; `None` if more is asked."""
    attempt = replace(prompt)
    if last_program and attempt.take(word("again.again")) and not attempt.unknown_words("again"):
        return make_plan("again", prompt.language, last_program)
    attempt = replace(prompt)
    is_change = attempt.take_all("actions.change")
    lines = take_styles(attempt, text, is_change=is_change)
    if not lines or not has_graph(last_program) or attempt.unknown_words("styles"):
        return None
    return make_plan("change", prompt.language, with_styles(last_program, lines))


def _read(text: str, previous: object, tables: Mapping[str, Table], fresh: set[str]) -> Plan | list[str] | None:
    """Return the plan for a prompt, or the words that were not understood; `None` if it fits several tables.

    `previous`: what was asked for before; `fresh`: the names of the files that came with the prompt.
    """
    if len(text) > LENGTH_LIMIT or re.search(r"\d{41}", text):
        return [f"{text[:40]}…"]
    prompt = read_prompt(text)
    answer = _read_prompt(prompt, previous, tables, fresh)
    styled = replace(prompt)
    if isinstance(answer, list) and (lines := take_styles(styled, text, is_change=False)):
        plan = _read_prompt(styled, previous, tables, fresh)
        if isinstance(plan, Plan) and has_graph(plan.program):
            return replace(plan, program=with_styles(plan.program, lines))
    return answer


def _read_prompt(
    prompt: Prompt, previous: object, tables: Mapping[str, Table], fresh: set[str]
) -> Plan | list[str] | None:
    misses: list[list[str]] = []
    named = _names_in(prompt, tables)
    for names in [named] if named else [fresh.intersection(tables), tables.keys() - fresh]:
        found: list[Plan] = []
        for name in sorted(names):
            attempt = _without_names(prompt, [name])
            plan = read_table_plan(attempt, tables[name])
            unknown = attempt.unknown_words("tables")
            # A change of a question about a table is ambiguous: `now by city` may keep its filters or not.
            is_clear = not unknown and not isinstance(previous, Question)
            if (
                plan
                and is_clear
                and (name in fresh or _is_about(plan, tables[name], is_specific=bool(fresh) > bool(named)))
            ):
                found.append(plan)
            misses += [unknown] if plan else []
        if found:
            return found[0] if len(found) == 1 else None
    for topic, read in TOPICS.items():
        attempt = replace(prompt)
        plan = read(attempt, previous)
        unknown = attempt.unknown_words(topic)
        if plan and not unknown:
            return plan
        misses += [unknown] if plan else []
    return min(misses, key=len) if misses else prompt.unknown_words("lists")


def _refuse(
    unknown: list[str] | None,
    tables: Mapping[str, Table],
    files: Sequence[AttachedFile],
    described: Sequence[TableDescription],
    text: str,
    *,
    asks_web: bool,
    changes: Sequence[str] = (),
) -> str:
    """Return the answer to a question that is not understood: the reason in one line, and questions to ask instead.

    `changes`: the possible changes of the graph that the question is about.
    """
    prompt = read_prompt(text[:LENGTH_LIMIT])
    texts: dict[str, str] = TEXTS["refusal"][prompt.language]
    named = _names_in(prompt, [one.name for one in described])
    asked = [one for one in described if one.name in named or (one.is_new and not named)]
    refused = [one for one in asked if one.refusal]
    new = [*(file.name for file in files if file.is_new), *(one.name for one in asked)]
    read = {*tables, *(one.name for one in refused)}
    unreadable = [name for name in dict.fromkeys(new) if name not in read]
    words = ", ".join(f"*{one}*" for one in dict.fromkeys((unknown or [])[:8]))
    reasons = [texts["refused"].format(file=quoted_names([one.name]), reason=one.refusal) for one in refused]
    if unreadable:
        reasons.append(texts["unreadable"].format(files=quoted_names(unreadable)))
    elif unknown is None:
        reasons.append(texts["which_table"].format(files=quoted_names([*tables])))
    elif not refused:
        reasons.append(texts["words"].format(words=words) if words else texts["hello"])
        if unknown and (asks_web or prompt.take(word("web.live"))):
            reasons.insert(0, texts["no_web"])
        elif not tables and prompt.take(word("web.tables")):
            reasons.insert(0, texts["no_table"])
    offered = [*filter(None, tables)] if unknown is None else changes
    offered = offered or nearest_questions(
        text[:LENGTH_LIMIT], tables, lambda one: isinstance(_read(one, None, tables, set()), Plan)
    )
    return " ".join(reasons) + "\n\n" + "".join(f"- [{escape_label(one)}](#ask)\n" for one in offered)


def _is_about(plan: Plan, table: Table, *, is_specific: bool) -> bool:
    """Return whether a question is about this older table. `is_specific`: only if it names a part of the table."""
    question = plan.request
    assert isinstance(question, Question)
    return bool(question.columns or question.group or question.filters) if is_specific else question != Question(table)


def _names_in(prompt: Prompt, names: Iterable[str]) -> list[str]:
    return [name for name in names if name and re.search(_file_pattern(name), prompt.rest)]


def _without_names(prompt: Prompt, names: Iterable[str]) -> Prompt:
    for name in filter(None, names):
        prompt = replace(prompt, rest=re.sub(_file_pattern(name), " ", prompt.rest))
    return prompt


def _file_pattern(name: str) -> str:
    return rf"[\"'`“„]?(?<![\w.-]){re.escape(normalize(name))}(?![\w-]|\.\w)[\"'`”“]?"


def _whole_question(prompts: Sequence[str], prompt: Prompt, tables: Mapping[str, Table]) -> str:
    """Return the newest prompt. If it only names a table (a reply to “which table?”), prepend the prompt before it."""
    names = _names_in(prompt, tables)
    is_name = bool(names) and not _without_names(prompt, names).unknown_words("tables")
    is_answer = is_name and len(prompts) > 1 and not OWN_CODE.search(prompts[1])
    return f"{prompts[1]} {prompts[0]}" if is_answer else prompts[0]
