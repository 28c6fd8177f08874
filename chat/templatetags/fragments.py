"""Filters and tags that render fragments in a page, with the same functions that live updates use."""

from __future__ import annotations

import uuid

from django import template
from django.utils.safestring import SafeString

from chat import fragments
from chat.message_views import MessageView
from chat.models import Conversation
from chat.rendering.static_html import remove_sort_buttons

register = template.Library()
register.filter("message_html", fragments.message_html)
register.filter("title_html", fragments.title_html)
register.filter("usage_html", fragments.usage_html)


@register.filter
def static_message_html(view: MessageView) -> SafeString:
    """Render a whole message for a page without scripts."""
    return remove_sort_buttons(fragments.message_html(view))


@register.simple_tag
def sidebar_entry(entry: Conversation, open_id: uuid.UUID | str) -> SafeString:
    """Render an entry of the list. `open_id`: id of the conversation whose page is shown; empty if there is none."""
    return fragments.entry_html(entry, is_open=entry.pk == open_id)
