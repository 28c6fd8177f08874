"""The context of the template that shows projects in the sidebar."""

from __future__ import annotations

from chat.models import User
from chat.people.access import projects_of

SHOWN_PROJECTS = 8


def sidebar_projects(user: User) -> dict[str, object]:
    """Return the projects that changed last, without their instructions, which can be long. Runs one query."""
    return {"projects": list(projects_of(user).newest_first().only("name")[:SHOWN_PROJECTS])}
