"""The frame around the pages of an account: its sidebar, the menu of the account, and their queries."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from chat.models import Project, User
from tests.factories import make_conversation, make_user
from tests.parsed_html import ParsedHtml

pytestmark = pytest.mark.django_db

PATHS = [
    "/gallery/",
    "/projects/",
    "/import/",
    "/shares/",
    "/conversations/",
    "/conversations/?q=Waves",
    "/accounts/profile/",
    "/accounts/appearance/",
    "/accounts/defaults/",
    "/accounts/two-step/",
    "/accounts/logins/",
    "/accounts/tokens/",
    "/accounts/usage/",
    "/accounts/readings/",
    "/accounts/delete/",
]


def paths_of(user: User) -> list[str]:
    """Return all pages in the frame, with those of a conversation and a project."""
    conversation = make_conversation(user, title="Waves at noon")
    project = Project.objects.create(owner=user, name="Harbour").get_absolute_url()
    own = conversation.get_absolute_url()
    return [*PATHS, own, f"{own}gallery/", f"{own}shares/", f"{own}move/", project, f"{project}delete/"]


def test_every_page_has_the_sidebar_with_own_conversations_and_projects_and_the_account_menu(
    browser: Client, owner: User
) -> None:
    make_conversation(make_user("stranger"), title="Of a stranger")
    menu = [reverse(name) for name in ("graphs", "shares", "conversation-import", "account_profile", "account_logout")]
    for path in paths_of(owner):
        html = browser.get(path).content.decode()
        page = ParsedHtml(html)
        ids = [element.attributes["id"] for element in page.elements if "id" in element.attributes]
        assert len(ids) == len(set(ids)), path
        assert {"sidebar", "search-box", "conversations", "projects", "account-menu", "announcer"} <= {*ids}, path
        links = [element.attributes.get("href") for element in page.select("a")]
        assert {*menu, "/projects/"} <= {*links}, path
        assert "at noon" in html[html.index('id="conversations"') :], path
        assert "Harbour" in html, path
        assert "Of a stranger" not in html, path


def test_sidebar_runs_the_same_queries_for_any_number_of_conversations(browser: Client, owner: User) -> None:
    paths = paths_of(owner)
    counts: list[list[int]] = []
    for number in range(2):
        for index in range(5):
            make_conversation(owner, title=f"Waves {number} {index}")
            Project.objects.create(owner=owner, name=f"Harbour {number} {index}")
        counts.append([])
        for path in paths:
            with CaptureQueriesContext(connection) as queries:
                browser.get(path)
            counts[-1].append(len(queries))
    assert counts[0] == counts[1]
    # The session, the user, the pinned conversations, the others, and the projects.
    assert counts[0][PATHS.index("/accounts/profile/")] == 5
