"""Limits of logins: by address, for the account, and for codes; owners can still log in, and errors reveal nothing."""

from __future__ import annotations

from datetime import timedelta

import pytest
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from chat.models import SharedCount, User
from chat.people.login_sessions import SessionStore
from config.accounts import ACCOUNT_RATE_LIMITS
from tests.chat.people.account.test_two_step_login import SECRET, STEP, code_of

pytestmark = pytest.mark.django_db

PASSWORD = "a long pass phrase"
LIMITED = "Too many logins to this account have failed"
TOO_MANY = "Too many failed login attempts"
LOW_LIMIT = 6


@pytest.fixture(autouse=True)
def low_limit(settings: Settings) -> None:
    """Let an account have few failed logins, because each costs a page."""
    limit_account(settings, f"{LOW_LIMIT}/d/key")


def limit_account(settings: Settings, limit: str) -> None:
    """Set the limit of failed logins for each account."""
    settings.ACCOUNT_RATE_LIMITS = {**settings.ACCOUNT_RATE_LIMITS, "login_account": limit}


@pytest.fixture
def person(fast_password_hasher: None) -> User:
    return User.objects.create_user("member", password=PASSWORD, is_staff=True)


@pytest.fixture
def protected(person: User) -> User:
    TOTP.activate(person, SECRET)
    return person


def log_in(name: str = "member", password: str = "wrong", client: Client | None = None, **fields: str) -> str:
    """Return where a login leads to, or the page that refuses it."""
    response = (client or Client(REMOTE_ADDR="198.51.100.1")).post(
        "/accounts/login/", {"login": name, "password": password, **fields}
    )
    return response.headers.get("Location") or response.content.decode()


def use_up(name: str = "member", password: str = "wrong", limit: int = LOW_LIMIT) -> None:
    """Try wrong passwords from many addresses, until the account's limit is used up."""
    for number in range(limit):
        page = log_in(name, password, Client(REMOTE_ADDR=f"203.0.113.{number}"))
        assert "are not correct" in page, number


@pytest.mark.usefixtures("person")
def test_addresses_of_one_ipv6_network_share_one_login_limit() -> None:
    pages = [log_in(client=Client(REMOTE_ADDR=f"2001:db8:1:2:{n:x}::{n:x}")) for n in range(1, 61)]
    assert sum("are not correct" in page for page in pages) == 5
    assert "are not correct" in log_in(client=Client(REMOTE_ADDR="2001:db8:1:3::1"))


@pytest.mark.usefixtures("person")
def test_ipv4_address_written_as_ipv6_shares_the_limit_of_the_ipv4_address_only() -> None:
    for _ in range(5):
        log_in(client=Client(REMOTE_ADDR="::ffff:198.51.100.1"))
    assert TOO_MANY in log_in(client=Client(REMOTE_ADDR="198.51.100.1"))
    assert "are not correct" in log_in(client=Client(REMOTE_ADDR="::ffff:198.51.100.2"))


@pytest.mark.parametrize("name", ["MEMBER", "memBer", "ｍember"])
@pytest.mark.usefixtures("person")
def test_wrong_logins_count_together_for_all_spellings_of_a_name_and_ports_of_the_host(name: str) -> None:
    for port in range(5):
        log_in(name, client=Client(REMOTE_ADDR="198.51.100.1", headers={"Host": f"testserver:{8000 + port}"}))
    assert TOO_MANY in log_in("member")


@pytest.mark.usefixtures("person")
def test_stored_login_counts_contain_neither_names_nor_addresses() -> None:
    log_in()
    stored = str(list(SharedCount.objects.values_list("cache_key", flat=True)))
    assert stored.count(",") >= 3
    assert "198.51" not in stored
    assert "member" not in stored.lower()
    SharedCount.objects.update(expires=timezone.now() - timedelta(seconds=1))
    SessionStore.clear_expired()
    assert not SharedCount.objects.exists()


@pytest.mark.usefixtures("person")
@pytest.mark.parametrize("name", ["member", "stranger"])
def test_limited_account_gets_the_same_response_for_a_right_and_a_wrong_password(name: str, settings: Settings) -> None:
    limit_account(settings, ACCOUNT_RATE_LIMITS["login_account"])
    use_up(name, limit=50)
    pages = [log_in(name, password) for password in ("wrong", PASSWORD)]
    assert all(LIMITED in page for page in pages)
    assert 'name="code"' in pages[0]
    for password, address in (("wrong", "192.0.2.1"), (PASSWORD, "192.0.2.2")):
        guesser = Client(REMOTE_ADDR=address)
        with_code = [log_in(name, password, guesser, code="123456") for _ in range(6)]
        assert [LIMITED in page for page in with_code] == [True] * 5 + [False], "a right password counts as a wrong one"
        assert TOO_MANY in with_code[-1]


@pytest.mark.usefixtures("person")
def test_known_browser_has_its_own_limit_of_wrong_passwords_for_all_addresses() -> None:
    browser = Client(REMOTE_ADDR="192.0.2.1")
    assert log_in("member", PASSWORD, browser) == "/"
    browser.post("/accounts/logout/")
    use_up()
    for number in range(10):
        browser.defaults["REMOTE_ADDR"] = f"192.0.2.{number}"
        page = log_in(client=browser)
        assert ("are not correct" if number < 5 else TOO_MANY) in page


@pytest.mark.usefixtures("person")
def test_known_browser_can_log_in_despite_the_limit() -> None:
    browser = Client(REMOTE_ADDR="192.0.2.1")
    log_in("member", PASSWORD, browser)
    cookie = browser.cookies["known-browser"]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Lax", "/")
    browser.post("/accounts/logout/")
    use_up()
    for _ in range(5):
        log_in(client=Client(REMOTE_ADDR="192.0.2.1"))
    assert log_in("member", PASSWORD, browser) == "/", "also behind the address of a stranger"
    forged = Client()
    forged.cookies["known-browser"] = f"{cookie.value[:-2]}xx"
    assert LIMITED in log_in("member", PASSWORD, forged)
    User.objects.create_user("other", password=PASSWORD)
    use_up("other")
    browser.post("/accounts/logout/")
    assert LIMITED in log_in("other", PASSWORD, browser), "it is known for one account"


@pytest.mark.parametrize("path", ["/accounts/login/", "/admin/login/"])
def test_browser_known_to_one_account_is_not_known_to_an_account_with_a_similar_name(
    path: str, fast_password_hasher: None
) -> None:
    for name in ("strasse", "straße"):
        User.objects.create_user(name, password=PASSWORD)
    client = Client()
    assert log_in("straße", PASSWORD, client) == "/"
    use_up("strasse")
    fields = {"login": "strasse", "username": "strasse", "password": PASSWORD}
    if path == "/accounts/login/":
        client.post("/accounts/logout/")
    assert LIMITED in client.post(path, fields).content.decode()


@pytest.mark.usefixtures("protected")
def test_password_with_a_two_step_code_logs_in_despite_the_limit_of_wrong_passwords() -> None:
    use_up()
    client = Client(REMOTE_ADDR="198.51.100.1")
    assert LIMITED in log_in("member", PASSWORD, client), "without a code, it does not go on to the second step"
    assert LIMITED in log_in("member", PASSWORD, client, code="000000")
    assert LIMITED in log_in("member", "wrong", client, code=code_of())
    assert log_in("member", PASSWORD, client, code=code_of()) == "/"
    assert client.get("/accounts/profile/").status_code == 200
    assert LIMITED in log_in("member", PASSWORD, code=code_of()), "a code works once"


def test_refused_login_with_a_former_name_and_the_right_password_sets_no_session_cookie(person: User) -> None:
    User.objects.update(former_username="earlier")
    use_up("earlier")
    client = Client()
    assert LIMITED in log_in("earlier", PASSWORD, client, code="000000")
    assert "sessionid" not in client.cookies


def test_recovery_code_logs_in_despite_the_limit_and_is_used_up_only_with_the_password(protected: User) -> None:
    [code, *_] = RecoveryCodes.activate(protected).get_unused_codes()
    use_up()
    assert LIMITED in log_in("member", "wrong", code=code)
    assert log_in("member", PASSWORD, code=code) == "/"
    assert LIMITED in log_in("member", PASSWORD, code=code)


@pytest.mark.usefixtures("person")
def test_admin_login_refuses_an_account_that_has_reached_its_limit_of_wrong_passwords() -> None:
    use_up()
    page = Client().post("/admin/login/", {"username": "member", "password": PASSWORD}).content.decode()
    assert LIMITED in page


@pytest.mark.usefixtures("protected")
def test_wrong_codes_are_limited_for_each_account_across_browsers_and_addresses(settings: Settings) -> None:
    settings.ACCOUNT_RATE_LIMITS = {**settings.ACCOUNT_RATE_LIMITS, "second_step": "8/d/key"}
    known = Client(REMOTE_ADDR="192.0.2.1")
    log_in("member", PASSWORD, known)
    assert known.post(STEP, {"code": code_of()}).status_code == 302
    known.post("/accounts/logout/")
    pages = []
    for number in range(10):
        client = Client(REMOTE_ADDR=f"203.0.113.{number}")
        log_in("member", PASSWORD, client)
        pages.append(client.post(STEP, {"code": "000000"}).content.decode())
    assert ["Incorrect code" in page for page in pages] == [True] * 8 + [False] * 2
    # A known browser has its own limit.
    log_in("member", PASSWORD, known)
    assert "Incorrect code" in known.post(STEP, {"code": "000000"}).content.decode(), (
        "a known browser has its own limit"
    )
