"""Finds every text that is translated: in templates, Python, models, scripts and the table of sentences."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from django.utils.translation.template import templatize
from jinja2 import Environment, nodes
from jinja2.ext import extract_from_ast

from chat.vocabulary.sentences import TABLE, known_sentences
from config.folders import BASE_DIR
from tests.languages.model_extraction import find_model_words

PYTHON_FOLDERS = ("attachments", "chat", "config")
SINGLE = {"_", "gettext", "gettext_lazy", "gettext_noop"}
PLURAL = {"ngettext", "ngettext_lazy"}
WITH_CONTEXT = {"pgettext", "pgettext_lazy"}
FUNCTIONS = SINGLE | PLURAL | WITH_CONTEXT

_CALL = re.compile(rf"(?<![\w.])({'|'.join(sorted(FUNCTIONS))})\(")
_LITERAL = re.compile(r"""\s*(u?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"))\s*,?""", re.DOTALL)
_SCRIPT_CALL = re.compile(r"(?<![\w.])(words|counted)\(\s*")
_SCRIPT_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')


class Found(NamedTuple):
    """A text in the code."""

    text: str
    plural: str = ""
    context: str = ""


def find_words() -> dict[Found, list[str]]:
    """Return all texts of pages, each with the files that contain it."""
    found: dict[Found, list[str]] = {}
    for path in _files("templates", ".html", ".txt"):
        _note(found, path, _in_template(path.read_text()))
    for path in _files("templates", ".jinja"):
        _note(found, path, _in_jinja(path.read_text()))
    for folder in PYTHON_FOLDERS:
        for path in _files(folder, ".py"):
            _note(found, path, _in_python(path.read_text()))
    _note(found, TABLE, map(Found, known_sentences()))
    for path, text in find_model_words():
        _note(found, path, iter([Found(text)]))
    return found


def find_script_words() -> dict[Found, list[str]]:
    """Return all texts of scripts, each with its files. Raises ValueError for a call without a literal."""
    found: dict[Found, list[str]] = {}
    for path in _files("static/js", ".js"):
        if path.name != "words.js":
            _note(found, path, _in_script(path.read_text()))
    return found


def _files(folder: str, *suffixes: str) -> list[Path]:
    return sorted(path for path in (BASE_DIR / folder).rglob("*") if path.suffix in suffixes)


def _note(found: dict[Found, list[str]], path: Path, texts: Iterator[Found]) -> None:
    for text in texts:
        places = found.setdefault(text, [])
        if (name := str(path.relative_to(BASE_DIR))) not in places:
            places.append(name)


def _in_template(source: str) -> Iterator[Found]:
    """Yield the texts of a Django template. `templatize` turns its tags into calls of gettext."""
    code = templatize(source)
    for call in _CALL.finditer(code):
        texts, position = [], call.end()
        while literal := _LITERAL.match(code, position):
            texts.append(str(ast.literal_eval(literal[1])))
            position = literal.end()
        if texts:
            yield _call(call[1], texts)


def _in_jinja(source: str) -> Iterator[Found]:
    template = Environment(extensions=["jinja2.ext.i18n"], autoescape=True).parse(source)
    assert isinstance(template, nodes.Template)
    for _, function, texts in extract_from_ast(template, sorted(FUNCTIONS)):
        yield _call(function, [text for text in (texts if isinstance(texts, tuple) else (texts,)) if text])


def _in_python(source: str) -> Iterator[Found]:
    tree = ast.parse(source)
    names = {
        name.asname or name.name: name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "django.utils.translation"
        for name in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and names.get(node.func.id) in FUNCTIONS:
            texts = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            if texts:
                yield _call(names[node.func.id], texts)


def _in_script(source: str) -> Iterator[Found]:
    for call in _SCRIPT_CALL.finditer(source):
        start = call.end()
        if call[1] == "counted":
            start = source.index(",", start) + 1
        literals = list(_SCRIPT_LITERAL.finditer(source, start, start + 400))
        if not literals or source[start : literals[0].start()].strip():
            raise ValueError(f"a call without a text: {source[call.start() : call.start() + 80]}")
        yield Found(literals[0][1], literals[1][1] if call[1] == "counted" else "")


def _call(function: str, texts: list[str]) -> Found:
    if function in PLURAL:
        return Found(texts[0], texts[1])
    return Found(texts[1], context=texts[0]) if function in WITH_CONTEXT else Found(texts[0])
