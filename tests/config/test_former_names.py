"""User names are unique in any case, and a renamed account can log in with the name that it had before."""

from __future__ import annotations

import pytest
from django.db import IntegrityError
from django.test import Client

from chat.models import User
from tests.config.test_login import NEW_USER

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fast_password_hasher")]

OLDEST, RENAMED = "the password of the oldest", "the password of the renamed"


@pytest.fixture
def renamed() -> User:
    """An account that the upgrade has renamed, because another one had its name."""
    User.objects.create_user("Anna", password=OLDEST)
    return User.objects.create_user("anna-2", password=RENAMED, former_username="anna")


def log_in(client: Client, name: str, password: str) -> str:
    """Return the page that follows a login, with its address in front."""
    response = client.post("/accounts/login/", {"login": name, "password": password}, follow=True)
    return f"{response.request['PATH_INFO']} {response.content.decode()}"


def logged_in_as(client: Client) -> str:
    """Return the name of the account that is logged in."""
    return User.objects.get(pk=client.session["_auth_user_id"]).username if "_auth_user_id" in client.session else ""


def test_login_with_the_name_before_a_rename_succeeds_and_shows_the_new_name(client: Client, renamed: User) -> None:
    page = log_in(client, "anna", RENAMED)
    assert page.startswith("/accounts/profile/ ")
    assert "<strong>anna-2</strong>" in page
    assert "Your name was “anna”." in page
    assert logged_in_as(client) == "anna-2"


def test_former_name_that_another_account_has_now_logs_in_there_with_that_accounts_password(
    client: Client, renamed: User
) -> None:
    assert not log_in(client, "anna", OLDEST).startswith("/accounts/profile/")
    assert logged_in_as(client) == "Anna"


def test_former_name_logs_in_the_renamed_account_if_both_accounts_have_the_same_password(
    client: Client, renamed: User
) -> None:
    renamed.set_password(OLDEST)
    renamed.save()
    log_in(client, "anna", OLDEST)
    assert logged_in_as(client) == "anna-2"


def test_admin_login_with_the_name_before_a_rename_succeeds_and_shows_the_new_name(
    client: Client, renamed: User
) -> None:
    User.objects.filter(pk=renamed.pk).update(is_staff=True)
    response = client.post("/admin/login/", {"username": "anna", "password": RENAMED, "next": "/admin/"}, follow=True)
    assert "Your username is now “anna-2”." in response.content.decode()


@pytest.mark.parametrize("name", ["anna", "ANNA", "nobody"])
def test_wrong_password_gets_the_same_error_for_current_former_and_unknown_names(
    client: Client, renamed: User, name: str
) -> None:
    page = log_in(client, name, "wrong")
    assert "The username and/or password you specified are not correct." in page
    assert logged_in_as(client) == ""


def test_former_name_written_in_another_case_cannot_log_in(client: Client, renamed: User) -> None:
    log_in(client, "ANNA", RENAMED)
    assert logged_in_as(client) == ""


def test_user_can_log_in_with_the_name_in_any_case(client: Client, renamed: User) -> None:
    log_in(client, "ANNA-2", RENAMED)
    assert logged_in_as(client) == "anna-2"


def test_sign_up_with_an_existing_name_in_another_case_is_refused(client: Client) -> None:
    User.objects.create_user("Visitor")
    assert "already exists" in client.post("/accounts/signup/", NEW_USER).content.decode()
    with pytest.raises(IntegrityError):
        User.objects.create_user("VISITOR")
