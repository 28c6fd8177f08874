"""Renders sentences about tables that code has changed: names as code, phrases in the reader's language."""

from __future__ import annotations

import re

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from chat.vocabulary.sentences import translate_sentence

_TABLE = re.compile(r"`[^`]*`: ")
_NAME = re.compile(r"`([^`]*)`")


def table_change_html(text: str) -> SafeString:
    """Return the HTML of one sentence of `CodeExecutionResult.table_changes`."""
    table = _TABLE.match(text)
    phrases = text[table.end() if table else 0 :].split("; ")
    translated = (table[0] if table else "") + "; ".join(map(translate_sentence, phrases))
    # `split` returns text and names in turn, so the names have the odd positions.
    pieces = _NAME.split(translated)
    html = (format_html("<code>{}</code>", one) if number % 2 else one for number, one in enumerate(pieces))
    return format_html_join("", "{}", ((one,) for one in html))
