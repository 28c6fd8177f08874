"""Filters and tags for texts that Python makes, such as dates. Templates need no `load` for them: see `TEMPLATES`."""

from __future__ import annotations

from datetime import datetime

from django import template
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from chat.page.rendering.jinja import render
from chat.vocabulary.javascript_words import script_words_json
from chat.vocabulary.number_text import group_thousands
from chat.vocabulary.sentences import translate_sentence

register = template.Library()
register.filter("sentence", translate_sentence)
register.filter("thousands", group_thousands)


@register.filter
def moment(at: datetime) -> SafeString:
    """Render a time with its day."""
    return _time(at, f"{at:%Y-%m-%d %H:%M} UTC")


@register.filter
def day(at: datetime) -> SafeString:
    """Render the day of a time."""
    return _time(at, f"{at:%Y-%m-%d}")


@register.filter
def clock(at: datetime) -> SafeString:
    """Render a time without its day."""
    return _time(at, f"{at:%H:%M} UTC")


def _time(at: datetime, text: str) -> SafeString:
    return render("chat/_time", {"iso": at.isoformat(), "text": text})


@register.simple_tag
def script_words() -> SafeString:
    """Return the words of scripts in the language of the page, as JSON."""
    return script_words_json(get_language() or "en")


@register.simple_tag
def language_code() -> str:
    """Return the active language as HTML names it: `zh-Hans` instead of `zh-hans`."""
    return {"zh-hans": "zh-Hans"}.get(language := get_language() or "en", language)
