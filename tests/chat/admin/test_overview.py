"""The overview page: its permission, its charts and tables, and the absence of content and scripts."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from chat.models import Turn, User
from tests.factories import make_attachment, make_conversation, make_model_message, make_user
from tests.kernel_service import running_service
from tests.parsed_html import ParsedHtml

pytestmark = pytest.mark.django_db
OVERVIEW_URL = "/admin/overview/"
SECRET = "Zebrafinch"


def make_operator() -> User:
    """Return staff whose only permission is to see the overview."""
    user = make_user(is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_overview"))
    return user


def get_page(user: User, query: str = "") -> str:
    client = Client()
    client.force_login(user)
    response = client.get(OVERVIEW_URL + query)
    assert response.status_code == 200
    return response.content.decode()


def make_turns() -> None:
    """Create turns of three days and a live one, whose title, error and file name contain `SECRET`."""
    conversation = make_conversation(title=SECRET)
    for number, status in enumerate((Turn.Status.DONE, Turn.Status.FAILED, Turn.Status.DONE)):
        message = make_model_message(conversation, status=status, error_code="overloaded" if number == 1 else "")
        Turn.objects.filter(pk=message.turn.pk).update(
            created_at=timezone.now() - timedelta(days=number),
            model=f"model-{number}",
            error_detail=SECRET,
            cost="0.01",
        )
    make_attachment(conversation.owner, name=f"{SECRET}.csv")
    make_model_message(make_conversation(title=SECRET), status=Turn.Status.RUNNING)


def test_only_staff_with_the_permission_see_the_page_and_its_link() -> None:
    client = Client()
    assert client.get(OVERVIEW_URL).status_code == 302
    client.force_login(make_user())
    assert client.get(OVERVIEW_URL).status_code == 302
    staff = make_user(is_staff=True)
    client.force_login(staff)
    assert client.get(OVERVIEW_URL).status_code == 403
    assert OVERVIEW_URL not in client.get("/admin/").content.decode()
    for user in (make_operator(), make_user(is_staff=True, is_superuser=True)):
        client.force_login(user)
        assert client.get(OVERVIEW_URL).status_code == 200
        assert OVERVIEW_URL in client.get("/admin/").content.decode()
        assert client.post(OVERVIEW_URL).status_code == 405


def test_page_shows_statistics_and_no_content() -> None:
    make_turns()
    text = get_page(make_operator())
    assert SECRET not in text
    for words in ("model-0", "overloaded", "Time to the first part", "under a minute", "Just now", "US dollars a day"):
        assert words in text
    assert "No turns in this period." not in text


def test_each_chart_has_a_title_a_scale_and_a_table() -> None:
    make_turns()
    charts = ParsedHtml(get_page(make_operator())).select("section", class_="chart")
    charts_of_days = [chart for chart in charts if chart.select(role="img")]
    assert len(charts) == 8
    assert len(charts_of_days) == 5
    for chart in charts_of_days:
        image = chart.only("svg", role="img")
        for name in ("aria-labelledby", "aria-describedby"):
            assert chart.select(id=image.attributes[name])
        assert len(chart.select(class_="chart-scale")) == 2
        assert image.select("title")
    for chart in charts[:-1]:
        assert ("open" in chart.only("details").attributes) is (chart not in charts_of_days)
        assert chart.select("th", scope="row")
        assert bool(chart.select(class_="chart-bar")) is (chart not in charts_of_days)


def test_overview_content_has_no_inline_script_no_inline_style_and_no_external_url() -> None:
    make_turns()
    (content,) = re.findall(r'<div id="content-main".*', get_page(make_operator()), flags=re.DOTALL)
    charts = content.partition("<footer")[0]
    assert not re.search(r"<script|<style|\sstyle=|\son\w+=|https?:", charts)


def test_empty_period_is_explained_in_each_chart() -> None:
    text = get_page(make_operator())
    assert text.count("No turns in this period.") == 6
    assert "No file waits for storage." in text
    assert "No answer is being written." in text
    assert 'role="img"' not in text


def test_chart_without_values_says_which_values_are_missing() -> None:
    message = make_model_message(make_conversation())
    Turn.objects.filter(pk=message.turn.pk).update(usage={}, first_part_at=None)
    text = get_page(make_operator())
    for words in (
        "No tokens were counted.",
        "No price is known.",
        "No answer has begun.",
        "Every answer came to its end.",
    ):
        assert words in text
    assert "No turns in this period." not in text


def test_page_shows_30_days_if_another_period_than_the_three_offered_is_asked_for() -> None:
    user = make_operator()
    for query, days in (("", 30), ("?days=7", 7), ("?days=90", 90), ("?days=3650000000", 30), ("?days=x", 30)):
        assert f'<a href="?days={days}" aria-current="page">' in get_page(user, query)


def test_overview_shows_the_number_of_kernels_or_says_that_the_service_does_not_run(
    settings: Settings, tmp_path: Path
) -> None:
    with running_service(directory=tmp_path) as service:
        settings.KERNEL_SERVICE_DIR = service.directory
        assert "0 in use, 0 kept ready. The service is stopped." in get_page(make_operator())
    assert "The service for Python sessions does not run on this machine." in get_page(make_operator())


def test_page_says_how_many_turns_have_unknown_token_counts() -> None:
    message = make_model_message(make_conversation())
    Turn.objects.filter(pk=message.turn.pk).update(
        usage={"total": None, "estimated": 1_500}, first_part_at=timezone.now()
    )
    text = " ".join(ParsedHtml(get_page(make_operator())).only("dl").text.split())
    assert "Tokens0 and 1 turn whose tokens are not known (about 1,500, estimated)" in text
