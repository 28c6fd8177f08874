"""Tags of the frame around pages: what its sidebar lists, and what its menus offer."""

from __future__ import annotations

from django import template
from django.template import Context

from chat.library.conversation_list import list_context
from chat.library.sidebar_projects import sidebar_projects
from chat.models import Conversation

register = template.Library()
register.simple_tag(Conversation.is_sharing_allowed)


@register.inclusion_tag("chat/_sidebar.html", takes_context=True)
def sidebar(context: Context, opened: Conversation | None = None) -> dict[str, object]:
    """Render the search, the projects and the conversations. `opened`: the conversation whose page is shown."""
    request = context["request"]
    lists = list_context(request, open=opened.pk if opened else None, opened=opened)
    return {**lists, **sidebar_projects(request.user)}
