"""The sign-up, which the operator can close, and the limits of logins."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from chat.models import User
from config.login import AccountAdapter
from tests.parsed_html import ParsedHtml

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fast_password_hasher")]

NEW_USER = {"username": "visitor", "password1": "a long pass phrase", "password2": "a long pass phrase"}


def test_visitor_can_sign_up_if_sign_up_is_open(client: Client) -> None:
    assert reverse("account_signup") in client.get("/accounts/login/").content.decode()
    assert client.post("/accounts/signup/", NEW_USER).status_code == 302
    assert User.objects.get().username == "visitor"


def test_name_in_full_width_letters_is_the_name_in_normal_letters(client: Client) -> None:
    wide = "".join(chr(ord(letter) + 0xFEE0) for letter in "visitor")
    assert client.post("/accounts/signup/", NEW_USER | {"username": wide}).status_code == 302
    assert User.objects.get().username == "visitor"
    again = Client().post("/accounts/signup/", NEW_USER | {"username": wide})
    assert "already exists" in again.content.decode()
    login = {"login": wide.upper(), "password": NEW_USER["password1"]}
    assert Client().post("/accounts/login/", login).status_code == 302


def test_non_ascii_names_that_differ_only_in_case_are_equal(client: Client) -> None:
    assert client.post("/accounts/signup/", NEW_USER | {"username": "José"}).status_code == 302
    assert "already exists" in Client().post("/accounts/signup/", NEW_USER | {"username": "JOSÉ"}).content.decode()
    login = {"login": "JOSÉ", "password": NEW_USER["password1"]}
    assert Client().post("/accounts/login/", login).status_code == 302
    with pytest.raises(ValidationError):
        User(username="josÉ").clean()


@pytest.mark.parametrize("name", ["visitor", "Visitor"])
def test_sign_up_is_refused_if_another_request_takes_the_name_at_the_same_time(
    client: Client, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def take_name(self: AccountAdapter, request: HttpRequest) -> User:
        User.objects.create(username=name)
        user: User = new_user(self, request)
        return user

    new_user = AccountAdapter.new_user
    monkeypatch.setattr(AccountAdapter, "new_user", take_name)
    response = client.post("/accounts/signup/", NEW_USER)
    assert (response.status_code, "already exists" in response.content.decode()) == (409, True)
    assert User.objects.get().username == name
    assert "_auth_user_id" not in client.session


def test_closed_sign_up_shows_a_message_and_creates_no_user(client: Client, settings: Settings) -> None:
    settings.ALLOW_SIGNUP = False
    for response in (client.get("/accounts/signup/"), client.post("/accounts/signup/", NEW_USER)):
        assert "Sign-up is closed" in response.content.decode()
        assert "<form" not in response.content.decode()
    assert not User.objects.exists()


def test_login_page_puts_the_focus_into_the_name_field_and_is_translated(client: Client) -> None:
    page = ParsedHtml(client.get("/accounts/login/").content.decode())
    assert "autofocus" in page.only("input", name="login").attributes
    assert "Remember me" in page.text
    german = client.get("/accounts/login/", headers={"accept-language": "de"}).content.decode()
    assert "Angemeldet bleiben" in german


def test_page_tells_a_deactivated_user_who_logs_in_to_ask_the_operator(client: Client) -> None:
    User.objects.create_user("inactive", password="a long password", is_active=False)
    login = {"login": "inactive", "password": "a long password"}
    page = client.post("/accounts/login/", login, follow=True).content.decode()
    assert "This account was turned off. Ask the operator of this server." in page


def test_login_page_has_no_link_to_a_closed_sign_up(client: Client, settings: Settings) -> None:
    settings.ALLOW_SIGNUP = False
    page = client.get("/accounts/login/").content.decode()
    assert "<form" in page
    assert reverse("account_signup") not in page


def test_existing_user_can_log_in_if_sign_up_is_closed(client: Client, settings: Settings) -> None:
    settings.ALLOW_SIGNUP = False
    User.objects.create_user("member", password="a long pass phrase")
    assert client.post("/accounts/login/", {"login": "member", "password": "a long pass phrase"}).status_code == 302


# --- limits -----------------------------------------------------------------------------------------------------------

PASSWORD = "a long pass phrase"


@pytest.fixture
def members(fast_password_hasher: None) -> None:
    for name in ("member", "neighbour"):
        User.objects.create_user(name, password=PASSWORD, is_staff=True)


def log_in(name: str, password: str = PASSWORD, address: str = "192.0.2.1", forwarded: str = "") -> bool:
    """Return whether a new visitor can log in."""
    visitor = Client(REMOTE_ADDR=address, headers={"X-Forwarded-For": forwarded} if forwarded else {})
    return visitor.post("/accounts/login/", {"login": name, "password": password}).status_code == 302


@pytest.mark.usefixtures("members")
def test_wrong_passwords_lock_only_this_name_and_only_at_this_address() -> None:
    assert not any(log_in("member", "wrong") for _ in range(10))
    assert not log_in("member")
    assert log_in("neighbour")
    assert log_in("member", address="192.0.2.2")


@pytest.mark.usefixtures("members")
def test_wrong_passwords_at_the_admin_login_lock_the_name_at_the_login_page_too() -> None:
    fields = {"username": "member", "password": "wrong"}
    for _ in range(10):
        Client(REMOTE_ADDR="192.0.2.1").post("/admin/login/", fields)
    assert not log_in("member")
    assert log_in("neighbour")


@pytest.mark.usefixtures("members")
def test_without_a_proxy_the_forwarded_address_has_no_effect() -> None:
    for number in range(10):
        log_in("member", "wrong", forwarded=f"198.51.100.{number}")
    assert not log_in("member", forwarded="198.51.100.99")


@pytest.mark.usefixtures("members")
def test_behind_a_proxy_login_limits_use_only_the_address_that_the_proxy_added(settings: Settings) -> None:
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
    for number in range(10):
        log_in("member", "wrong", forwarded=f"198.51.100.{number}, 203.0.113.1")
    assert not log_in("member", forwarded="198.51.100.99, 203.0.113.1")
    assert log_in("member", forwarded="198.51.100.99, 203.0.113.2")


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example.org/",
        "/\\evil.example.org",
        "javascript:alert(1)",
        "https://testserver@evil.example.org/",
    ],
)
@pytest.mark.parametrize("path", ["/accounts/login/", "/admin/login/", "/accounts/logout/"])
@pytest.mark.usefixtures("members")
def test_login_never_redirects_to_another_site(path: str, target: str, settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    client = Client()
    name = "username" if path.startswith("/admin/") else "login"
    response = client.post(path, {name: "member", "password": PASSWORD, "next": target})
    assert response.status_code == 302
    assert "evil" not in response.headers["Location"]
    assert "alert" not in response.headers["Location"]
