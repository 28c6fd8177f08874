"""Access control of every call of the API: only the owner may read and write.

If a call of the URL configuration is not listed here, a test fails.
"""

from __future__ import annotations

import itertools
import json
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import AsyncClient, Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from attachments.models import Attachment
from chat.api.urls import calls
from chat.models import ApiToken, Conversation, NewerFileRun, Project, Share, Turn, TurnEvent, User
from chat.models.projects import add_files
from tests.cases import undone
from tests.factories import make_attachment, make_conversation, make_graph, make_model_message, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.no_rerun]

STATUSES = {
    "conversations/": {"get": 200, "post": 201},
    "conversations/<uuid:conversation_id>/": {"get": 200, "patch": 200, "delete": 204},
    "conversations/<uuid:conversation_id>/messages/": {"get": 200},
    "conversations/<uuid:conversation_id>/shares/": {"get": 200, "post": 201},
    "projects/": {"get": 200, "post": 201},
    "projects/<uuid:project_id>/": {"get": 200, "patch": 200, "delete": 204},
    "projects/<uuid:project_id>/files/": {"post": 200},
    "projects/<uuid:project_id>/files/<uuid:attachment_id>/": {"delete": 204},
    "shares/<uuid:share_id>/": {"delete": 204},
    "conversations/<uuid:conversation_id>/turns/": {"post": 503},
    "conversations/<uuid:conversation_id>/export/<slug:format>/": {"get": 503},
    "conversations/<uuid:conversation_id>/session/": {"get": 200},
    "conversations/<uuid:conversation_id>/session/files/<path:name>": {"get": 503},
    "conversations/<uuid:conversation_id>/session/files/<path:name>/": {"get": 503},
    "conversations/<uuid:conversation_id>/session/interrupt/": {"post": 503},
    "conversations/<uuid:conversation_id>/session/restart/": {"post": 503},
    "conversations/<uuid:conversation_id>/session/close/": {"post": 503},
    "conversations/<uuid:conversation_id>/session/keep/": {"post": 409},
    "conversations/<uuid:conversation_id>/session/replay/": {"post": 503},
    "conversations/<uuid:conversation_id>/session/run/": {"post": 503},
    "conversations/<uuid:conversation_id>/newer-files/": {"get": 200, "post": 503},
    "newer-files/<uuid:run_id>/": {"get": 200, "delete": 204},
    "messages/<uuid:message_id>/parts/<int:index>/rerun/": {"post": 503},
    "messages/<uuid:message_id>/parts/<int:index>/rerun/stop/": {"post": 503},
    "messages/<uuid:message_id>/files/<path:name>/keep/": {"post": 503},
    "messages/<uuid:message_id>/numbers/": {"get": 503},
    "messages/<uuid:message_id>/feedback/": {"put": 200, "delete": 204},
    "turns/<uuid:turn_id>/": {"get": 200},
    "turns/<uuid:turn_id>/stop/": {"post": 200},
    "turns/<uuid:turn_id>/approval/": {"post": 503},
    "turns/<uuid:turn_id>/events/": {"get": 503},
    "attachments/": {"post": 415},
    "attachments/<uuid:attachment_id>/": {"get": 200},
    "attachments/<uuid:attachment_id>/content/": {"get": 200},
    "attachments/<uuid:attachment_id>/table/": {"get": 503, "patch": 503},
    "export/": {"get": 503},
    "import/": {"post": 422},
    "limits/": {"get": 200},
}
"""Route -> method -> status of the owner's call under WSGI. Calls with status 503 need ASGI."""
METHODS = ("get", "post", "put", "patch", "delete")
FILE_ID = uuid.UUID("00000000-0000-4000-8000-00000000f11e")
"""A table of the owner that is in no project."""
BODIES: dict[str, dict[str, object]] = {
    "attachments/<uuid:attachment_id>/table/": {"reading": {"delimiter": ";"}},
    "projects/": {"name": "A project"},
    "projects/<uuid:project_id>/files/": {"attachment": str(FILE_ID)},
    "conversations/<uuid:conversation_id>/turns/": {"text": "Hello"},
    "conversations/<uuid:conversation_id>/session/run/": {"code": "1 + 1"},
    "conversations/<uuid:conversation_id>/newer-files/": {"replaced": str(FILE_ID), "newer": str(FILE_ID)},
    "messages/<uuid:message_id>/feedback/": {"is_good": False},
    "turns/<uuid:turn_id>/approval/": {"id": "call-1", "decision": "deny"},
}


@dataclass(frozen=True)
class OwnedRows:
    """A user and a conversation of this user, which has a graph."""

    owner: User
    conversation: Conversation
    turn: Turn
    graph: Attachment
    share: Share
    project: Project
    run: NewerFileRun

    def path(self, route: str, *, absent: bool = False) -> str:
        """Return the path of a route with the ids of these rows, or with unknown ids if `absent`."""
        ids = {
            "conversation": self.conversation,
            "message": self.turn.message,
            "turn": self.turn,
            "attachment": self.graph,
            "share": self.share,
            "project": self.project,
            "run": self.run,
        }
        if route.endswith("/table/") and not absent:
            route = route.replace("<uuid:attachment_id>", str(FILE_ID))
        for name, row in ids.items():
            route = route.replace(f"<uuid:{name}_id>", str(uuid.uuid4() if absent else row.pk))
        for placeholder, value in {"<slug:format>": "json", "<str:name>": "out.csv", "<int:index>": "0"}.items():
            route = route.replace(placeholder, value)
        return f"/api/v1/{route}"


@pytest.fixture
def rows(owner: User) -> OwnedRows:
    """A conversation of the owner."""
    message = make_model_message(make_conversation(owner, title="Secret plans"))
    # The factory does not write a complete log. Without one, the event stream is made from the parts.
    TurnEvent.objects.all().delete()
    graph = make_graph(message, part_index=0)
    project = Project.objects.start(owner.pk, name="Secret project")
    add_files(project, [graph])
    table = make_attachment(owner, id=str(FILE_ID))
    share = Share.objects.issue(message.conversation)
    run = NewerFileRun.objects.create(conversation=message.conversation, replaced=graph, newer=table)
    return OwnedRows(owner, message.conversation, message.turn, graph, share, project, run)


def call(
    client: Client, route: str, method: str, path: str, headers: dict[str, str] | None = None
) -> tuple[int, bytes]:
    """Make a call and return its status and body."""
    body = {} if method == "get" else {"data": json.dumps(BODIES.get(route, {})), "content_type": "application/json"}
    response = getattr(client, method)(path, headers=headers, **body)
    return response.status_code, response.content


def bearer(secret: str) -> dict[str, str]:
    """Return the header with a token."""
    return {"Authorization": f"Bearer {secret}"}


def invalid_tokens(owner: User) -> Sequence[str]:
    """Return tokens that are malformed, unknown, expired, revoked, or of a deactivated user."""
    expired, expired_secret = ApiToken.objects.issue(owner.pk, name="old", life=timedelta(days=1))
    ApiToken.objects.filter(pk=expired.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    revoked, revoked_secret = ApiToken.objects.issue(owner.pk, name="revoked", life=None)
    revoked.revoke()
    deactivated = make_user("deactivated")
    _, deactivated_secret = ApiToken.objects.issue(deactivated.pk, name="token", life=None)
    User.objects.filter(pk=deactivated.pk).update(is_active=False)
    return (
        "",
        "plt_",
        "é",
        "plt_" + "A" * 43,
        f"{revoked_secret} x",
        expired_secret,
        revoked_secret,
        deactivated_secret,
    )


def test_expected_statuses_of_these_tests_list_every_call_of_the_api() -> None:
    assert {str(call.pattern) for call in calls} == set(STATUSES)


def signed_in(user: User) -> Client:
    """Return a client in which the user is logged in."""
    client = Client()
    client.force_login(user)
    return client


def test_only_the_owner_of_a_row_can_make_api_calls_about_it(rows: OwnedRows) -> None:
    deactivated = signed_in(make_user("deactivated"))
    User.objects.filter(username="deactivated").update(is_active=False)
    strangers = [signed_in(make_user("other")), signed_in(make_user("staff", is_staff=True, is_superuser=True))]
    _, secret = ApiToken.objects.issue(rows.owner.pk, name="mine", life=None)
    for route, method in itertools.product(STATUSES, METHODS):
        with undone():
            case, path, expected = f"{method} {route}", rows.path(route), STATUSES[route].get(method, 405)
            assert call(Client(), route, method, path)[0] == 401, case
            assert call(deactivated, route, method, path)[0] == 401, case
            for stranger in strangers:
                response = call(stranger, route, method, path)
                if "<uuid" in route and expected != 405:
                    assert response[0] == 404, case
                    assert response == call(stranger, route, method, rows.path(route, absent=True)), case
                else:
                    assert response[0] == expected, case
            assert call(Client(), route, method, path, bearer(secret))[0] == expected, case


def test_invalid_token_is_refused_even_with_a_session(rows: OwnedRows) -> None:
    client = signed_in(rows.owner)
    for secret in invalid_tokens(rows.owner):
        for route, methods in STATUSES.items():
            for method in methods:
                assert call(client, route, method, rows.path(route), bearer(secret))[0] == 401, secret
    assert Client().get("/api/v1/conversations/", headers={"Authorization": "Basic ZGVtbzpkZW1v"}).status_code == 401


@pytest.mark.parametrize(
    "credentials", ["Basic ZGVtbzpkZW1v", "Bearer eyJhbGciOiJSUzI1NiJ9.e30.c2ln", "Negotiate YII="]
)
def test_token_can_be_sent_in_another_header_than_the_credentials_of_a_proxy(rows: OwnedRows, credentials: str) -> None:
    _, secret = ApiToken.objects.issue(rows.owner.pk, name="mine", life=None)
    basic = {"Authorization": credentials}
    assert Client().get("/api/v1/conversations/", headers=basic).status_code == 401
    assert signed_in(rows.owner).get("/api/v1/conversations/", headers=basic).status_code == 200
    for key, status in ((secret, 200), ("plt_" + "A" * 43, 401), ("", 401)):
        assert Client().get("/api/v1/conversations/", headers={**basic, "X-API-Key": key}).status_code == status
    other = make_user("other")
    _, secret = ApiToken.objects.issue(other.pk, name="theirs", life=None)
    bearers = Client().get("/api/v1/conversations/", headers={**bearer(secret), "X-API-Key": "plt_x"})
    assert bearers.status_code == 200


def test_response_with_status_401_names_the_authentication_scheme() -> None:
    response = Client().get("/api/v1/conversations/")
    assert response.headers["WWW-Authenticate"] == 'Bearer realm="Plotline"'
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.json()["status"] == 401


def test_number_of_queries_does_not_reveal_whether_a_row_exists(rows: OwnedRows) -> None:
    client = signed_in(make_user("other"))
    for route in [route for route in STATUSES if "<uuid" in route]:
        counts = []
        for absent in (False, True):
            with undone(), CaptureQueriesContext(connection) as queries:
                call(client, route, next(iter(STATUSES[route])), rows.path(route, absent=absent))
            counts.append(len(queries))
        assert counts[0] == counts[1], route


def test_api_write_with_a_session_cookie_needs_a_csrf_token(rows: OwnedRows) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(rows.owner)
    assert client.get("/api/v1/conversations/").status_code == 200
    refused = client.post("/api/v1/conversations/", "{}", content_type="application/json")
    assert (refused.status_code, refused.json()["title"]) == (403, "Forbidden")
    _, secret = ApiToken.objects.issue(rows.owner.pk, name="mine", life=None)
    path = "/api/v1/conversations/"
    assert client.post(path, "{}", content_type="application/json", headers=bearer(secret)).status_code == 201


@pytest.mark.django_db(transaction=True)
async def test_event_streams_and_exports_give_no_content_to_other_users(rows: OwnedRows) -> None:
    # test_sessions.py, test_tables.py and test_numbers.py check access to these calls, whose results take time.
    others = re.compile("/session/|/table/|/numbers/")
    routes = [route for route, methods in STATUSES.items() if methods.get("get") == 503 and not others.search(route)]
    paths = [rows.path(route) for route in routes]
    assert len(paths) == 3
    owner, other = AsyncClient(), AsyncClient()
    await owner.aforce_login(rows.owner)
    await other.aforce_login(await User.objects.acreate(username="other"))
    for path in paths:
        response: Any = await owner.get(path)
        assert response.status_code == 200
        assert b"".join([block async for block in response.streaming_content])
        assert (await AsyncClient().get(path)).status_code == 401
        foreign: Any = await other.get(path)
        if path == "/api/v1/export/":
            assert b"Secret" not in b"".join([block async for block in foreign.streaming_content])
        else:
            assert foreign.status_code == 404
