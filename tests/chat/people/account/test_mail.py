"""Mail: an address is confirmed before it is used, and a forgotten password is replaced with a link."""

from __future__ import annotations

import os
import re
import smtplib
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.totp.internal.auth import TOTP
from django.core import mail
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from chat.models import LoginSession, User
from config import after_response
from tests.chat.people.account.test_two_step_login import code_of
from tests.factories import make_user
from tests.live_server import ROOT
from tests.parsed_html import ParsedHtml
from tests.polling import wait_until

pytestmark = pytest.mark.django_db

PASSWORD, NEW_PASSWORD = "a long pass phrase", "another pass phrase"
ADDRESS = "ann@example.org"
RUN_AFTER_RESPONSE = after_response.run_after_response


@pytest.fixture(autouse=True)
def mail_set_up(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set up mail that is sent at once."""
    monkeypatch.setattr(after_response, "run_after_response", lambda action: action())
    settings.EMAIL_URL = "smtp://localhost"
    settings.DEFAULT_FROM_EMAIL = "plotline@example.org"


@pytest.fixture
def person(fast_password_hasher: None) -> User:
    return make_user("ann", password=PASSWORD)


def link_of(message: str) -> str:
    match = re.search(r"http://localhost(/\S+)", message)
    assert match
    return match[1]


def ask_for_link(address: str = ADDRESS, language: str = "en") -> None:
    client = Client(headers={"Accept-Language": language})
    response = client.post("/accounts/password/reset/", {"email": address})
    assert (response.status_code, response.headers["Location"]) == (302, "/accounts/password/reset/sent/")


def test_new_mail_address_needs_the_password_and_a_confirmation_link(person: User, client: Client) -> None:
    client.force_login(person)
    page = client.get("/accounts/profile/").content.decode()
    assert "/accounts/email/" in page
    way = client.post("/accounts/email/", {"email": ADDRESS, "action_add": "1"}).headers["Location"]
    assert way.startswith("/accounts/reauthenticate/")
    assert mail.outbox == []
    client.post(way, {"password": PASSWORD})
    [sent] = mail.outbox
    assert (sent.to, sent.from_email) == ([ADDRESS], "plotline@example.org")
    assert "Follow the link in it" in client.get("/accounts/email/").content.decode()
    link = link_of(str(sent.body))
    assert "Confirm the address" in Client().get(link).content.decode()
    assert not EmailAddress.objects.filter(verified=True).exists()
    Client().post(link)
    assert EmailAddress.objects.get(verified=True).email == ADDRESS
    assert f"Your address is <strong>{ADDRESS}</strong>" in client.get("/accounts/email/").content.decode()


def test_mailed_link_sets_a_new_password_once_and_logs_out_everywhere(person: User) -> None:
    EmailAddress.objects.create(user=person, email=ADDRESS, verified=True, primary=True)
    Client().force_login(person)
    assert "Forgot your password?" in Client().get("/accounts/login/").content.decode()
    ask_for_link()
    link = link_of(str(mail.outbox[0].body))
    visitor = Client()
    form = visitor.get(link, follow=True)
    assert "Set the password" in form.content.decode()
    path = form.redirect_chain[-1][0]
    assert visitor.post(path, {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD}).status_code == 302
    person.refresh_from_db()
    assert person.check_password(NEW_PASSWORD)
    assert not LoginSession.objects.filter(user=person).exists()
    assert "not valid any more" in Client().get(link, follow=True).content.decode()


def test_password_reset_for_an_unknown_address_sends_no_mail(person: User) -> None:
    ask_for_link("stranger@example.org")
    assert mail.outbox == []


def test_password_reset_runs_the_same_queries_for_known_and_unknown_addresses(
    person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    EmailAddress.objects.create(user=person, email=ADDRESS, verified=True, primary=True)
    later: list[Callable[[], None]] = []
    monkeypatch.setattr(after_response, "run_after_response", later.append)
    ask_for_link("warm-up@example.org")
    work = []
    for address in (ADDRESS, "stranger@example.org"):
        with CaptureQueriesContext(connection) as queries:
            ask_for_link(address, language="de")
        # Counts of attempts have other values, and savepoints other numbers.
        work.append([re.sub(r"'[^']*'|\d+", "", query["sql"]) for query in queries])
    assert work[0] == work[1]
    assert mail.outbox == []
    for action in later:
        action()
    [sent] = mail.outbox
    assert (sent.to, sent.subject) == ([ADDRESS], "Ein neues Passwort für Plotline")


def test_task_that_is_run_after_a_response_runs_in_another_thread_and_its_error_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(after_response, "RESPONSE_TIME_S", 0.05)
    threads = []

    def fail() -> None:
        threads.append(threading.current_thread())
        raise ValueError("no template")

    RUN_AFTER_RESPONSE(fail)
    wait_until(lambda: "no template" in caplog.text)
    assert threading.current_thread() not in threads


def test_error_page_is_shown_and_no_address_is_logged_if_the_mail_server_is_away(
    person: User, client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(message: mail.EmailMessage) -> int:
        raise smtplib.SMTPRecipientsRefused({ADDRESS: (550, b"no")})

    monkeypatch.setattr(mail.EmailMessage, "send", fail)
    client.force_login(person)
    way = client.post("/accounts/email/", {"email": ADDRESS, "action_add": "1"}).headers["Location"]
    response = client.post(way, {"password": PASSWORD})
    assert response.status_code == 503
    assert "The mail could not be sent" in response.content.decode()
    assert "SMTPRecipientsRefused" in caplog.text
    caplog.clear()
    EmailAddress.objects.update(verified=True)
    # A page with an error would reveal that the address is known.
    ask_for_link()
    assert "SMTPRecipientsRefused" in caplog.text
    assert ADDRESS not in caplog.text


def test_pages_offer_no_mail_functions_if_mail_is_not_set_up(person: User, client: Client, settings: Settings) -> None:
    settings.EMAIL_URL = ""
    assert "Forgot your password?" not in client.get("/accounts/login/").content.decode()
    assert client.get("/accounts/password/reset/").status_code == 404
    client.force_login(person)
    assert "/accounts/email/" not in client.get("/accounts/profile/").content.decode()
    assert client.get("/accounts/email/").status_code == 404


@pytest.mark.parametrize("url", ["http://user:hush@host", "smtp://user:hush@:25", "smtp://user:hush@host:port"])
def test_server_does_not_start_with_an_invalid_mail_url_and_does_not_print_its_password(url: str) -> None:
    environment = {**os.environ, "EMAIL_URL": url, "EMAIL_FROM": "a@example.org"}
    command = [sys.executable, "-c", "import config.mail"]
    completed = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert completed.returncode == 1
    assert "EMAIL_URL" in completed.stderr
    assert "hush" not in completed.stderr


def test_unconfirmed_address_gets_no_link_to_a_new_password(person: User, client: Client) -> None:
    client.force_login(person)
    way = client.post("/accounts/email/", {"email": ADDRESS, "action_add": "1"}).headers["Location"]
    client.post(way, {"password": PASSWORD})
    [confirmation] = mail.outbox
    ask_for_link()
    assert mail.outbox == [confirmation]
    Client().post(link_of(str(confirmation.body)))
    ask_for_link()
    assert len(mail.outbox) == 2


def test_address_set_by_staff_needs_no_confirmation(person: User) -> None:
    User.objects.update(email=ADDRESS)
    ask_for_link(ADDRESS.upper())
    [sent] = mail.outbox
    assert sent.to == [ADDRESS]


def test_mail_address_that_a_person_adds_is_not_confirmed_without_the_mailed_link(person: User) -> None:
    browser = Client()
    browser.force_login(person)
    browser.post("/accounts/email/", {"action_add": "", "email": ADDRESS})
    assert browser.post("/accounts/email/", {"action_primary": "", "email": ADDRESS}).status_code == 404
    browser.get("/accounts/email/")
    assert not EmailAddress.objects.filter(verified=True).exists()
    assert not User.objects.get().email


def ask_from(address: str, client: Client | None = None) -> int:
    """Ask for a link for `ADDRESS` from an address of a client; return the status."""
    visitor = client or Client()
    return visitor.post("/accounts/password/reset/", {"email": ADDRESS}, REMOTE_ADDR=address).status_code


@pytest.mark.parametrize(
    ("public_url", "hosts", "https", "expected"),
    [
        ("", ["plotline.example.org", "*"], False, "http://plotline.example.org/accounts/"),
        ("", [".example.org", "plotline.example.org"], True, "https://plotline.example.org/accounts/"),
        ("", ["localhost", "10.0.0.1", "plotline.example.org"], True, "https://plotline.example.org/accounts/"),
        ("https://plotline.example.org:8443", ["*"], False, "https://plotline.example.org:8443/accounts/"),
    ],
)
def test_mailed_links_use_the_host_of_the_settings_not_of_the_request(
    person: User, settings: Settings, public_url: str, hosts: list[str], https: bool, expected: str
) -> None:
    settings.PUBLIC_URL, settings.ALLOWED_HOSTS, settings.HTTPS = public_url, hosts, https
    User.objects.update(email=ADDRESS)
    attacker = Client(headers={"Host": "plotline.example.org:666"}, SERVER_NAME="evil.example.org")
    ask_from("192.0.2.1", attacker)
    attacker.force_login(person)
    way = attacker.post("/accounts/email/", {"email": "bob@example.org", "action_add": "1"}).headers["Location"]
    attacker.post(way, {"password": PASSWORD})
    links = [re.findall(r"https?://\S+", str(message.body)) for message in mail.outbox]
    assert len(links) == 2
    assert all(link.startswith(expected) for found in links for link in found), links


def test_mail_is_off_if_neither_public_url_nor_allowed_hosts_gives_a_single_host() -> None:
    program = "from django.conf import settings; print(repr(settings.EMAIL_URL))"
    variables = {"EMAIL_URL": "smtp://localhost", "EMAIL_FROM": "a@example.org", "ALLOWED_HOSTS": "*,.example.org"}
    results = []
    for given in ({}, {"PUBLIC_URL": "https://plotline.example.org"}):
        command, environment = [sys.executable, "-c", program], {**os.environ, **variables, **given}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)
        results.append(done.stdout.strip())
    assert results == ["''", "'smtp://localhost'"]


def test_strangers_can_request_few_password_mails_and_cannot_prevent_a_new_password(person: User) -> None:
    EmailAddress.objects.create(user=person, email=ADDRESS, verified=True, primary=True)
    known = Client(REMOTE_ADDR="192.0.2.1")
    known.post("/accounts/login/", {"login": "ann", "password": PASSWORD})
    known.post("/accounts/logout/")
    statuses = {ask_from(f"203.0.113.{number}") for number in range(20)}
    assert (statuses, len(mail.outbox)) == ({302}, 5)
    assert ask_from("192.0.2.1", known) == 302
    assert len(mail.outbox) == 6, "a known browser has a limit of its own"
    # Links in mails that strangers caused work, so the person has what they would ask for.
    link = link_of(str(mail.outbox[4].body))
    visitor = Client()
    path = visitor.get(link, follow=True).redirect_chain[-1][0]
    visitor.post(path, {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD})
    # The links do not work any more, so the next mail is sent, also for an unknown browser.
    sent = len(mail.outbox)
    ask_from("198.51.100.1")
    assert len(mail.outbox) == sent + 1


def test_number_of_links_requested_from_one_address_is_limited(person: User) -> None:
    statuses = [ask_from(f"2001:db8::{number:x}") for number in range(21)]
    assert statuses == [302] * 20 + [429]


def test_password_reset_link_does_not_work_after_a_login_a_new_password_or_a_new_address(person: User) -> None:
    def set_password() -> None:
        person.set_password(NEW_PASSWORD)
        person.save(update_fields=["password"])

    def log_in() -> None:
        Client().post("/accounts/login/", {"login": "ann", "password": PASSWORD})

    def change_address() -> None:
        EmailAddress.objects.create(user=person, email="new@example.org", verified=True, primary=True)

    User.objects.update(email=ADDRESS)
    for change in (log_in, set_password, change_address):
        ask_for_link()
        change()
        page = Client().get(link_of(str(mail.outbox[-1].body)), follow=True)
        assert "not valid any more" in page.content.decode(), change


def test_password_reset_by_mail_neither_skips_the_second_step_nor_makes_the_browser_known(person: User) -> None:
    TOTP.activate(person, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    User.objects.update(email=ADDRESS)
    ask_for_link()
    visitor = Client()
    path = visitor.get(link_of(str(mail.outbox[0].body)), follow=True).redirect_chain[-1][0]
    visitor.post(path, {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD})
    assert "known-browser" not in visitor.cookies
    response = visitor.post("/accounts/login/", {"login": "ann", "password": NEW_PASSWORD})
    assert response.headers["Location"] == "/accounts/two-step/login/"
    assert visitor.get("/accounts/profile/").status_code == 302


def test_pages_of_mailed_links_are_not_stored_by_browsers(person: User, client: Client) -> None:
    User.objects.update(email=ADDRESS)
    ask_for_link()
    page = client.get(link_of(str(mail.outbox[0].body)), follow=True)
    assert "no-store" in page.headers["Cache-Control"]
    assert "no-store" in client.get("/accounts/email/confirm/key/").headers["Cache-Control"]


# --- notices ----------------------------------------------------------------------------------------------------------


def notices() -> dict[str, str]:
    """Return first lines of the mails about changes, by address."""
    return {
        message.to[0]: str(message.body).splitlines()[0]
        for message in mail.outbox
        if message.subject in ("Your Plotline account was changed", "Ihr Plotline-Konto wurde geändert")
    }


def test_person_gets_a_mail_in_their_language_about_a_new_password(person: User, client: Client) -> None:
    User.objects.update(email=ADDRESS, language="de")
    client.force_login(person)
    fields = {"oldpassword": PASSWORD, "password1": NEW_PASSWORD, "password2": NEW_PASSWORD}
    client.post("/accounts/password/change/", fields, headers={"User-Agent": "Firefox/1 Linux"})
    assert notices() == {ADDRESS: "Das Passwort Ihres Kontos „ann“ wurde geändert."}
    [sent] = mail.outbox
    assert "Firefox Linux" in sent.body
    assert "http://localhost/accounts/logins/" in sent.body


def test_person_gets_a_second_mail_about_a_password_that_was_set_by_mail(person: User, client: Client) -> None:
    User.objects.update(email=ADDRESS)
    ask_for_link()
    path = client.get(link_of(str(mail.outbox[0].body)), follow=True).redirect_chain[-1][0]
    client.post(path, {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD})
    assert "with a link that had been sent to your address" in notices()[ADDRESS]


@pytest.mark.parametrize("is_from_staff", [True, False])
def test_old_and_new_address_get_a_mail_about_a_new_address(person: User, client: Client, is_from_staff: bool) -> None:
    old, new = "old@example.org", "new@example.org"
    User.objects.update(email=old)
    if not is_from_staff:
        EmailAddress.objects.create(user=person, email=old, verified=True, primary=True)
    client.force_login(User.objects.get())
    way = client.post("/accounts/email/", {"email": new, "action_add": "1"}).headers["Location"]
    client.post(way, {"password": PASSWORD})
    [confirmation] = mail.outbox
    Client().post(link_of(str(confirmation.body)))
    sentence = f"The e-mail address of your account “ann” was changed from {old} to {new}."
    assert notices() == {old: sentence, new: sentence}
    assert list(EmailAddress.objects.values_list("email", flat=True)) == [new]


def test_person_gets_a_mail_about_changes_of_two_step_login(
    person: User, client: Client, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    User.objects.update(email=ADDRESS)
    client.post("/accounts/login/", {"login": "ann", "password": PASSWORD})
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    secret = ParsedHtml(client.get("/accounts/two-step/app/").content.decode()).only("code").text
    with django_capture_on_commit_callbacks(execute=True):
        client.post("/accounts/two-step/app/", {"code": code_of(secret)})
    assert "Two-step login was turned on" in notices()[ADDRESS]
    with django_capture_on_commit_callbacks(execute=True):
        client.post("/accounts/two-step/codes/new/")
    assert "New recovery codes were made" in notices()[ADDRESS]
    client.post("/accounts/two-step/app/remove/")
    assert "Two-step login was turned off" in notices()[ADDRESS]


def test_password_is_changed_even_if_the_mail_about_the_change_cannot_be_sent(
    person: User, client: Client, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    def fail(message: mail.EmailMessage) -> int:
        raise smtplib.SMTPServerDisconnected

    monkeypatch.setattr(mail.EmailMessage, "send", fail)
    User.objects.update(email=ADDRESS)
    client.force_login(person)
    fields = {"oldpassword": PASSWORD, "password1": NEW_PASSWORD, "password2": NEW_PASSWORD}
    assert client.post("/accounts/password/change/", fields).status_code == 302
    assert User.objects.get().check_password(NEW_PASSWORD)
    settings.EMAIL_URL = ""
    monkeypatch.undo()
    fields = {"oldpassword": NEW_PASSWORD, "password1": PASSWORD, "password2": PASSWORD}
    assert client.post("/accounts/password/change/", fields).status_code == 302
    assert mail.outbox == []
