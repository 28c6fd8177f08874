"""The operator can close the sign-up."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from chat.models import User

pytestmark = pytest.mark.django_db

NEW_USER = {"username": "visitor", "password1": "a long pass phrase", "password2": "a long pass phrase"}


@pytest.fixture(autouse=True)
def fast_password_hasher(settings: Settings) -> None:
    """Use a fast password hasher, which shortens the tests."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def test_visitor_can_sign_up_if_sign_up_is_open(client: Client) -> None:
    assert reverse("account_signup") in client.get("/accounts/login/").content.decode()
    assert client.post("/accounts/signup/", NEW_USER).status_code == 302
    assert User.objects.get().username == "visitor"


def test_closed_sign_up_shows_a_message_and_creates_no_user(client: Client, settings: Settings) -> None:
    settings.ALLOW_SIGNUP = False
    for response in (client.get("/accounts/signup/"), client.post("/accounts/signup/", NEW_USER)):
        assert "Sign-up is closed" in response.content.decode()
        assert "<form" not in response.content.decode()
    assert not User.objects.exists()


def test_login_page_has_no_link_to_a_closed_sign_up(client: Client, settings: Settings) -> None:
    settings.ALLOW_SIGNUP = False
    page = client.get("/accounts/login/").content.decode()
    assert "<form" in page
    assert reverse("account_signup") not in page


def test_existing_user_can_log_in_if_sign_up_is_closed(client: Client, settings: Settings) -> None:
    settings.ALLOW_SIGNUP = False
    User.objects.create_user("member", password="a long pass phrase")
    assert client.post("/accounts/login/", {"login": "member", "password": "a long pass phrase"}).status_code == 302
