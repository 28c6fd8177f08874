"""The operator may close the sign-up."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

pytestmark = pytest.mark.django_db

NEW = {"username": "visitor", "password1": "a long pass phrase", "password2": "a long pass phrase"}


@pytest.fixture(autouse=True)
def quick_hashes(settings: Settings) -> None:
    """Passwords of tests are hashed in no time."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def test_visitors_sign_up_where_they_may(client: Client) -> None:
    assert reverse("account_signup") in client.get("/accounts/login/").content.decode()
    assert client.post("/accounts/signup/", NEW).status_code == 302
    assert User.objects.get().username == "visitor"


def test_closed_sign_up_says_so_and_makes_nobody(client: Client, settings: Settings) -> None:
    settings.ALLOW_SIGNUP = False
    for response in (client.get("/accounts/signup/"), client.post("/accounts/signup/", NEW)):
        assert "Sign-up is closed" in response.content.decode()
        assert "<form" not in response.content.decode()
    assert not User.objects.exists()


def test_login_page_leads_to_no_closed_door(client: Client, settings: Settings) -> None:
    settings.ALLOW_SIGNUP = False
    page = client.get("/accounts/login/").content.decode()
    assert "<form" in page
    assert reverse("account_signup") not in page


def test_who_has_an_account_gets_in_where_sign_up_is_closed(client: Client, settings: Settings) -> None:
    settings.ALLOW_SIGNUP = False
    User.objects.create_user("member", password="a long pass phrase")
    assert client.post("/accounts/login/", {"login": "member", "password": "a long pass phrase"}).status_code == 302
