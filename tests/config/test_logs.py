"""The log contains no secrets, and its lines cannot be forged."""

from __future__ import annotations

import io
import logging
import logging.config
from collections.abc import Iterator

import pytest
from django.http import HttpResponse
from django.test import RequestFactory
from django.utils.log import log_response
from pytest_django import Settings
from redis.exceptions import ConnectionError as RedisConnectionError

from chat.vocabulary.log_lines import LineFormatter
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
def test_tokens_in_logged_urls_are_replaced_by_an_ellipsis(
    path: str, shown: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.handler.addFilter(hide_secrets)
    response = HttpResponse(status=429)
    log_response("%s: %s", "Too Many Requests", path, response=response, request=RequestFactory().get(path))
    assert [record.getMessage() for record in caplog.records] == [f"Too Many Requests: {shown}"]


def test_console_log_handler_has_the_filter_that_hides_secrets_of_links(settings: Settings) -> None:
    assert settings.LOGGING["handlers"]["console"]["filters"] == ["database", "secrets"]
    assert hide_secrets(logging.makeLogRecord({"args": {"a": 1}}))


@pytest.mark.parametrize(("error", "is_logged"), [(RedisConnectionError("closed"), False), (ValueError("wrong"), True)])
def test_only_the_channel_bridge_logs_that_redis_is_lost(error: Exception, is_logged: bool) -> None:
    exc_info = (type(error), error, None)
    record = logging.LogRecord("asyncio", logging.ERROR, "", 0, "Task exception was never retrieved", None, exc_info)
    assert is_not_a_lost_redis(record) == is_logged


@pytest.fixture
def logged(settings: Settings) -> Iterator[tuple[logging.Logger, io.StringIO]]:
    """A logger, and what the settings' formatter makes of its records."""
    configurator = logging.config.DictConfigurator(settings.LOGGING)
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(configurator.configure_formatter(dict(settings.LOGGING["formatters"]["line"])))
    logger = logging.getLogger(__name__)
    logger.addHandler(handler)
    yield logger, stream
    logger.removeHandler(handler)


FORGED = "busy\r\n2026-01-01 00:00:00,000 ERROR root: forged\u2028\x1b[2J\u202e\u200b"


def test_line_break_in_a_log_message_is_escaped_and_begins_no_new_line(
    logged: tuple[logging.Logger, io.StringIO],
) -> None:
    logger, stream = logged
    logger.warning("turn %s: %s ü 分", 5, FORGED)
    [line] = stream.getvalue().splitlines()
    assert r"turn 5: busy\r\n2026-01-01" in line
    assert line.endswith(r"forged\u2028\x1b[2J\u202e\u200b ü 分")


def test_error_of_a_traceback_that_contains_line_breaks_begins_no_unindented_log_line(
    logged: tuple[logging.Logger, io.StringIO],
) -> None:
    logger, stream = logged
    try:
        raise ValueError(FORGED)
    except ValueError:
        logger.exception("failed", stack_info=True)
    first, *others = stream.getvalue().splitlines()
    assert first.endswith("failed")
    assert all(line.startswith("    ") for line in others)
    assert any(line.startswith("    Traceback") for line in others)
    assert any("test_error_of_a_traceback" in line for line in others)
    assert "\x1b" not in stream.getvalue()


def test_line_break_in_a_log_message_of_the_kernel_service_is_escaped() -> None:
    record = logging.makeLogRecord({"msg": FORGED})
    assert "\n" not in LineFormatter("Python sessions: %(message)s").format(record)
