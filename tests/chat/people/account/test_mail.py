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
from django.core import mail
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from chat.models import LoginSession, User
from config import after_response
from tests.factories import make_user
from tests.live_server import ROOT
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
    match = re.search(r"http://testserver(/\S+)", message)
    assert match
    return match[1]


def ask_for_link(address: str = ADDRESS, language: str = "en") -> None:
    client = Client(headers={"Accept-Language": language})
    response = client.post("/accounts/password/reset/", {"email": address})
    assert (response.status_code, response.headers["Location"]) == (302, "/accounts/password/reset/sent/")


def test_an_address_needs_the_password_and_is_confirmed_by_a_link(person: User, client: Client) -> None:
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


def test_a_link_sets_a_new_password_once_and_logs_out_everywhere(person: User) -> None:
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


def test_nobody_learns_which_addresses_are_known(person: User) -> None:
    ask_for_link("stranger@example.org")
    assert mail.outbox == []


def test_the_response_is_the_same_work_for_every_address(person: User, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_what_runs_after_a_response_runs_in_a_thread_and_logs_its_error(
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


def test_a_mail_server_that_is_away_gets_a_page_and_no_address_is_logged(
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
    # A page about it would say that the address is known.
    ask_for_link()
    assert "SMTPRecipientsRefused" in caplog.text
    assert ADDRESS not in caplog.text


def test_without_mail_nothing_offers_it(person: User, client: Client, settings: Settings) -> None:
    settings.EMAIL_URL = ""
    assert "Forgot your password?" not in client.get("/accounts/login/").content.decode()
    assert client.get("/accounts/password/reset/").status_code == 404
    client.force_login(person)
    assert "/accounts/email/" not in client.get("/accounts/profile/").content.decode()
    assert client.get("/accounts/email/").status_code == 404


@pytest.mark.parametrize("url", ["http://user:hush@host", "smtp://user:hush@:25", "smtp://user:hush@host:port"])
def test_a_wrong_url_stops_the_start_and_is_not_printed(url: str) -> None:
    environment = {**os.environ, "EMAIL_URL": url, "EMAIL_FROM": "a@example.org"}
    command = [sys.executable, "-c", "import config.mail"]
    completed = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert completed.returncode == 1
    assert "EMAIL_URL" in completed.stderr
    assert "hush" not in completed.stderr


def test_an_address_that_is_not_confirmed_gets_no_link_to_a_new_password(person: User, client: Client) -> None:
    client.force_login(person)
    way = client.post("/accounts/email/", {"email": ADDRESS, "action_add": "1"}).headers["Location"]
    client.post(way, {"password": PASSWORD})
    [confirmation] = mail.outbox
    ask_for_link()
    assert mail.outbox == [confirmation]
    Client().post(link_of(str(confirmation.body)))
    ask_for_link()
    assert len(mail.outbox) == 2


def test_an_address_that_staff_gave_needs_no_confirmation(person: User) -> None:
    User.objects.update(email=ADDRESS)
    ask_for_link(ADDRESS.upper())
    [sent] = mail.outbox
    assert sent.to == [ADDRESS]
