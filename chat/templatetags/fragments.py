"""Fragments in a page, by the same calls that bring them into a live one."""

from __future__ import annotations

import uuid

from django import template
from django.utils.safestring import SafeString

from chat import fragments
from chat.models import Conversation

register = template.Library()
register.filter("message_html", fragments.message_html)
register.filter("title_html", fragments.title_html)
register.filter("usage_html", fragments.usage_html)


@register.simple_tag
def entry_of(entry: Conversation, open_id: uuid.UUID | str) -> SafeString:
    """An entry of the list; `open_id`: of the conversation whose page this is, or empty."""
    return fragments.entry_html(entry, is_open=entry.pk == open_id)
