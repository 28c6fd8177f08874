"""The page of usage: charts with a table of the same numbers, and the limits in words."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from chat.models import QuotaUse, Turn
from chat.people.quotas.resources import day_of
from tests.factories import make_conversation, make_model_message, make_user

pytestmark = pytest.mark.django_db

PAGE = "/accounts/usage/"


def test_page_shows_only_the_users_own_usage_by_day(client: Client) -> None:
    user, other = make_user("ann"), make_user("bob")
    today = day_of(timezone.now())
    QuotaUse.objects.create(user=user, day=today, turns=3, tokens=41_000)
    QuotaUse.objects.create(user=user, day=today - timedelta(days=29), turns=9)
    QuotaUse.objects.create(user=user, day=today - timedelta(days=30), turns=1_111)
    QuotaUse.objects.create(user=other, day=today, turns=777)
    client.force_login(user)
    with CaptureQueriesContext(connection) as queries:
        page = client.get(PAGE).content.decode()
    # A sentence takes the place of a chart with one day.
    assert page.count('<rect class="series-1"') == 2
    assert re.search(r'<p class="chart-empty">[^<]+: 41\S* ', page)
    assert "Answers by day over 30 days: 12 in all." in page
    assert f'<th scope="row">{today:%Y-%m-%d}</th><td>41,000</td>' in page
    assert not any(word in page for word in ("1,111", "777"))
    # The session, the user, the days, the limits, the files, the answers that are not counted (today's, and all), and
    # the three of the sidebar.
    assert len(queries) == 10


def test_page_shows_limits_and_what_is_left(client: Client, settings: Settings) -> None:
    settings.QUOTAS = {**settings.QUOTAS, "turns_per_day": 3, "upload_mb_per_day": 0}
    user = make_user()
    QuotaUse.objects.create(user=user, day=day_of(timezone.now()), turns=3, conversations=2)
    client.force_login(user)
    page = " ".join(client.get(PAGE).content.decode().split())
    assert "Answers a day</th> <td>3</td> <td>3</td> <td><strong>Nothing</strong></td>" in page
    assert "New conversations a day</th> <td>2</td> <td>20,000</td> <td>19,998</td>" in page
    assert "Uploaded files a day</th> <td>0 KB</td> <td>none</td> <td>no limit</td>" in page
    assert "begin anew at <time" in page


def test_page_of_a_new_person_says_that_there_is_no_usage_yet(client: Client) -> None:
    client.force_login(make_user())
    page = client.get(PAGE).content.decode()
    assert page.count("None in these 30 days.") == 2
    assert "<svg viewBox" not in page


def test_page_reports_answers_whose_tokens_are_not_counted(client: Client) -> None:
    user = make_user("ann")
    usages: list[dict[str, int | None]] = [
        {"total": None, "estimated": 1_500},
        {"total": 3, "estimated": 4},
        {"total": 9},
    ]
    for usage in usages:
        turn = make_model_message(make_conversation(user)).turn
        Turn.objects.filter(pk=turn.pk).update(usage=usage, first_part_at=turn.created_at, ended_at=timezone.now())
    make_model_message(make_conversation(make_user("bob")))
    QuotaUse.objects.create(user=user, day=day_of(timezone.now()), turns=3, tokens=1_516)
    client.force_login(user)
    page = client.get(PAGE).content.decode()
    assert "For 2 answers of these 30 days, the model's service did not report all tokens." in page
    assert "An estimate is counted for them: about 1,504 tokens." in page
    assert "<td>1,516 <small>(about 1,504, estimated)</small></td>" in page
