"""200 answers as models write them, in six languages: a page shows what their labels say, live and reloaded alike."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import cast

import pytest

from chat.page.rendering.documents import MarkdownOptions
from chat.page.rendering.markdown import render_markdown
from chat.page.rendering.stream import MarkdownStream
from tests.answers.shown import READERS, SOURCE, Answer, Labels, fold, fold_all

pytestmark = pytest.mark.formulas

FOLDER = Path(__file__).parent
ANSWERS = sorted(FOLDER.glob("*/*.md"))
OPTIONS = MarkdownOptions("id")
LANGUAGES = {"sh": "bash", "latex": "tex", "makefile": "make", "": "code"}
"""Names of code languages that pages show in another form."""
SOURCES = {"fr/09-espaces-vectoriels"}
"""Answers with a formula that is shown as source: `dcases*`, whose second column is text, is not supported."""


@pytest.mark.parametrize("path", ANSWERS, ids=[f"{path.parent.name}-{path.stem}" for path in ANSWERS])
def test_page_shows_each_sample_answer_as_its_labels_file_describes(path: Path) -> None:
    labels = read_labels(path.with_suffix(".toml"))
    answer = Answer(render_markdown(path.read_text(), OPTIONS))
    if f"{path.parent.name}/{path.stem}" in SOURCES:
        [formula] = [one for one in cast("list[Labels]", labels["formulas"]) if "*" in str(one["latex"])]
        formula["rows"] = SOURCE
    assert answer.labels == {name: labels[name] for name in READERS if name in labels}
    text, prose = answer.text, answer.prose
    assert [words for words in cast("list[str]", labels.get("visible", [])) if fold_all(words) not in text] == []
    assert [words for words in cast("list[str]", labels.get("absent", [])) if words in prose] == []


@pytest.mark.parametrize("chars", [pytest.param(7, marks=pytest.mark.drill), 61])
def test_live_rendering_of_an_answer_equals_rendering_it_whole(chars: int) -> None:
    for path in ANSWERS:
        text, stream = path.read_text(), MarkdownStream(OPTIONS)
        for start in range(0, len(text), chars):
            stream.append(text[start : start + chars])
            stream.update()
        assert "".join(stream.closed_and_tail) == render_markdown(text, OPTIONS), path.name


def read_labels(path: Path) -> Labels:
    """Return the labels of an answer, with white space folded as `Answer` does."""
    labels: Labels = {name: folded(value) for name, value in tomllib.loads(path.read_text()).items()}
    labels |= {"code": tomllib.loads(path.read_text()).get("code", [])}
    for block in cast("list[dict[str, str]]", labels["code"]):
        block["language"] = LANGUAGES.get(block["language"], block["language"])
        block["text"] = block["text"].strip("\n")
    for formula in cast("list[dict[str, str]]", labels.get("formulas", [])):
        formula["latex"] = fold_all(formula["latex"])
    return {name: value for name, value in labels.items() if value}


def folded(value: object) -> object:
    """Return a value with white space folded in all its texts."""
    if isinstance(value, str):
        return fold(value)
    if isinstance(value, list):
        return [folded(one) for one in value]
    return {name: folded(one) for name, one in value.items()} if isinstance(value, dict) else value
