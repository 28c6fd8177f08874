"""Every call of the API, by everybody: who is not let in, and who sees nothing of what is another's.

The calls are those of the URL configuration; one that is not listed here fails.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import AsyncClient, Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from attachments.models import Attachment
from chat.api.urls import calls
from chat.models import ApiToken, Conversation, Turn, TurnEvent
from tests.factories import make_conversation, make_graph, make_model_message, make_user

pytestmark = pytest.mark.django_db

#: What each method answers to the owner; 503: only the ASGI server does that, see below.
OWNER = {
    "conversations/": {"get": 200, "post": 201},
    "conversations/<uuid:conversation_id>/": {"get": 200, "patch": 200, "delete": 204},
    "conversations/<uuid:conversation_id>/messages/": {"get": 200},
    "conversations/<uuid:conversation_id>/turns/": {"post": 503},
    "conversations/<uuid:conversation_id>/export/<slug:format>/": {"get": 503},
    "messages/<uuid:message_id>/feedback/": {"put": 200, "delete": 204},
    "turns/<uuid:turn_id>/": {"get": 200},
    "turns/<uuid:turn_id>/stop/": {"post": 200},
    "turns/<uuid:turn_id>/events/": {"get": 503},
    "attachments/": {"post": 415},
    "attachments/<uuid:attachment_id>/": {"get": 200},
    "attachments/<uuid:attachment_id>/content/": {"get": 200},
    "export/": {"get": 503},
    "import/": {"post": 422},
}
METHODS = ("get", "post", "put", "patch", "delete")
BODIES = {
    "conversations/<uuid:conversation_id>/turns/": {"text": "Hello"},
    "messages/<uuid:message_id>/feedback/": {"is_good": False},
}
CASES = [(route, method) for route in OWNER for method in METHODS]


@dataclass(frozen=True)
class World:
    """An owner with a conversation that holds a graph."""

    owner: User
    conversation: Conversation
    turn: Turn
    graph: Attachment

    def path(self, route: str, *, absent: bool = False) -> str:
        """Of the owner's things, or of none."""
        rows = {
            "conversation": self.conversation,
            "message": self.turn.message,
            "turn": self.turn,
            "attachment": self.graph,
        }
        for name, row in rows.items():
            route = route.replace(f"<uuid:{name}_id>", str(uuid.uuid4() if absent else row.pk))
        return "/api/v1/" + route.replace("<slug:format>", "json")


@pytest.fixture
def world() -> World:
    owner = make_user("owner")
    message = make_model_message(make_conversation(owner, title="Secret plans"))
    # What the factory leaves there is no log of this answer: it is told from its parts.
    TurnEvent.objects.all().delete()
    return World(owner, message.conversation, message.turn, make_graph(message, part_index=0))


def answer(
    client: Client, route: str, method: str, path: str, headers: dict[str, str] | None = None
) -> tuple[int, bytes]:
    """Status and body of one call."""
    sent = {} if method == "get" else {"data": json.dumps(BODIES.get(route, {})), "content_type": "application/json"}
    response = getattr(client, method)(path, headers=headers, **sent)
    return response.status_code, response.content


def bearer(secret: str) -> dict[str, str]:
    """The header."""
    return {"Authorization": f"Bearer {secret}"}


def secrets_that_let_nobody_in(owner: User) -> Sequence[str]:
    """Tokens that are none, expired, revoked, or of who was deactivated."""
    expired, expired_secret = ApiToken.objects.issue(owner.pk, name="old", life=timedelta(days=1))
    ApiToken.objects.filter(pk=expired.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    revoked, revoked_secret = ApiToken.objects.issue(owner.pk, name="revoked", life=None)
    revoked.revoke()
    gone = make_user("gone")
    _, gone_secret = ApiToken.objects.issue(gone.pk, name="gone", life=None)
    User.objects.filter(pk=gone.pk).update(is_active=False)
    return ("", "plt_", "é", "plt_" + "A" * 43, f"{revoked_secret} x", expired_secret, revoked_secret, gone_secret)


def test_every_call_is_listed() -> None:
    assert {str(call.pattern) for call in calls} == set(OWNER)


@pytest.mark.parametrize(("route", "method"), CASES)
def test_each_person_gets_what_is_theirs(world: World, route: str, method: str) -> None:
    path = world.path(route)
    assert answer(Client(), route, method, path)[0] == 401
    sleeper = Client()
    sleeper.force_login(make_user("sleeper"))
    User.objects.filter(username="sleeper").update(is_active=False)
    assert answer(sleeper, route, method, path)[0] == 401
    expected = OWNER[route].get(method, 405)
    for stranger in (make_user("other"), make_user("staff", is_staff=True, is_superuser=True)):
        client = Client()
        client.force_login(stranger)
        seen = answer(client, route, method, path)
        if "<uuid" in route and expected != 405:
            assert seen[0] == 404
            assert seen == answer(client, route, method, world.path(route, absent=True))
        else:
            assert seen[0] == expected
    _, secret = ApiToken.objects.issue(world.owner.pk, name="mine", life=None)
    assert answer(Client(), route, method, path, bearer(secret))[0] == expected


def test_tokens_that_let_nobody_in(world: World) -> None:
    signed_in = Client()
    signed_in.force_login(world.owner)
    for secret in secrets_that_let_nobody_in(world.owner):
        for route, methods in OWNER.items():
            for method in methods:
                # Nor does a session help whoever shows a wrong token.
                assert answer(signed_in, route, method, world.path(route), bearer(secret))[0] == 401, secret
    assert Client().get("/api/v1/conversations/", headers={"Authorization": "Basic ZGVtbzpkZW1v"}).status_code == 401


def test_refusals_say_how_to_come_in() -> None:
    response = Client().get("/api/v1/conversations/")
    assert response.headers["WWW-Authenticate"] == 'Bearer realm="Plotline"'
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.json()["status"] == 401


@pytest.mark.parametrize("route", [route for route in OWNER if "<uuid" in route])
def test_foreign_and_absent_cost_the_same(world: World, route: str) -> None:
    client = Client()
    client.force_login(make_user("other"))
    method = next(iter(OWNER[route]))
    counts = []
    for absent in (False, True):
        with CaptureQueriesContext(connection) as queries:
            answer(client, route, method, world.path(route, absent=absent))
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_session_needs_a_csrf_token_where_something_changes(world: World) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.owner)
    assert client.get("/api/v1/conversations/").status_code == 200
    refused = client.post("/api/v1/conversations/", "{}", content_type="application/json")
    assert (refused.status_code, refused.json()["title"]) == (403, "Forbidden")
    _, secret = ApiToken.objects.issue(world.owner.pk, name="mine", life=None)
    path = "/api/v1/conversations/"
    assert client.post(path, "{}", content_type="application/json", headers=bearer(secret)).status_code == 201


@pytest.mark.django_db(transaction=True)
async def test_streams_and_exports_are_their_owners_alone(world: World) -> None:
    paths = [world.path(route) for route, methods in OWNER.items() if methods.get("get") == 503]
    assert len(paths) == 3
    owner, other = AsyncClient(), AsyncClient()
    await owner.aforce_login(world.owner)
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
