"""Sentences that are made in English are shown in the language of the reader."""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils import translation

from chat.answering.prompt.intent.rules import RULES
from chat.messages.notices import ERRORS, FINISHES, INTERRUPTIONS, notice_of
from chat.python.reruns.verdicts import RunOutput, compare
from chat.vocabulary.parts import OUTCOME_DEADLINE_EXCEEDED, OUTCOME_FAILED, OUTCOME_OK
from chat.vocabulary.sentences import _expression, known_sentences, translate_sentence
from chat.vocabulary.stream_events import Finish
from config.folders import BASE_DIR

#: Modules whose sentences pages show. Logs, prompts and errors of programmers have texts of their own.
MODULES = (
    "chat/people/account/forms.py",
    "chat/admin/forms.py",
    "chat/consumers.py",
    "chat/library/forms.py",
    "chat/models/form_fields.py",
    "chat/page/relay/socket_revalidation.py",
    "chat/library/project_forms.py",
    "chat/python/session_panel.py",
    "chat/providers/catalogue/refused_tools.py",
    "chat/answering/turns/draining.py",
    "chat/answering/turns/engine_choice.py",
    "chat/python/tool_set/engine_rules.py",
    "chat/python/tool_set/factory.py",
    "chat/library/newer_file_views.py",
    "chat/python/newer_files/rows.py",
    "chat/python/reruns/new_kernel.py",
    "chat/python/newer_files/start.py",
    "chat/python/reruns/rerun.py",
    "chat/answering/turns/resume.py",
    "chat/answering/turns/start_context.py",
    "chat/answering/turns/start_rules.py",
    "chat/answering/turns/versions.py",
)
SENTENCE = re.compile(r"[A-Z“][^_<>]*[a-z”)] .*[.…]$", re.DOTALL)


@pytest.fixture(autouse=True)
def german() -> Iterator[None]:
    with translation.override("de"):
        yield


def is_translated(sentence: str) -> bool:
    return translate_sentence(sentence) != sentence


def test_a_known_sentence_is_translated() -> None:
    assert translate_sentence("You stopped this answer.") == "Sie haben diese Antwort gestoppt."


@pytest.mark.parametrize(
    ("refusal", "translated"),
    [
        ("$.messages[3].text: there must be a text here.", "$.messages[3].text: hier muss ein Text stehen."),
        ("$: there must be an object here.", "$: hier muss ein Objekt stehen."),
        ("a.json: $.role: “x” is none of user, model.", "a.json: $.role: „x“ ist keines von user, model."),
        (
            "$.messages: there are 12,000 entries; at most 9 are allowed.",
            "$.messages: es sind 12.000 Einträge; höchstens 9 sind erlaubt.",
        ),
        ("$.a: here is “there must be a text here.”", "$.a: here is “there must be a text here.”"),
    ],
)
def test_reason_of_a_refused_import_is_translated_but_its_json_path_is_not(refusal: str, translated: str) -> None:
    assert translate_sentence(refusal) == translated


def test_each_sentence_of_a_text_with_several_sentences_is_translated() -> None:
    assert translate_sentence("The server is being restarted. Try again in a moment.") == (
        "Der Server wird neu gestartet. Versuchen Sie es gleich noch einmal."
    )
    with translation.override("zh-hans"):
        assert translate_sentence("The server is being restarted. Try again in a moment.") == (
            "服务器正在重启。请稍后重试。"
        )


def test_file_names_in_a_sentence_are_not_translated_and_phrases_in_placeholders_are() -> None:
    assert translate_sentence("The question asks for a graph and has a list of numbers.") == (
        "Die Frage verlangt eine Grafik und hat eine Liste von Zahlen."
    )
    assert translate_sentence("“a b.csv” has 2 MB, which is too much.") == "“a b.csv” hat 2 MB, das ist zu viel."


def test_column_name_is_not_translated_even_if_it_equals_a_translatable_phrase() -> None:
    assert translate_sentence('Plot "number" over "date"') == 'Zeichne "number" über "date"'


def test_numbers_in_a_translated_sentence_have_the_format_of_the_language() -> None:
    assert translate_sentence("1,200 tokens") == "1.200 Token"
    assert translate_sentence("1.5 MB") == "1,5 MB"
    assert translate_sentence("many tokens") == "many tokens"


def test_text_that_is_not_in_the_translation_table_is_not_changed() -> None:
    for text in ("", "Hello there.", "[x] <b>", "{name}", "x" * 5_000):
        assert translate_sentence(text) == text
    with translation.override("en"):
        assert translate_sentence("You stopped this answer.") == "You stopped this answer."


def test_no_line_of_the_translation_table_is_repeated() -> None:
    assert len(known_sentences()) == len(set(known_sentences()))


@pytest.mark.parametrize("module", MODULES)
def test_translation_table_has_the_sentences_of_each_module(module: str) -> None:
    assert [text for text in sentences_of(BASE_DIR / module) if not is_translated(text)] == []


def test_translation_table_has_the_notices_about_ends_of_answers() -> None:
    sentences = [*ERRORS.values(), *INTERRUPTIONS.values(), *(notice.sentence for notice in FINISHES.values())]
    for is_empty in (True, False):
        notices = [notice_of(status="done", finish=one, finish_reason="WHY", is_empty=is_empty) for one in Finish]
        sentences += [notice.sentence for notice in notices if notice]
    assert [one for one in sentences if not is_translated(one)] == []


def test_translation_table_has_the_verdicts_about_rerun_code() -> None:
    outcomes = (OUTCOME_OK, OUTCOME_FAILED, OUTCOME_DEADLINE_EXCEEDED)
    runs = [RunOutput(outcome, text, ()) for outcome in outcomes for text in ("", "a 1", "a 2", "a 1\nb")]
    verdicts = {compare(before, after).detail for before in runs for after in runs}
    assert [one for one in sorted(verdicts) if not is_translated(one)] == []


def test_translation_table_has_the_reasons_why_a_question_is_answered_with_code() -> None:
    reasons = {rule.reason.removeprefix("but ") for rule in RULES}
    assert [reason for reason in sorted(reasons) if not is_translated(reason)] == []


def sentences_of(path: Path) -> list[str]:
    """Return the sentences in the code of a module, with a number in each of their places."""
    tree = ast.parse(path.read_text())
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    docstrings |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    pieces = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    texts = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            values = (part.value if isinstance(part, ast.Constant) else "7" for part in node.values)
            texts.append("".join(map(str, values)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not {id(node)} & (docstrings | pieces):
            texts.append(re.sub(r"\{\w+(:\w+)?\}", "7", node.value))
    return [text.strip() for text in texts if SENTENCE.match(text.strip())]


def test_long_text_that_nearly_matches_a_sentence_takes_little_time() -> None:
    line = next(line for line in known_sentences() if line.startswith("{model} does not take files like"))
    text = " does not take files like “" * 150 + "” (" * 1_300
    started_at = time.process_time()
    assert not _expression(line).fullmatch(text)
    assert time.process_time() - started_at < 1


def test_file_name_that_contains_words_of_the_sentence_stays_complete() -> None:
    assert translate_sentence("a does not take files like “b” (c” (image/png).") == translate_sentence(
        "a does not take files like “b” (image/png)."
    ).replace("image/png", "c” (image/png")
    assert translate_sentence("“x” has 5 × 4” has 7 × 8 pixels: each side may have 9.").startswith("„x” has 5 × 4“")
