"""The login form of the admin, and the limit on failed attempts that it shares with the site's login page."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.factories import make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fast_password_hasher")]

PASSWORD = "a password"


def test_staff_log_in_with_their_password() -> None:
    make_user("boss", password=PASSWORD, is_staff=True, is_superuser=True)
    client = Client()
    refused = client.post("/admin/login/?next=/admin/", {"username": "boss", "password": "no"})
    assert "Please enter the correct username and password" in refused.content.decode()
    accepted = client.post("/admin/login/?next=/admin/", {"username": "boss", "password": PASSWORD})
    assert (accepted.status_code, accepted.headers["Location"]) == (302, "/admin/")
    assert "Plotline" in client.get("/admin/").content.decode()


def test_users_who_are_not_staff_cannot_log_in() -> None:
    make_user("visitor", password=PASSWORD)
    response = Client().post("/admin/login/", {"username": "visitor", "password": PASSWORD})
    assert response.status_code == 200
    assert "staff" in response.content.decode()


@pytest.mark.parametrize(
    ("path", "field"), [("/admin/login/", "username"), ("/accounts/login/", "login")], ids=["admin", "accounts"]
)
def test_failed_attempts_are_counted_across_both_login_pages(path: str, field: str) -> None:
    make_user("boss", password=PASSWORD, is_staff=True)
    client = Client()
    for _ in range(5):
        client.post("/accounts/login/", {"login": "boss", "password": "no"})
    response = client.post(path, {field: "boss", "password": PASSWORD})
    assert "Too many failed login attempts" in response.content.decode()


def test_many_successful_logins_do_not_lock_the_account() -> None:
    make_user("boss", password=PASSWORD, is_staff=True)
    for _ in range(7):
        response = Client().post("/admin/login/?next=/admin/", {"username": "boss", "password": PASSWORD})
        assert response.status_code == 302
