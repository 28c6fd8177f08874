"""The admin page of the service for Python sessions."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.urls import reverse
from pytest_django import Settings

from tests.chat.admin.factories import client_of, make_account
from tests.kernel_service import running_service

pytestmark = pytest.mark.django_db


def test_page_shows_the_state_of_the_service_and_starts_and_stops_it(settings: Settings) -> None:
    client, url = client_of(make_account("superuser")), reverse("admin-kernel-service")
    with running_service("--warm-kernels", "0") as service:
        settings.KERNEL_SERVICE_DIR = service.directory
        assert '<td id="service-state">stopped</td>' in client.get(url).content.decode()
        assert "The service is running." in client.post(url, {"command": "start"}, follow=True).content.decode()
        page = client.get(url).content.decode()
        assert '<td id="service-state">running</td>' in page
        assert "without the sandbox" not in page
        assert "The service is stopped." in client.post(url, {"command": "stop"}, follow=True).content.decode()


def test_missing_sandbox_is_shown_in_red(settings: Settings) -> None:
    client, url = client_of(make_account("superuser")), reverse("admin-kernel-service")
    with running_service("--warm-kernels", "0", "--without-sandbox") as service:
        settings.KERNEL_SERVICE_DIR = service.directory
        page = client.post(url, {"command": "start"}, follow=True).content.decode()
    assert '<p class="errornote"><strong>Code runs without the sandbox.' in page


def test_page_says_that_the_kernel_service_does_not_run(settings: Settings, tmp_path: Path) -> None:
    settings.KERNEL_SERVICE_DIR = tmp_path
    page = client_of(make_account("superuser")).get(reverse("admin-kernel-service")).content.decode()
    assert '<td id="service-state">unreachable</td>' in page
    assert "does not run on this machine" in page


def test_page_has_no_buttons_if_the_service_is_remote(settings: Settings) -> None:
    settings.JUPYTER_GATEWAY_URL = "http://gateway.example:8888"
    page = client_of(make_account("superuser")).get(reverse("admin-kernel-service")).content.decode()
    assert "http://gateway.example:8888" in page
    assert 'value="stop"' not in page
