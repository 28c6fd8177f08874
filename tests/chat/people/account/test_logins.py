"""The page of open logins: what it shows of a browser, and how logins end."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.models import LoginSession, User
from chat.people.account.user_agents import Device, describe
from tests.factories import make_user

pytestmark = pytest.mark.django_db

PASSWORD = "a long pass phrase"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
SAFARI = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5"
    " Mobile/15E148 Safari/604.1"
)
EDGE = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0"
PAGE = "/accounts/logins/"


@pytest.fixture
def person(fast_password_hasher: None) -> User:
    return make_user("ann", password=PASSWORD)


def log_in(user_agent: str, name: str = "ann") -> Client:
    client = Client(headers={"User-Agent": user_agent})
    assert client.post("/accounts/login/", {"login": name, "password": PASSWORD}).status_code == 302
    return client


def is_in(client: Client) -> bool:
    return client.get(PAGE).status_code == 200


@pytest.mark.parametrize(
    ("user_agent", "device"),
    [
        (FIREFOX, Device("Firefox", "Linux")),
        (SAFARI, Device("Safari", "iPhone")),
        (EDGE, Device("Edge", "Windows")),
        ("<script>alert(1)</script>", Device("", "")),
        ("", Device("", "")),
    ],
)
def test_a_user_agent_is_described_in_plain_words(user_agent: str, device: Device) -> None:
    assert describe(user_agent) == device


@pytest.mark.usefixtures("person")
def test_page_lists_the_browsers_and_marks_the_present_one() -> None:
    here, _ = log_in(FIREFOX), log_in(SAFARI)
    make_user("bob", password=PASSWORD)
    log_in(EDGE, "bob")
    page = here.get(PAGE).content.decode()
    assert page.index("Firefox on Linux") < page.index("This one") < page.index("Safari on iPhone")
    assert "Edge" not in page
    assert not any(row.session_key in page for row in LoginSession.objects.all()), "keys are secrets"


@pytest.mark.usefixtures("person")
def test_user_can_end_one_login_or_all_others() -> None:
    here, phone, tablet = log_in(FIREFOX), log_in(SAFARI), log_in(EDGE)
    row = LoginSession.objects.get(user_agent=SAFARI)
    assert here.post(f"{PAGE}{row.public_id}/end/").status_code == 302
    assert [is_in(one) for one in (here, phone, tablet)] == [True, False, True]
    assert here.post(f"{PAGE}end/").status_code == 302
    assert [is_in(one) for one in (here, tablet)] == [True, False]


@pytest.mark.usefixtures("person")
def test_user_cannot_end_logins_of_other_users() -> None:
    here = log_in(FIREFOX)
    make_user("bob", password=PASSWORD)
    stranger = log_in(EDGE, "bob")
    row = LoginSession.objects.get(user__username="ann")
    assert stranger.post(f"{PAGE}{row.public_id}/end/").status_code == 404
    stranger.post(f"{PAGE}end/")
    assert is_in(here)


@pytest.mark.usefixtures("person")
def test_new_password_ends_all_other_logins() -> None:
    here, phone = log_in(FIREFOX), log_in(SAFARI)
    new = {"oldpassword": PASSWORD, "password1": "another pass phrase", "password2": "another pass phrase"}
    assert here.post("/accounts/password/change/", new).status_code == 302
    assert [is_in(one) for one in (here, phone)] == [True, False]
    assert LoginSession.objects.filter(user__username="ann").count() == 1


def test_password_set_by_staff_removes_old_logins_from_the_page(person: User) -> None:
    log_in(SAFARI)
    person.set_password("another pass phrase")
    person.save()
    assert LoginSession.objects.all().usable_by(person) == []


def test_number_of_queries_does_not_depend_on_the_number_of_logins(person: User) -> None:
    here = log_in(FIREFOX)
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as queries:
            here.get(PAGE)
        counts.append(len(queries))
        for _ in range(3):
            log_in(SAFARI)
    assert counts[0] == counts[1]


@pytest.mark.usefixtures("person")
def test_time_of_last_use_is_stored_at_most_every_ten_minutes() -> None:
    here = log_in(FIREFOX)
    row = LoginSession.objects.get(user_agent=FIREFOX)
    here.get("/accounts/profile/")
    assert LoginSession.objects.get(pk=row.pk).used_at == row.used_at
    before = timezone.now() - timedelta(minutes=11)
    LoginSession.objects.filter(pk=row.pk).update(used_at=before)
    here.get("/accounts/profile/")
    seen = LoginSession.objects.get(pk=row.pk)
    assert seen.used_at > before + timedelta(minutes=10)
    assert (seen.logged_in_at, seen.user_agent) == (row.logged_in_at, FIREFOX)
