"""What the log does not contain."""

from __future__ import annotations

import logging

import pytest
from django.http import HttpResponse
from django.test import RequestFactory
from django.utils.log import log_response
from pytest_django import Settings
from redis.exceptions import ConnectionError as RedisConnectionError

from config.logs import hide_secrets, is_not_a_lost_redis


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/s/a-secret_Token/", "/s/…/"),
        ("/s/a-secret_Token/files/5/", "/s/…/files/5/"),
        ("/accounts/password/reset/1-dii14y-d769c/", "/accounts/password/reset/…/"),
        ("/accounts/email/confirm/MQ:1xV:y12/", "/accounts/email/confirm/…/"),
        ("/c/5/", "/c/5/"),
    ],
)
def test_secrets_of_links_are_not_logged(path: str, shown: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.handler.addFilter(hide_secrets)
    response = HttpResponse(status=429)
    log_response("%s: %s", "Too Many Requests", path, response=response, request=RequestFactory().get(path))
    assert [record.getMessage() for record in caplog.records] == [f"Too Many Requests: {shown}"]


def test_handlers_hide_them(settings: Settings) -> None:
    assert settings.LOGGING["handlers"]["console"]["filters"] == ["secrets"]
    assert hide_secrets(logging.makeLogRecord({"args": {"a": 1}}))


@pytest.mark.parametrize(("error", "is_logged"), [(RedisConnectionError("closed"), False), (ValueError("wrong"), True)])
def test_a_lost_redis_is_logged_by_the_bridge_alone(error: Exception, is_logged: bool) -> None:
    exc_info = (type(error), error, None)
    record = logging.LogRecord("asyncio", logging.ERROR, "", 0, "Task exception was never retrieved", None, exc_info)
    assert is_not_a_lost_redis(record) == is_logged
