"""Error pages for a missing address and a wrong host."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django import Settings

from tests.factories import make_user

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("is_debug", [True, False])
@pytest.mark.parametrize("path", ["/nothing/here/", "/c/00000000-0000-0000-0000-000000000000/", "/nothing"])
def test_unknown_url_shows_the_404_page_of_plotline_with_and_without_debug(
    client: Client, settings: Settings, path: str, *, is_debug: bool
) -> None:
    client.force_login(make_user())
    settings.DEBUG = is_debug
    response = client.get(path)
    page = response.content.decode()
    assert response.status_code == 404
    assert "To your conversations" in page
    assert "urlpatterns" not in page


def test_page_for_a_wrong_host_names_the_setting_and_the_log_has_no_traceback(
    client: Client, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.ALLOWED_HOSTS = ["chat.example.org"]
    settings.DEBUG = False
    response = client.get("/", headers={"Host": "other.example"})
    assert response.status_code == 400
    assert "can add the name to ALLOWED_HOSTS" in response.content.decode()
    german = client.get("/", headers={"Host": "chat.example.org.evil.example:8443", "Accept-Language": "de"})
    assert "kennt den Hostnamen nicht" in german.content.decode()
    caplog.clear()
    client.get("/", headers={"Host": "other.example"})
    [record] = [record for record in caplog.records if record.name == "django.security.DisallowedHost"]
    assert "other.example" in record.getMessage()
    assert record.exc_info is None
