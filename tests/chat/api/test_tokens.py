"""API tokens: how they are stored, when they expire, and the page and the command that create them."""

from __future__ import annotations

import hashlib
import io
import re
from datetime import timedelta

import pytest
from allauth.account.forms import EmailAwarePasswordResetTokenGenerator
from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from chat.models import ApiToken, User
from chat.models.tokens import TOKENS_LIMIT, TooManyTokens
from chat.people.login_sessions import LOGIN_KEY
from tests.factories import make_user
from tests.parsed_html import ParsedHtml

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fast_password_hasher")]
PAGE = "/accounts/tokens/"
PASSWORD = "a long pass phrase"


def test_only_a_digest_of_a_token_is_stored() -> None:
    token, secret = ApiToken.objects.issue(make_user().pk, name="report", life=timedelta(days=1))
    row = ApiToken.objects.filter(pk=token.pk).values().get()
    assert row["digest"] == hashlib.sha256(secret.encode()).hexdigest()
    assert len(secret) > 40
    assert secret.startswith(row["prefix"])
    assert all(secret not in str(value) for value in row.values())


def test_time_of_last_use_of_a_token_is_stored_at_most_once_a_minute(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    token, secret = ApiToken.objects.issue(make_user().pk, name="report", life=None)
    assert token.last_used_at is None
    assert ApiToken.objects.authenticate(secret) == token
    token.refresh_from_db()
    first = token.last_used_at
    assert first is not None
    assert first > timezone.now() - timedelta(minutes=1)
    with django_assert_num_queries(1):
        ApiToken.objects.authenticate(secret)
    ApiToken.objects.update(last_used_at=first - timedelta(minutes=2))
    ApiToken.objects.authenticate(secret)
    token.refresh_from_db()
    assert token.last_used_at is not None
    assert token.last_used_at >= first


def test_number_of_tokens_is_limited() -> None:
    user = make_user()
    for number in range(TOKENS_LIMIT):
        token, _ = ApiToken.objects.issue(user.pk, name=str(number), life=None)
    with pytest.raises(TooManyTokens, match="You have 50 tokens already"):
        ApiToken.objects.issue(user.pk, name="one more", life=None)
    token.revoke()
    ApiToken.objects.issue(user.pk, name="one more", life=None)


def test_new_token_is_shown_once_and_can_be_revoked_on_the_page() -> None:
    client = Client()
    client.force_login(make_user())
    response = client.post(PAGE, {"name": "Weekly <report>", "days": "30"})
    shown = ParsedHtml(response.content.decode()).only("code", id="new-token").text
    assert "no-store" in response.headers["Cache-Control"]
    header = {"Authorization": f"Bearer {shown}"}
    assert Client().get("/api/v1/conversations/", headers=header).status_code == 200
    page = client.get(PAGE).content.decode()
    assert shown not in page
    assert "Weekly &lt;report&gt;" in page
    token = ApiToken.objects.get()
    assert token.expires_at is not None
    assert timedelta(days=29) < token.expires_at - timezone.now() < timedelta(days=31)
    assert client.post(f"{PAGE}{token.pk}/revoke/").headers["Location"] == PAGE
    assert Client().get("/api/v1/conversations/", headers=header).status_code == 401
    assert "revoked" in client.get(PAGE).content.decode()


def log_in_long_ago(user: User) -> Client:
    """Return a client whose login is older than the time for which no confirmation is needed."""
    client = Client()
    client.force_login(user)
    session = client.session
    session[LOGIN_KEY] |= {"at": (timezone.now() - timedelta(minutes=6)).isoformat()}
    session.save()
    return client


def test_token_can_be_created_without_confirmation_after_a_recent_login() -> None:
    client = Client()
    client.force_login(make_user(password=PASSWORD))
    assert "confirm that it is you" not in client.get(PAGE).content.decode()
    assert 'id="new-token"' in client.post(PAGE, {"name": "report"}).content.decode()


def test_password_is_asked_for_before_a_token_is_created_if_the_login_is_old() -> None:
    client = log_in_long_ago(make_user(password=PASSWORD))
    assert "asked to confirm that it is you" in client.get(PAGE).content.decode()
    assert client.post(PAGE, {"name": ""}).status_code == 400, "a form with errors needs no confirmation"
    way = client.post(PAGE, {"name": "report", "days": "30"}).headers["Location"]
    assert way.startswith("/accounts/reauthenticate/")
    client.post(way, {"password": "wrong"})
    assert not ApiToken.objects.exists()
    created = client.post(way, {"password": PASSWORD})
    assert 'id="new-token"' in created.content.decode()
    assert "no-store" in created.headers["Cache-Control"]
    assert ApiToken.objects.get().name == "report"
    assert 'id="new-token"' in client.post(PAGE, {"name": "another"}).content.decode(), "confirmed a moment ago"


def test_code_is_asked_for_if_the_login_is_old_and_has_a_second_step() -> None:
    user = make_user(password=PASSWORD)
    TOTP.activate(user, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    [code, *_] = RecoveryCodes.activate(user).get_unused_codes()
    client = log_in_long_ago(user)
    way = client.post(PAGE, {"name": "report"}).headers["Location"]
    assert way.startswith("/accounts/two-step/confirm/")
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    assert not ApiToken.objects.exists()
    assert 'id="new-token"' in client.post(way, {"code": code}).content.decode()


def test_user_can_revoke_all_own_tokens_with_one_request() -> None:
    owner, other = make_user(), make_user()
    secrets = [ApiToken.objects.issue(one.pk, name="report", life=None)[1] for one in (owner, owner, other)]
    client = Client()
    client.force_login(owner)
    assert "Revoke all" in client.get(PAGE).content.decode()
    assert client.post(f"{PAGE}revoke/").headers["Location"] == PAGE
    assert [ApiToken.objects.authenticate(secret) is None for secret in secrets] == [True, True, False]
    assert "Revoke all" not in client.get(PAGE).content.decode()


def test_page_refuses_a_token_without_name_or_lifetime_with_a_sentence() -> None:
    client = Client()
    client.force_login(make_user())
    for fields, words in (({"name": ""}, "Give the token a name"), ({"name": "a", "days": "7"}, "Choose how long")):
        refused = client.post(PAGE, fields)
        assert refused.status_code == 400
        assert words in refused.content.decode()
    assert not ApiToken.objects.exists()


def test_page_needs_a_session_and_shows_only_the_users_own_tokens() -> None:
    token, _ = ApiToken.objects.issue(make_user().pk, name="Theirs", life=None)
    client = Client()
    assert client.get(PAGE).headers["Location"].startswith("/accounts/login/")
    client.force_login(make_user())
    assert "Theirs" not in client.get(PAGE).content.decode()
    assert client.post(f"{PAGE}{token.pk}/revoke/").status_code == 404
    token.refresh_from_db()
    assert token.state == "active"
    # A token is valid only for the API, so it cannot create further tokens.
    _, secret = ApiToken.objects.issue(make_user().pk, name="mine", life=None)
    assert Client().get(PAGE, headers={"Authorization": f"Bearer {secret}"}).status_code == 302
    checked = Client(enforce_csrf_checks=True)
    checked.force_login(make_user())
    assert checked.post(PAGE, {"name": "a"}).status_code == 403


def test_command_prints_only_the_token() -> None:
    user, out = make_user(), io.StringIO()
    call_command("create_api_token", user.username, days=7, stdout=out)
    assert re.fullmatch(r"plt_[\w-]{43}\n", out.getvalue())
    token = ApiToken.objects.authenticate(out.getvalue().strip())
    assert token is not None
    assert token.owner == user
    assert token.expires_at is not None
    for arguments, words in ((("nobody",), "no active user"), ((user.username, "--days=0"), "--days must be")):
        with pytest.raises(CommandError, match=words):
            call_command("create_api_token", *arguments)


# --- after a new password by mail -------------------------------------------------------------------------------------


def set_password_by_mail(client: Client, person: User) -> None:
    """Set `PASSWORD` by the link in a mail."""
    key = EmailAwarePasswordResetTokenGenerator().make_token(person)
    page = client.get(f"/accounts/password/reset/{user_pk_to_url_str(person)}-{key}/", follow=True)
    client.post(page.redirect_chain[-1][0], {"password1": PASSWORD, "password2": PASSWORD})


@pytest.mark.parametrize("is_revoked", [True, False])
def test_first_login_with_a_password_that_was_reset_by_mail_offers_to_revoke_tokens(
    client: Client, settings: Settings, is_revoked: bool
) -> None:
    settings.EMAIL_URL = "smtp://localhost"
    person = make_user("ann", password="forgotten")
    ApiToken.objects.issue(person.pk, name="weekly report", life=None)
    old, _ = ApiToken.objects.issue(person.pk, name="old one", life=None)
    old.revoke()
    set_password_by_mail(client, person)
    response = client.post("/accounts/login/", {"login": "ann", "password": PASSWORD, "next": "/projects/"})
    offer = client.get(response.headers["Location"])
    assert "no-store" in offer.headers["Cache-Control"]
    page = ParsedHtml(offer.content.decode())
    assert "weekly report" in page.text
    assert "old one" not in page.text
    if is_revoked:
        [form] = [form for form in page.select("form") if form.attributes.get("action", "").endswith("/revoke/")]
        done = client.post(form.attributes["action"], {"next": page.only("input", name="next").attributes["value"]})
        assert done.headers["Location"] == "/projects/"
    assert ApiToken.objects.usable().exists() is not is_revoked
    client.post("/accounts/logout/")
    assert client.post("/accounts/login/", {"login": "ann", "password": PASSWORD}).headers["Location"] == "/"


def test_login_without_tokens_gets_no_offer_to_revoke_tokens_and_no_redirect_to_other_sites(
    client: Client, settings: Settings
) -> None:
    settings.EMAIL_URL = "smtp://localhost"
    person = make_user("ann", password="forgotten")
    set_password_by_mail(client, person)
    assert client.get("/accounts/tokens/after-reset/").status_code == 302
    assert client.post("/accounts/login/", {"login": "ann", "password": PASSWORD}).headers["Location"] == "/"
    page = client.get("/accounts/tokens/after-reset/?next=https://evil.example.org/").content.decode()
    assert "evil" not in page
    done = client.post("/accounts/tokens/revoke/", {"next": "https://evil.example.org/"})
    assert done.headers["Location"] == PAGE
