"""The palette of commands: its results for each person, and the number of queries."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from chat.models import Project, User
from tests.factories import make_conversation, make_user, make_user_message
from tests.parsed_html import ParsedHtml

pytestmark = pytest.mark.django_db


def labels(user: User, query: str) -> list[str]:
    """Return the labels of the commands, as a browser shows them."""
    browser = Client()
    browser.force_login(user)
    page = ParsedHtml(browser.get(f"/commands/{query}").content.decode())
    return [element.text.strip() for name in ("a", "button") for element in page.select(name)]


def test_palette_first_lists_own_recent_conversations_actions_and_pages() -> None:
    user = make_user()
    for number in range(7):
        make_conversation(user, title=f"mine {number}")
    opened = make_conversation(user, title="mine, and open")
    make_conversation(make_user(), title="not mine")
    shown = labels(user, f"?open={opened.pk}")
    assert [label for label in shown if "mine" in label] == [f"mine {number}" for number in (6, 5, 4, 3, 2)]
    [result] = labels(user, f"?open={opened.pk}&q=and open")
    # The day of the conversation follows its title.
    assert result.split() == ["mine,", "and", "open", f"{timezone.now():%Y-%m-%d}"]
    assert {"New conversation", "Conversation settings", "Import", "API tokens"} <= {*shown}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("tokens", ["API tokens"]),
        ("SETTINGS conv", ["Conversation settings"]),
        ("rain", ["Rainfall in May", "Rain gauges"]),
        ("umbrella", ["Rainfall in May…take an umbrella"]),
        ("nothing of this", []),
    ],
)
def test_palette_search_finds_conversations_messages_projects_pages_and_actions(
    query: str, expected: list[str]
) -> None:
    user, other = make_user(), make_user()
    make_user_message(make_conversation(user, title="Rainfall in May"), "take an umbrella")
    make_user_message(make_conversation(other, title="Rain of others"), "umbrella")
    for owner in (user, other):
        Project.objects.create(owner=owner, name="Rain gauges" if owner == user else "Rain")
    found = labels(user, f"?q={query}")
    assert len(found) == len(expected)
    for one, label in zip(found, expected, strict=True):
        assert one.startswith(label.partition("…")[0])
        assert label.partition("…")[2] in one


def test_palette_does_not_offer_shared_links_if_sharing_is_turned_off(settings: Settings) -> None:
    user = make_user()
    assert "Shared links" in labels(user, "?q=links")
    settings.ALLOW_SHARING = False
    assert labels(user, "?q=links") == []


def test_number_of_queries_does_not_depend_on_the_number_of_results() -> None:
    user = make_user()
    counts = []
    for number in range(2):
        for _ in range(4):
            make_user_message(make_conversation(user, title=f"Rain {number}"), "umbrella")
        with CaptureQueriesContext(connection) as captured:
            labels(user, "?q=umbrella")
        counts.append(len(captured))
    assert counts[0] == counts[1]
