"""Requests that are refused: each response is a problem (RFC 9457) with a sentence, and nothing is stored."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import Settings

from chat.api.problems import Problem, ProblemType
from chat.models import Conversation, User
from tests.factories import make_attachment, make_conversation, make_model_message, make_user

pytestmark = pytest.mark.django_db
LIST = "/api/v1/conversations/"
UPLOADS = "/api/v1/attachments/"


def problem_of(response: Any, status: int) -> dict[str, Any]:  # noqa: ANN401 - Django's test responses
    """Check that a response is a complete problem with this status, and return the problem."""
    assert response.status_code == status, response.content
    assert response.headers["Content-Type"] == "application/problem+json"
    problem: dict[str, Any] = response.json()
    assert problem["status"] == status
    (problem_type,) = [one for one in ProblemType if problem["type"] == f"/api/docs/#problem-{one.slug}"]
    assert (problem["title"], problem_type.status) == (problem_type.title, status)
    assert problem["detail"].endswith((".", "”."))
    return problem


MALFORMED = [b"{", b"[1, NaN]", b'{"title": Infinity}', b"\xff", b"[" * 100_000, b'{"a": 1}}', b"{'title': 1}"]


@pytest.mark.parametrize("body", MALFORMED, ids=[repr(body[:12]) for body in MALFORMED])
def test_body_that_is_not_json_is_refused_with_status_400(client: Client, body: bytes) -> None:
    response = client.post(LIST, body, content_type="application/json")
    assert problem_of(response, 400)["title"] == "Malformed"


def test_empty_body_is_accepted_if_all_fields_are_optional(client: Client) -> None:
    assert client.post(LIST, b"", content_type="application/json").status_code == 201


INVALID = [
    ([], "body"),
    ("text", "body"),
    (None, "body"),
    ({"titel": "A"}, "titel"),
    ({"title": 1}, "title"),
    ({"title": None}, "title"),
    ({"title": "x" * 201}, "title"),
    ({"model": "../files"}, "model"),
    ({"code_execution": "maybe"}, "code_execution"),
    ({"code_execution": True}, "code_execution"),
    ({"system_instruction": "x" * 262_145}, "system_instruction"),
    ({"archived": True}, "archived"),
    ({"owner": 1}, "owner"),
]


@pytest.mark.parametrize(("body", "field"), INVALID)
def test_problem_names_invalid_fields(client: Client, body: Any, field: str) -> None:  # noqa: ANN401 - any JSON
    problem = problem_of(client.post(LIST, json.dumps(body), content_type="application/json"), 400)
    assert list(problem["errors"]) == [field]
    assert all(sentence.endswith(".") for sentence in problem["errors"][field])
    assert not Conversation.objects.exists()


@pytest.mark.parametrize(
    "query",
    ["archived=yes", "limit=0", "limit=101", "limit=-1", "limit=1.0", "cursor=x", "sort=title", "q=" + "x" * 201],
)
def test_problem_names_invalid_parameters(client: Client, query: str) -> None:
    assert list(problem_of(client.get(f"{LIST}?{query}"), 400)["errors"]) == [query.partition("=")[0]]


INVALID_QUESTIONS = [
    ({}, "text"),
    ({"text": "  \n"}, "text"),
    ({"text": "Hello", "attachments": "x"}, "attachments"),
    ({"text": "Hello", "attachments": ["x"]}, "attachments"),
    ({"text": "Hello", "attachments": ["e5a5bb2e-7f6f-4ba9-8c3c-5b1a34a4d1b1"] * 11}, "attachments"),
    ({"text": "Hello", "client_id": "x"}, "client_id"),
    ({"text": "é" * 140_000}, "text"),
]


@pytest.mark.parametrize(("body", "field"), INVALID_QUESTIONS, ids=range(len(INVALID_QUESTIONS)))
def test_invalid_question_is_refused(client: Client, owner: User, body: dict[str, Any], field: str) -> None:
    path = f"{LIST}{make_conversation(owner).pk}/turns/"
    assert list(problem_of(client.post(path, body, content_type="application/json"), 400)["errors"]) == [field]


def test_long_idempotency_key_is_refused(client: Client, owner: User) -> None:
    path, headers = f"{LIST}{make_conversation(owner).pk}/turns/", {"Idempotency-Key": "k" * 65}
    response = client.post(path, {"text": "Hello"}, content_type="application/json", headers=headers)
    assert "64 characters" in problem_of(response, 400)["detail"]


@pytest.mark.parametrize("path", ["conversations/{}/session/keep/", "messages/{}/parts/0/rerun/"])
def test_boolean_of_a_request_must_be_true_or_false(client: Client, owner: User, path: str) -> None:
    message = make_model_message(make_conversation(owner))
    path = path.format(message.conversation_id if path.startswith("conversations") else message.pk)
    field = "keep" if path.endswith("/keep/") else "from_start"
    for value in ("no", "false", 0):
        response = client.post(f"/api/v1/{path}", {field: value}, content_type="application/json")
        assert problem_of(response, 400)["errors"] == {field: ["This must be true or false."]}


def test_wrong_method_is_refused_with_the_allowed_methods(client: Client) -> None:
    response = client.put(LIST, "{}", content_type="application/json")
    problem_of(response, 405)
    assert response.headers["Allow"] == "GET, POST, HEAD, OPTIONS"
    options = client.options(LIST)
    assert (options.status_code, options.headers["Allow"], options.content) == (204, "GET, POST, HEAD, OPTIONS", b"")


def test_response_to_head_has_the_same_etag_as_to_get(client: Client, owner: User) -> None:
    path = f"{LIST}{make_conversation(owner).pk}/"
    get, head = client.get(path), client.head(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["ETag"] == get.headers["ETag"]


def test_body_of_another_media_type_is_refused(client: Client) -> None:
    problem_of(client.post(LIST, {"title": "A"}), 415)
    problem_of(client.post(UPLOADS, "{}", content_type="application/json"), 415)


@pytest.mark.parametrize(
    "path", ["/api/v1/nothing/", "/api/v1/conversations", "/api/v1/conversations/1/", "/api/v2/", "/api/v1/%0A/"]
)
def test_unknown_path_returns_a_problem(client: Client, path: str) -> None:
    for method in ("get", "post", "delete"):
        problem = problem_of(getattr(Client(enforce_csrf_checks=True), method)(path), 404)
        assert ("slash" in problem["detail"]) is not path.endswith("/")


def test_large_body_is_refused(client: Client) -> None:
    response = client.post(LIST, b'"' + b"x" * 2**21 + b'"', content_type="application/json")
    assert "2 MB" in problem_of(response, 413)["detail"]


def test_upload_with_a_too_large_content_length_is_refused(client: Client) -> None:
    file = SimpleUploadedFile("a.txt", b"x")
    response = client.post(UPLOADS, {"file": file}, CONTENT_LENGTH="99999999")
    assert "15.1 MB" in problem_of(response, 413)["detail"]


@pytest.mark.parametrize("fields", [{}, {"file": "text"}])
def test_upload_without_a_file_is_refused(client: Client, fields: dict[str, str]) -> None:
    assert list(problem_of(client.post(UPLOADS, fields), 400)["errors"]) == ["file"]


def test_upload_with_an_unknown_field_is_refused(client: Client) -> None:
    response = client.post(UPLOADS, {"file": SimpleUploadedFile("a", b"x"), "x": "1"})
    assert list(problem_of(response, 400)["errors"]) == ["x"]


def test_upload_of_an_unsupported_type_is_refused(client: Client) -> None:
    response = client.post(UPLOADS, {"file": SimpleUploadedFile("a.exe", b"MZ\0\0")})
    assert list(problem_of(response, 422)["errors"]) == ["file"]


def test_upload_of_a_large_file_is_refused(client: Client, settings: Settings) -> None:
    settings.UPLOAD_LIMIT_BYTES = 3
    problem_of(client.post(UPLOADS, {"file": SimpleUploadedFile("a.txt", b"four")}), 413)


def test_import_of_a_file_that_is_no_export_is_refused(client: Client) -> None:
    response = client.post("/api/v1/import/", {"file": SimpleUploadedFile("a.json", b"{}")})
    assert list(problem_of(response, 422)["errors"]) == ["file"]


def test_problem_of_a_throttled_user_says_how_long_to_wait(client: Client, settings: Settings) -> None:
    settings.API_CALLS_PER_MINUTE = 3
    assert [client.get(LIST).status_code for _ in range(3)] == [200] * 3
    refused = client.get(LIST)
    problem_of(refused, 429)
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    # Calls are counted for each user separately.
    other = Client()
    other.force_login(make_user())
    assert other.get(LIST).status_code == 200


def test_writing_calls_have_a_separate_rate_limit(client: Client, settings: Settings) -> None:
    settings.API_WRITES_PER_MINUTE = 1
    assert client.post("/api/v1/import/", b"x", content_type="application/zip").status_code == 422
    problem_of(client.post(UPLOADS, {}), 429)
    assert client.get(LIST).status_code == 200
    # Clients poll for the result of such a run.
    assert client.get(f"/api/v1/newer-files/{uuid.uuid4()}/").status_code == 404


def test_etags_give_status_304_and_prevent_lost_updates(client: Client, owner: User) -> None:
    path = f"{LIST}{make_conversation(owner, title='A').pk}/"
    etag = client.get(path).headers["ETag"]
    unchanged = client.get(path, headers={"If-None-Match": etag})
    assert (unchanged.status_code, unchanged.content, unchanged.headers["ETag"]) == (304, b"", etag)
    assert unchanged.headers["Cache-Control"] == "private, no-cache"
    changed = client.patch(path, {"title": "B"}, content_type="application/json", headers={"If-Match": etag})
    assert (changed.status_code, changed.json()["title"]) == (200, "B")
    assert client.get(path, headers={"If-None-Match": etag}).status_code == 200
    problem_of(client.get(path, headers={"If-Match": etag}), 412)
    content = f"/api/v1/attachments/{make_attachment(owner).pk}/content/"
    problem_of(client.get(content, headers={"If-Match": etag}), 412)
    problem_of(client.patch(path, {"title": "C"}, content_type="application/json", headers={"If-Match": etag}), 412)
    problem_of(client.delete(path, headers={"If-Match": etag}), 412)
    assert client.get(path).json()["title"] == "B"
    assert client.delete(path, headers={"If-Match": changed.headers["ETag"]}).status_code == 204
    problem_of(client.get(path), 404)


def test_responses_have_headers_that_prevent_caching(client: Client) -> None:
    response = client.get(LIST)
    assert response.headers["Cache-Control"] == "no-store"
    assert {"Authorization", "Cookie"} <= set(response.headers["Vary"].split(", "))


def test_every_problem_type_has_a_status_and_an_explanation() -> None:
    for problem_type in ProblemType:
        response = Problem(problem_type, "A sentence.").response()
        assert response.status_code == problem_type.status
        assert problem_type.meaning.endswith(".")
