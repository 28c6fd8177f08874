"""Two-step login: setting it up, the second step of both logins, recovery codes, limits, and what is stored."""

from __future__ import annotations

import hmac
import re

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value, yield_hotp_counters_from_time
from django.core.cache import cache
from django.db.models.signals import pre_save
from django.test import Client
from pytest_django import Settings

from chat.models import User
from config.second_step_codes import claim_code
from tests.factories import make_user
from tests.parsed_html import ParsedHtml

pytestmark = pytest.mark.django_db

PASSWORD = "a long pass phrase"
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
STEP = "/accounts/two-step/login/"


@pytest.fixture
def person(fast_password_hasher: None) -> User:
    return make_user("ann", password=PASSWORD, is_staff=True, is_superuser=True)


@pytest.fixture
def protected(person: User) -> User:
    """A person who has set up two-step login."""
    TOTP.activate(person, SECRET)
    return person


def code_of(secret: str = SECRET) -> str:
    # With a tolerance of one step, this code is still valid if the time step ends meanwhile.
    code: str = format_hotp_value(hotp_value(secret, list(yield_hotp_counters_from_time())[1]))
    return code


def recovery_code_of_empty_seed() -> str:
    digest = hmac.new(b"", b"  0,", "sha1").digest()
    return f"{int.from_bytes(digest[:4], 'big') % 10**8:08}"


def log_in(path: str = "/accounts/login/") -> Client:
    """Return a visitor after the first step."""
    client = Client()
    field = "username" if path.startswith("/admin/") else "login"
    response = client.post(path, {field: "ann", "password": PASSWORD})
    assert (response.status_code, response.headers["Location"]) == (302, STEP)
    return client


def confirm(client: Client, **fields: str) -> None:
    """Confirm who is logged in, as pages of changes ask for."""
    path = "/accounts/two-step/confirm/" if "code" in fields else "/accounts/reauthenticate/"
    assert client.post(path, fields).status_code == 302


def test_setup_of_two_step_login_asks_for_password_and_code_and_shows_recovery_codes(
    person: User, client: Client
) -> None:
    client.force_login(person)
    refused = client.get("/accounts/two-step/app/")
    assert refused.headers["Location"] == "/accounts/reauthenticate/?next=%2Faccounts%2Ftwo-step%2Fapp%2F"
    confirm(client, password=PASSWORD)
    page = client.get("/accounts/two-step/app/").content.decode()
    secret = ParsedHtml(page).only("code").text
    assert re.fullmatch(r"[A-Z2-7]{32}", secret)
    assert "data:image/svg+xml" in page
    wrong = client.post("/accounts/two-step/app/", {"code": "nothing"})
    assert "Incorrect code" in wrong.content.decode()
    assert not Authenticator.objects.exists()
    done = client.post("/accounts/two-step/app/", {"code": code_of(secret)}, follow=True)
    codes = [code.text for code in ParsedHtml(done.content.decode()).select("code")]
    assert [len(code) for code in codes] == [8] * 10
    assert client.get("/accounts/two-step/codes/download/").content.decode().split() == codes
    stored = str(list(Authenticator.objects.values_list("data", flat=True)))
    assert secret not in stored


def test_pages_with_a_secret_are_not_stored_by_browsers(person: User, client: Client) -> None:
    client.force_login(person)
    confirm(client, password=PASSWORD)
    pages = [client.get("/accounts/two-step/app/")]
    secret = ParsedHtml(pages[0].content.decode()).only("code").text
    pages.append(client.post("/accounts/two-step/app/", {"code": "nothing"}))
    client.post("/accounts/two-step/app/", {"code": code_of(secret)})
    pages += [client.get("/accounts/two-step/codes/"), client.get("/accounts/two-step/codes/download/")]
    assert ["no-store" in page.headers.get("Cache-Control", "") for page in pages] == [True] * 4


def test_second_of_two_browsers_that_set_up_two_step_login_gets_an_error(person: User) -> None:
    browsers = [Client(), Client(), Client()]
    secrets = []
    for browser in browsers:
        browser.force_login(person)
        confirm(browser, password=PASSWORD)
        secrets.append(ParsedHtml(browser.get("/accounts/two-step/app/").content.decode()).only("code").text)

    def overtake(sender: object, instance: Authenticator, **kwargs: object) -> None:
        pre_save.disconnect(overtake, sender=Authenticator)
        TOTP.activate(person, secrets[1])

    pre_save.connect(overtake, sender=Authenticator)
    response = browsers[0].post("/accounts/two-step/app/", {"code": code_of(secrets[0])})
    assert response.headers["Location"] == "/accounts/two-step/"
    assert "was turned on in another browser" in browsers[0].get("/accounts/two-step/").content.decode()
    # The row of the other browser is stored by now.
    TOTP.activate(person, secrets[1])
    page = browsers[2].post("/accounts/two-step/app/", {"code": code_of(secrets[2])}, follow=True)
    assert "was turned on in another browser" in page.content.decode()


@pytest.mark.parametrize(("path", "target"), [("/accounts/login/", "/"), ("/admin/login/", "/admin/")])
@pytest.mark.usefixtures("protected")
def test_both_login_pages_ask_for_the_second_step(path: str, target: str) -> None:
    client = log_in(path)
    assert client.get("/accounts/profile/").status_code == 302, "not logged in yet"
    assert client.get("/admin/").status_code == 302
    assert "One more step" in client.get(STEP).content.decode()
    assert "Incorrect code" in client.post(STEP, {"code": "000"}).content.decode()
    response = client.post(STEP, {"code": code_of()})
    assert (response.status_code, response.headers["Location"]) == (302, target)
    assert client.get("/admin/").status_code == 200
    assert client.get("/accounts/profile/").status_code == 200


@pytest.mark.usefixtures("protected")
def test_used_and_older_codes_are_refused_even_by_another_process() -> None:
    before, code, _ = [format_hotp_value(hotp_value(SECRET, step)) for step in yield_hotp_counters_from_time()]
    client = log_in()
    assert client.post(STEP, {"code": code}).status_code == 302
    for old in (code, before):
        # Another process, or a later time, in which allauth has forgotten the code.
        cache.clear()
        assert "Incorrect code" in log_in().post(STEP, {"code": old}).content.decode()
        cache.clear()
        assert "Incorrect code" in client.post("/accounts/two-step/confirm/", {"code": old}).content.decode()


def test_code_that_two_simultaneous_requests_send_is_accepted_once(protected: User) -> None:
    app = Authenticator.objects.get(user=protected)
    same_app = Authenticator.objects.get(user=protected)
    code = code_of()
    assert [claim_code(app, code), claim_code(same_app, code)] == [True, False]


@pytest.mark.usefixtures("protected")
def test_wrong_codes_are_limited_like_wrong_passwords() -> None:
    for _ in range(5):
        log_in().post(STEP, {"code": "000000"})
    response = log_in().post(STEP, {"code": code_of()})
    assert "Too many failed login attempts" in response.content.decode()


def test_new_password_ends_a_login_that_waits_for_its_code(protected: User) -> None:
    client = log_in()
    protected.set_password("another pass phrase")
    protected.save()
    response = client.post(STEP, {"code": code_of()})
    assert response.headers["Location"] == "/accounts/login/"
    assert client.get("/accounts/profile/").status_code == 302, "not logged in"
    assert "Your password was changed during this login." in client.get("/accounts/login/").content.decode()
    assert client.get(STEP).headers["Location"] == "/accounts/login/", "the login does not wait any more"


def test_second_step_is_refused_without_the_first_step(protected: User, client: Client) -> None:
    assert client.post(STEP, {"code": code_of()}).headers["Location"] == "/accounts/login/"


def test_turning_off_two_step_login_requires_a_code_and_not_only_the_password(protected: User, client: Client) -> None:
    client.force_login(protected)
    way = client.post("/accounts/two-step/app/remove/").headers["Location"]
    assert way.startswith("/accounts/two-step/confirm/")
    by_password = client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    assert by_password.headers["Location"].startswith("/accounts/two-step/confirm/")
    assert Authenticator.objects.exists()
    confirm(client, code=code_of())
    client.post("/accounts/two-step/app/remove/")
    assert not Authenticator.objects.exists()
    assert Client().post("/accounts/login/", {"login": "ann", "password": PASSWORD}).headers["Location"] == "/"


def test_two_step_codes_are_not_accepted_after_the_secret_key_changed(protected: User, settings: Settings) -> None:
    RecoveryCodes.activate(protected)
    settings.SECRET_KEY = "another one"
    # Codes of an empty secret could be computed by anybody.
    for code in (code_of(), code_of(""), recovery_code_of_empty_seed()):
        assert "Incorrect code" in log_in().post(STEP, {"code": code}).content.decode()


def test_admin_shows_no_secret_and_can_remove_a_second_step(person: User, client: Client) -> None:
    locked_out = make_user("bob")
    TOTP.activate(locked_out, SECRET)
    client.force_login(person)
    row = Authenticator.objects.get()
    page = client.get(f"/admin/mfa/authenticator/{row.pk}/change/").content.decode()
    assert "bob" in page
    assert row.data["secret"] not in page
    client.post(f"/admin/mfa/authenticator/{row.pk}/delete/", {"post": "yes"})
    assert not Authenticator.objects.exists()
