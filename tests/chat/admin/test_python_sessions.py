"""Python sessions in the admin: the action that ends them, and who may start and stop their service."""

from __future__ import annotations

import pytest
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.urls import reverse
from pytest_django import Settings

from chat.models import PythonSession
from chat.python.kernels.errors import KernelsUnavailable
from chat.python.kernels.places import LocalService, ServiceStatus
from chat.python.sessions.control import ENDED_BY_STAFF
from chat.python.sessions.rows import State
from tests.chat.admin.factories import admin_url, client_of, make_account
from tests.chat.python.sessions.session_rows import make_session, make_stopped

pytestmark = pytest.mark.django_db

SERVICE = "admin-kernel-service"


def end_sessions(role: str, *sessions: PythonSession) -> str:
    """Run the action as an account of this role, and return the page that follows."""
    data = {"action": "end", ACTION_CHECKBOX_NAME: [str(session.pk) for session in sessions]}
    return client_of(make_account(role)).post(admin_url(PythonSession), data, follow=True).content.decode()


def test_admin_action_marks_only_the_chosen_running_sessions_to_be_ended() -> None:
    chosen, other, stopped = make_session(), make_session(), make_stopped()
    assert "1 Python session will have ended in a few seconds." in end_sessions("operator", chosen, stopped)
    for session in (chosen, other, stopped):
        session.refresh_from_db()
    assert (chosen.state, chosen.note) == (State.STOPPING, ENDED_BY_STAFF)
    # The lease has expired, so the next run of the reaper ends the kernel.
    assert not chosen.is_busy
    assert (other.state, stopped.state) == (State.RUNNING, State.STOPPED)


def test_reviewer_cannot_end_a_session() -> None:
    session = make_session()
    end_sessions("reviewer", session)
    session.refresh_from_db()
    assert session.state == State.RUNNING


@pytest.mark.parametrize("command", ["start", "stop"])
def test_only_operators_start_and_stop_the_service(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[str] = []

    def note(service: LocalService) -> ServiceStatus:
        commands.append(command)
        return ServiceStatus("running" if command == "start" else "stopped")

    monkeypatch.setattr(LocalService, command, note)
    monkeypatch.setattr(LocalService, "status", lambda service: ServiceStatus("running"))
    for role in ("reviewer", "staff", "user"):
        response = client_of(make_account(role)).post(reverse(SERVICE), {"command": command})
        assert response.status_code in (302, 403)
    assert commands == []
    page = client_of(make_account("operator")).post(reverse(SERVICE), {"command": command}, follow=True)
    assert f"The service is {'running' if command == 'start' else 'stopped'}." in page.content.decode()
    assert commands == [command]


def test_error_of_the_kernel_service_is_shown_to_the_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    client = client_of(make_account("operator"))
    failed = ServiceStatus("error", error="The gateway does not start: no room.")
    monkeypatch.setattr(LocalService, "status", lambda service: failed)
    monkeypatch.setattr(LocalService, "start", lambda service: failed)
    page = client.post(reverse(SERVICE), {"command": "start"}, follow=True).content.decode()
    assert '<li class="error">The gateway does not start: no room.</li>' in page

    def fail(service: LocalService) -> ServiceStatus:
        raise KernelsUnavailable("It does not answer.")

    monkeypatch.setattr(LocalService, "stop", fail)
    assert "It does not answer." in client.post(reverse(SERVICE), {"command": "stop"}, follow=True).content.decode()


@pytest.mark.parametrize("url", ["", "http://gateway.example:8888"])
def test_unknown_command_or_command_for_a_remote_kernel_service_is_refused(url: str, settings: Settings) -> None:
    settings.JUPYTER_GATEWAY_URL = url
    data = {"command": "start" if url else "explode"}
    page = client_of(make_account("operator")).post(reverse(SERVICE), data, follow=True).content.decode()
    assert "This service cannot be started or stopped from here." in page
