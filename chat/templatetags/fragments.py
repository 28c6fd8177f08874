"""Filters and tags that render fragments in a page, with the same functions that live updates use."""

from __future__ import annotations

import uuid

from django import template
from django.utils.safestring import SafeString

from chat.models import Conversation
from chat.page import fragments

register = template.Library()
register.filter("message_html", fragments.message_html)
register.filter("title_html", fragments.title_html)
register.filter("usage_html", fragments.usage_html)


@register.simple_tag
def sidebar_entry(entry: Conversation, open_id: uuid.UUID | str) -> SafeString:
    """Render a conversation in the sidebar. `open_id`: id of the conversation whose page is shown; may be empty."""
    return fragments.entry_html(entry, is_open=entry.pk == open_id)
