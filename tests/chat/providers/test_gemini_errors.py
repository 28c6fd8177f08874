"""Errors of Gemini's API: which remedy they name, and which reason of the API users read."""

from __future__ import annotations

import pytest
from google.auth.exceptions import DefaultCredentialsError
from google.genai.errors import APIError

from chat.messages.notices import ERRORS, notice_of
from chat.providers.google.access import Access
from chat.providers.google.errors import ReportedError, provider_error
from chat.providers.provider_errors import (
    CredentialsRefused,
    InvalidRequest,
    ModelNotFound,
    ProviderError,
    Unauthorised,
)

KEY = "AIzaSyTheKeyOfThisTestThatNobodyMaySee"
DEVELOPER_API = Access(False, KEY, "", "", "", "v1beta", is_emulated=False)
VERTEX = Access(True, "", "my-project", "europe-west1", "", "v1beta1", is_emulated=False)
VERTEX_WITH_KEY = Access(True, KEY, "", "global", "", "v1beta1", is_emulated=False)


def error_of(code: int, message: str, access: Access) -> ProviderError:
    body = {"error": {"code": code, "message": message, "status": "NAME"}}
    return provider_error(ReportedError(code, body), http_status=code, access=access)


@pytest.mark.parametrize("code", [401, 403])
@pytest.mark.parametrize(
    ("access", "expected"),
    [(DEVELOPER_API, Unauthorised), (VERTEX_WITH_KEY, Unauthorised), (VERTEX, CredentialsRefused)],
)
def test_refused_access_is_an_error_about_the_key_or_about_credentials_of_vertex_ai(
    code: int, access: Access, expected: type[ProviderError]
) -> None:
    assert type(error_of(code, "Permission denied.", access)) is expected


def test_error_of_missing_credentials_does_not_ask_for_a_key() -> None:
    missing = DefaultCredentialsError("none here")
    error = provider_error(missing, http_status=None, access=VERTEX)
    assert type(error) is CredentialsRefused
    sentence = ERRORS[error.code]
    assert "key" not in sentence.lower()
    for word in ("credentials", "project", "location"):
        assert word in sentence


def test_unknown_model_at_vertex_ai_raises_model_not_found() -> None:
    assert type(error_of(404, "Publisher Model was not found.", VERTEX)) is ModelNotFound


def test_notice_about_a_refused_request_quotes_the_services_reason_without_the_key() -> None:
    error = error_of(400, f"<i>Bad</i> field `x`, key {KEY}.", DEVELOPER_API)
    assert type(error) is InvalidRequest
    assert error.reason == "Bad field `x`, key [removed]."
    notice = notice_of(status="failed", error_code=error.code, finish_message=error.reason, is_empty=True)
    assert notice is not None
    assert notice.sentence.endswith("choose another model. The service says: “Bad field `x`, key [removed].”")


def test_reason_of_the_service_is_shown_only_for_errors_that_the_service_has_sent() -> None:
    assert not error_of(403, "Permission denied.", DEVELOPER_API).reason
    message = f"Out of <i>capacity</i>, key {KEY}."
    assert error_of(503, message, DEVELOPER_API).reason == "Out of capacity , key [removed]."
    refused = APIError(503, {"error": {"code": 503, "message": message, "status": "UNAVAILABLE"}})
    assert not provider_error(refused, http_status=503, access=DEVELOPER_API).reason
    local = provider_error(ValueError("a defect of ours"), http_status=None, access=DEVELOPER_API)
    assert (type(local), local.reason) == (InvalidRequest, "")
    notice = notice_of(status="failed", error_code=local.code, finish_message=local.reason)
    assert notice is not None
    assert notice.sentence == InvalidRequest.sentence
