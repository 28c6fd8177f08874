"""What is refused, and how it is said: RFC 9457, one sentence for each, nothing changed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from pytest_django import Settings

from chat.api.problems import KINDS, Problem, response_of
from chat.models import Conversation
from tests.factories import make_attachment, make_conversation, make_user

pytestmark = pytest.mark.django_db
LIST = "/api/v1/conversations/"


@pytest.fixture
def owner() -> User:
    return make_user()


@pytest.fixture
def client(owner: User) -> Client:
    client = Client()
    client.force_login(owner)
    return client


def problem(response: Any, status: int) -> dict[str, Any]:  # noqa: ANN401 - Django's test responses
    """The problem of a response of that status, which is whole."""
    assert response.status_code == status, response.content
    assert response.headers["Content-Type"] == "application/problem+json"
    said: dict[str, Any] = response.json()
    assert said["status"] == status
    kind = KINDS[said["type"].removeprefix("/api/docs/#problem-")]
    assert (said["title"], kind.status) == (kind.title, status)
    assert said["detail"].endswith((".", "”."))
    return said


MALFORMED = [b"{", b"", b"[1, NaN]", b'{"title": Infinity}', b"\xff", b"[" * 100_000, b'{"a": 1}}', b"{'title': 1}"]


@pytest.mark.parametrize("body", MALFORMED, ids=[repr(body[:12]) for body in MALFORMED])
def test_what_is_no_json_is_malformed(client: Client, body: bytes) -> None:
    response = client.post(LIST, body, content_type="application/json")
    if body:
        assert problem(response, 400)["title"] == "Malformed"
    else:
        # Everything may be left out.
        assert response.status_code == 201


REFUSED = [
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


@pytest.mark.parametrize(("body", "field"), REFUSED)
def test_fields_that_are_refused_are_named(client: Client, body: Any, field: str) -> None:  # noqa: ANN401 - any JSON
    said = problem(client.post(LIST, json.dumps(body), content_type="application/json"), 400)
    assert list(said["errors"]) == [field]
    assert all(sentence.endswith(".") for sentence in said["errors"][field])
    assert not Conversation.objects.exists()


@pytest.mark.parametrize(
    "query",
    ["archived=yes", "limit=0", "limit=101", "limit=-1", "limit=1.0", "cursor=x", "sort=title", "q=" + "x" * 201],
)
def test_parameters_that_are_refused_are_named(client: Client, query: str) -> None:
    assert list(problem(client.get(f"{LIST}?{query}"), 400)["errors"]) == [query.partition("=")[0]]


QUESTIONS = [
    ({}, "text"),
    ({"text": "  \n"}, "text"),
    ({"text": "Hello", "attachments": "x"}, "attachments"),
    ({"text": "Hello", "attachments": ["x"]}, "attachments"),
    ({"text": "Hello", "attachments": ["e5a5bb2e-7f6f-4ba9-8c3c-5b1a34a4d1b1"] * 11}, "attachments"),
    ({"text": "Hello", "client_id": "x"}, "client_id"),
    ({"text": "é" * 140_000}, "text"),
]


@pytest.mark.parametrize(("body", "field"), QUESTIONS, ids=range(len(QUESTIONS)))
def test_questions_that_are_refused(client: Client, owner: User, body: dict[str, Any], field: str) -> None:
    path = f"{LIST}{make_conversation(owner).pk}/turns/"
    assert list(problem(client.post(path, body, content_type="application/json"), 400)["errors"]) == [field]


def test_long_key_is_refused(client: Client, owner: User) -> None:
    path, headers = f"{LIST}{make_conversation(owner).pk}/turns/", {"Idempotency-Key": "k" * 65}
    said = problem(client.post(path, {"text": "Hello"}, content_type="application/json", headers=headers), 400)
    assert "64 characters" in said["detail"]


def test_unknown_model_is_refused(client: Client, owner: User, settings: Settings) -> None:
    settings.GEMINI_EMULATED = False
    conversation = make_conversation(owner)
    for method, path in (("post", LIST), ("patch", f"{LIST}{conversation.pk}/")):
        response = getattr(client, method)(path, {"model": "no-such"}, content_type="application/json")
        assert list(problem(response, 422)["errors"]) == ["model"]


def test_methods_that_there_are_not_name_those_that_there_are(client: Client) -> None:
    response = client.put(LIST, "{}", content_type="application/json")
    problem(response, 405)
    assert response.headers["Allow"] == "GET, POST, HEAD, OPTIONS"
    options = client.options(LIST)
    assert (options.status_code, options.headers["Allow"], options.content) == (204, "GET, POST, HEAD, OPTIONS", b"")


def test_head_says_what_get_would(client: Client, owner: User) -> None:
    path = f"{LIST}{make_conversation(owner).pk}/"
    asked, headed = client.get(path), client.head(path)
    assert (headed.status_code, headed.content) == (200, b"")
    assert headed.headers["ETag"] == asked.headers["ETag"]


def test_bodies_of_other_types_are_refused(client: Client) -> None:
    problem(client.post(LIST, {"title": "A"}), 415)
    problem(client.post("/api/v1/attachments/", "{}", content_type="application/json"), 415)


@pytest.mark.parametrize(
    "path", ["/api/v1/nothing/", "/api/v1/conversations", "/api/v1/conversations/1/", "/api/v2/", "/api/v1/turns/"]
)
def test_addresses_that_there_are_not(client: Client, path: str) -> None:
    for method in ("get", "post", "delete"):
        said = problem(getattr(Client(enforce_csrf_checks=True), method)(path), 404)
        assert ("slash" in said["detail"]) is not path.endswith("/")


def test_too_much_is_refused_before_it_is_read(client: Client) -> None:
    said = problem(client.post(LIST, b'"' + b"x" * 2**21 + b'"', content_type="application/json"), 413)
    assert "2 MB" in said["detail"]
    path = "/api/v1/attachments/"
    said = problem(client.post(path, {"file": SimpleUploadedFile("a.txt", b"x")}, CONTENT_LENGTH="99999999"), 413)
    assert "15.1 MB" in said["detail"]


def test_uploads_that_are_refused(client: Client, settings: Settings) -> None:
    path = "/api/v1/attachments/"
    assert problem(client.post(path, {"file": "text"}), 400)["errors"]
    assert problem(client.post(path, {}), 400)["errors"]
    assert list(problem(client.post(path, {"file": SimpleUploadedFile("a", b"x"), "x": "1"}), 400)["errors"]) == ["x"]
    assert list(problem(client.post(path, {"file": SimpleUploadedFile("a.exe", b"MZ\0\0")}), 422)["errors"]) == ["file"]
    settings.UPLOAD_LIMIT_BYTES = 3
    problem(client.post(path, {"file": SimpleUploadedFile("a.txt", b"four")}), 413)
    problem(client.post("/api/v1/import/", {"file": SimpleUploadedFile("a.json", b"{}")}), 422)


def test_who_calls_too_often_is_told_when_to_come_back(client: Client, settings: Settings) -> None:
    settings.API_CALLS_PER_MINUTE = 3
    assert [client.get(LIST).status_code for _ in range(3)] == [200] * 3
    refused = client.get(LIST)
    problem(refused, 429)
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    # Others are not held up.
    other = Client()
    other.force_login(make_user())
    assert other.get(LIST).status_code == 200


def test_writes_have_a_limit_of_their_own(client: Client, settings: Settings) -> None:
    settings.API_WRITES_PER_MINUTE = 1
    assert client.post("/api/v1/import/", b"x", content_type="application/zip").status_code == 422
    problem(client.post("/api/v1/attachments/", {}), 429)
    assert client.get(LIST).status_code == 200


def test_conversation_that_has_not_changed_is_not_sent_again(client: Client, owner: User) -> None:
    path = f"{LIST}{make_conversation(owner, title='A').pk}/"
    tag = client.get(path).headers["ETag"]
    unchanged = client.get(path, headers={"If-None-Match": tag})
    assert (unchanged.status_code, unchanged.content, unchanged.headers["ETag"]) == (304, b"", tag)
    assert unchanged.headers["Cache-Control"] == "private, no-cache"
    changed = client.patch(path, {"title": "B"}, content_type="application/json", headers={"If-Match": tag})
    assert (changed.status_code, changed.json()["title"]) == (200, "B")
    assert client.get(path, headers={"If-None-Match": tag}).status_code == 200
    problem(client.get(path, headers={"If-Match": tag}), 412)
    content = f"/api/v1/attachments/{make_attachment(owner).pk}/content/"
    problem(client.get(content, headers={"If-Match": tag}), 412)
    problem(client.patch(path, {"title": "C"}, content_type="application/json", headers={"If-Match": tag}), 412)
    problem(client.delete(path, headers={"If-Match": tag}), 412)
    assert client.get(path).json()["title"] == "B"
    assert client.delete(path, headers={"If-Match": changed.headers["ETag"]}).status_code == 204
    problem(client.get(path), 404)


def test_answers_are_nobody_elses(client: Client) -> None:
    response = client.get(LIST)
    assert response.headers["Cache-Control"] == "no-store"
    assert {"Authorization", "Cookie"} <= set(response.headers["Vary"].split(", "))


def test_every_kind_of_problem_has_its_words() -> None:
    for name, kind in KINDS.items():
        response: HttpResponse = response_of(Problem(name, "A sentence."))
        assert response.status_code == kind.status
        assert kind.meaning.endswith(".")
