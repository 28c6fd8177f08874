"""Users read and write only their own rows, and no response reveals whether a row of another user exists.

A test compares the matrix with the URL configuration, so a new route must be added to it.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest
from django.apps import apps
from django.contrib.auth.models import AnonymousUser, Permission
from django.core.cache import caches
from django.db import connection
from django.http import HttpResponseBase
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, URLResolver, get_resolver
from pytest_django import Settings

from attachments.models import Attachment
from chat.models import (
    AccessEntry,
    ApiToken,
    Conversation,
    EndpointModel,
    ImportJob,
    Instruction,
    LoginSession,
    Message,
    ModelEndpoint,
    NewerFileRun,
    Project,
    PythonSession,
    Quota,
    QuotaUse,
    RunningExport,
    Share,
    SharedCount,
    User,
)
from chat.models.deletion import hide_conversation, restore_conversation
from chat.people.access import (
    NotFound,
    attachments_of,
    conversations_of,
    readable_conversation,
)
from tests.cases import undone
from tests.chat.library.exports.samples import graph_in
from tests.factories import (
    attach,
    make_attachment,
    make_conversation,
    make_graph,
    make_model_message,
    make_user,
)

pytestmark = [pytest.mark.django_db, pytest.mark.no_rerun]

PEOPLE = ("anonymous", "owner", "other", "staff", "superuser")
LOGIN = "login"
"""Outcome: a redirect to the login page."""

Outcome = int | str


@dataclass(frozen=True)
class Route:
    """The response to GET and POST for each of `PEOPLE`, in that order."""

    get: tuple[Outcome, ...]
    post: tuple[Outcome, ...]


def everybody(outcome: Outcome) -> tuple[Outcome, ...]:
    return (outcome,) * len(PEOPLE)


def signed_in(outcome: Outcome) -> tuple[Outcome, ...]:
    return (LOGIN, *everybody(outcome)[1:])


def owner_only(outcome: Outcome) -> tuple[Outcome, ...]:
    return (LOGIN, outcome, 404, 404, 404)


ROUTES = {
    "evidence/": Route(get=everybody(200), post=everybody(405)),
    "evidence/verify_evidence.py": Route(get=everybody(200), post=everybody(405)),
    "": Route(get=signed_in(302), post=signed_in(405)),
    "conversations/": Route(get=signed_in(200), post=signed_in(405)),
    "conversations/states/": Route(get=signed_in(200), post=signed_in(405)),
    "commands/": Route(get=signed_in(200), post=signed_in(405)),
    "c/new/": Route(get=signed_in(405), post=signed_in(302)),
    "c/new/temporary/": Route(get=signed_in(405), post=signed_in(302)),
    "c/<uuid:conversation_id>/keep/": Route(get=signed_in(405), post=owner_only(302)),
    "c/<uuid:conversation_id>/": Route(get=owner_only(200), post=signed_in(405)),
    "c/<uuid:conversation_id>/rename/": Route(get=signed_in(405), post=owner_only(302)),
    "c/<uuid:conversation_id>/settings/": Route(get=signed_in(405), post=owner_only(302)),
    "c/<uuid:conversation_id>/session/": Route(get=owner_only(200), post=signed_in(405)),
    "c/<uuid:conversation_id>/gallery/": Route(get=owner_only(200), post=signed_in(405)),
    "gallery/": Route(get=signed_in(200), post=signed_in(405)),
    "c/<uuid:conversation_id>/read/": Route(get=signed_in(405), post=owner_only(400)),
    "c/<uuid:conversation_id>/marks/": Route(get=signed_in(405), post=owner_only(400)),
    "c/<uuid:conversation_id>/delete/": Route(get=signed_in(405), post=owner_only(302)),
    "c/<uuid:conversation_id>/restore/": Route(get=signed_in(405), post=owner_only(302)),
    "c/<uuid:conversation_id>/messages/<uuid:message_id>/feedback/": Route(get=signed_in(405), post=owner_only(400)),
    # The file of the matrix is a graph, and no table of a question.
    "c/<uuid:conversation_id>/newer-file/<uuid:attachment_id>/": Route(get=signed_in(404), post=signed_in(404)),
    "newer-files/<uuid:run_id>/": Route(get=owner_only(200), post=owner_only(302)),
    "messages/<uuid:message_id>/numbers/": Route(get=owner_only(204), post=signed_in(405)),
    "messages/<uuid:message_id>/text/": Route(get=owner_only(200), post=signed_in(405)),
    # A browser without scripts gets a page that holds the group.
    "messages/<uuid:message_id>/parts/<int:part>/blocks/<int:number>/": Route(get=owner_only(302), post=signed_in(405)),
    "c/<uuid:conversation_id>/export/<slug:format_name>/": Route(get=owner_only(200), post=signed_in(405)),
    "export/": Route(get=signed_in(200), post=signed_in(405)),
    "import/": Route(get=signed_in(200), post=signed_in(400)),
    # A client that does not speak the protocol of uploads is refused.
    "import/uploads/": Route(get=signed_in(405), post=signed_in(412)),
    "import/<uuid:job_id>/": Route(get=owner_only(200), post=signed_in(405)),
    "import/<uuid:job_id>/cancel/": Route(get=signed_in(405), post=owner_only(302)),
    "c/<uuid:conversation_id>/shares/": Route(get=owner_only(200), post=owner_only(200)),
    "projects/": Route(get=signed_in(200), post=signed_in(400)),
    "projects/<uuid:project_id>/": Route(get=owner_only(200), post=owner_only(302)),
    "projects/<uuid:project_id>/conversations/": Route(get=signed_in(405), post=owner_only(302)),
    "projects/<uuid:project_id>/files/": Route(get=signed_in(405), post=owner_only(400)),
    "projects/<uuid:project_id>/files/<uuid:attachment_id>/remove/": Route(get=signed_in(405), post=owner_only(302)),
    "projects/<uuid:project_id>/delete/": Route(get=owner_only(200), post=owner_only(302)),
    "c/<uuid:conversation_id>/move/": Route(get=owner_only(200), post=owner_only(302)),
    "shares/": Route(get=signed_in(200), post=signed_in(405)),
    "shares/<uuid:share_id>/revoke/": Route(get=signed_in(405), post=owner_only(302)),
    "s/<slug:token>/": Route(get=everybody(200), post=everybody(405)),
    "s/<slug:token>/files/<uuid:attachment_id>/": Route(get=everybody(200), post=everybody(405)),
    "s/<slug:token>/continue/": Route(get=signed_in(200), post=signed_in(302)),
    "attachments/": Route(get=everybody(405), post=(401, 400, 400, 400, 400)),
    # Reviewers read the files of a conversation through a view of the admin, which logs the access.
    "attachments/<uuid:attachment_id>/content/": Route(get=owner_only(200), post=everybody(405)),
    "attachments/<uuid:attachment_id>/preview/": Route(get=signed_in(405), post=owner_only(204)),
    "attachments/<uuid:attachment_id>/reading/": Route(get=signed_in(405), post=owner_only(204)),
    "accounts/login/": Route(get=(200, 302, 302, 302, 302), post=(200, 302, 302, 302, 302)),
    "accounts/signup/": Route(get=(200, 302, 302, 302, 302), post=(200, 302, 302, 302, 302)),
    "accounts/logout/": Route(get=(302, 200, 200, 200, 200), post=everybody(302)),
    "accounts/inactive/": Route(get=everybody(200), post=everybody(405)),
    "accounts/reauthenticate/": Route(get=signed_in(200), post=signed_in(200)),
    "accounts/password/change/": Route(get=signed_in(200), post=signed_in(200)),
    "accounts/password/set/": Route(get=signed_in(302), post=signed_in(302)),
    "accounts/": Route(get=signed_in(302), post=signed_in(405)),
    # Without mail, these pages do not exist.
    "accounts/email/": Route(get=everybody(404), post=everybody(404)),
    "accounts/email/confirm/<str:key>/": Route(get=everybody(404), post=everybody(404)),
    "accounts/password/reset/": Route(get=everybody(404), post=everybody(404)),
    "accounts/password/reset/sent/": Route(get=everybody(404), post=everybody(404)),
    "accounts/password/reset/done/": Route(get=everybody(404), post=everybody(404)),
    "accounts/^password/reset/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>[^/]+)/$": Route(
        get=everybody(404), post=everybody(404)
    ),
    "accounts/profile/": Route(get=signed_in(200), post=signed_in(302)),
    "accounts/appearance/": Route(get=signed_in(200), post=signed_in(400)),
    "accounts/defaults/": Route(get=signed_in(200), post=signed_in(400)),
    "accounts/logins/": Route(get=signed_in(200), post=signed_in(405)),
    "accounts/logins/end/": Route(get=signed_in(405), post=signed_in(302)),
    "accounts/logins/<slug:login_id>/end/": Route(get=signed_in(405), post=owner_only(302)),
    "accounts/usage/": Route(get=signed_in(200), post=signed_in(405)),
    # A deletion asks for the password first. The last superuser cannot leave.
    "accounts/delete/": Route(get=signed_in(200), post=(LOGIN, 302, 302, 302, 400)),
    "accounts/delete/keep/": Route(get=signed_in(405), post=signed_in(302)),
    # Changes of the second step lead to a page that asks for the password first.
    "accounts/two-step/": Route(get=signed_in(200), post=signed_in(405)),
    "accounts/two-step/login/": Route(get=everybody(302), post=everybody(302)),
    "accounts/two-step/confirm/": Route(get=signed_in(302), post=signed_in(302)),
    "accounts/two-step/app/": Route(get=signed_in(302), post=signed_in(302)),
    "accounts/two-step/app/remove/": Route(get=signed_in(404), post=signed_in(404)),
    "accounts/two-step/codes/": Route(get=signed_in(404), post=signed_in(405)),
    "accounts/two-step/codes/new/": Route(get=signed_in(302), post=signed_in(302)),
    "accounts/two-step/codes/download/": Route(get=signed_in(404), post=signed_in(404)),
    "accounts/readings/": Route(get=signed_in(200), post=signed_in(405)),
    "accounts/tokens/": Route(get=signed_in(200), post=signed_in(400)),
    "accounts/tokens/after-reset/": Route(get=signed_in(200), post=signed_in(405)),
    "accounts/tokens/revoke/": Route(get=signed_in(405), post=signed_in(302)),
    "accounts/tokens/<int:token_id>/revoke/": Route(get=signed_in(405), post=owner_only(302)),
    "api/schema/": Route(get=everybody(200), post=everybody(405)),
    "api/docs/": Route(get=everybody(200), post=everybody(405)),
    "api/<any_path:rest>": Route(get=everybody(404), post=everybody(404)),
}

ADMIN = "admin/"
API = "api/v1/"
"""Prefix of the routes of the API, whose matrix is in tests/chat/api."""

SHARED = "s/<slug:token>/"
"""Prefix of the routes that anybody with a link may open; tests/chat/library/test_shares.py says what they lead to."""

OPEN_ADMIN = frozenset({"admin/login/", "admin/logout/"})
"""Routes of the admin that users who are not logged in may open."""


def routes(patterns: Sequence[URLPattern | URLResolver], prefix: str = "") -> Iterator[str]:
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, route)
        else:
            yield route


def all_routes() -> list[str]:
    return list(routes(get_resolver().url_patterns))


@dataclass(frozen=True)
class World:
    """An owner with a conversation that contains a graph, and other users."""

    people: dict[str, User | None]
    conversation: Conversation
    message: Message
    graph: Attachment
    token: ApiToken
    share: Share
    project: Project
    job: ImportJob
    run: NewerFileRun
    login: LoginSession
    """Another login of the owner."""
    sessions: dict[str, str]
    """Keys of the sessions of all who are logged in."""

    def client_of(self, person: str) -> Client:
        client = Client()
        if person in self.sessions:
            client.cookies["sessionid"] = self.sessions[person]
        return client

    def path(self, route: str) -> str:
        path = route.replace("<uuid:conversation_id>", str(self.conversation.pk))
        path = path.replace("<uuid:message_id>", str(self.message.pk))
        path = path.replace("<int:part>", "0").replace("<int:number>", "1")
        path = path.replace("<slug:format_name>", "json").replace("<any_path:rest>", "nothing/")
        path = path.replace("<str:key>", "unknown").replace("(?P<key>[^/]+)", "unknown")
        path = path.replace("(?P<uidb36>[0-9A-Za-z]+)", "1").replace("^", "").removesuffix("$")
        path = path.replace("<int:token_id>", str(self.token.pk)).replace("<slug:login_id>", self.login.public_id)
        path = path.replace("<slug:token>", self.share.token).replace("<uuid:share_id>", str(self.share.pk))
        path = path.replace("<uuid:project_id>", str(self.project.pk)).replace("<uuid:job_id>", str(self.job.pk))
        path = path.replace("<uuid:run_id>", str(self.run.pk))
        return "/" + path.replace("<uuid:attachment_id>", str(self.graph.pk))


@pytest.fixture
def world(settings: Settings) -> World:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # the real one is slow on purpose
    owner = make_user("owner", password="a password")
    conversation = make_conversation(owner, title="Secret plans")
    message = make_model_message(conversation)
    people = {
        "anonymous": None,
        "owner": owner,
        "other": make_user("other", password="a password"),
        "staff": make_user("staff", password="a password", is_staff=True),
        "superuser": make_user("superuser", password="a password", is_staff=True, is_superuser=True),
    }
    token, _ = ApiToken.objects.issue(owner.pk, name="theirs", life=None)
    Client().force_login(owner)
    login = LoginSession.objects.get(user=owner)
    graph = graph_in(message, part_index=0)
    project = Project.objects.start(owner.pk, name="Secret project")
    job = ImportJob.objects.create(owner=owner, name="secret.zip", size_bytes=9)
    run = NewerFileRun.objects.create(conversation=conversation, replaced=graph, newer=graph)
    share = Share.objects.issue(conversation)
    sessions = {person: session_of(user) for person, user in people.items() if user is not None}
    return World(people, conversation, message, graph, token, share, project, job, run, login, sessions)


def session_of(user: User) -> str:
    """Log the user in and return the key of the session."""
    client = Client()
    client.force_login(user)
    return client.cookies["sessionid"].value


def outcome_of(response: HttpResponseBase) -> Outcome:
    to_login = response.status_code == 302 and response.headers["Location"].startswith("/accounts/login/?next=")
    return LOGIN if to_login else response.status_code


def state() -> dict[str, list[tuple[object, ...]]]:
    """Return every row of the project's own tables, without leases of downloads, sessions and counts of requests."""
    models = [model for model in apps.get_models() if model is User or model._meta.app_label in ("chat", "attachments")]
    columns = {model: "*" for model in models if model not in (RunningExport, LoginSession, SharedCount)}
    columns[Share] = "id, token, expires_at"
    rows = {}
    with connection.cursor() as cursor:
        for model, selected in columns.items():
            cursor.execute(f'SELECT {selected} FROM "{model._meta.db_table}" ORDER BY 1')
            rows[model.__name__] = cursor.fetchall()
    return rows


# --- the matrix


def test_access_matrix_lists_every_route() -> None:
    assert {route for route in all_routes() if not route.startswith((ADMIN, API))} == set(ROUTES)


def outcomes(world: World, route: str, method: str) -> tuple[Outcome, ...]:
    """Return the response to each of `PEOPLE`. The owner asks last, because their requests change rows."""
    found = {
        person: outcome_of(getattr(world.client_of(person), method)(world.path(route), {"title": "Another"}))
        for person in sorted(PEOPLE, key="owner".__eq__)
    }
    return tuple(found[person] for person in PEOPLE)


def test_get_responds_to_each_person_as_in_the_matrix_and_changes_no_row(world: World) -> None:
    for user in filter(None, world.people.values()):
        make_conversation(user)  # Home creates one for a user who has none.
    before = state()
    for route, expected in ROUTES.items():
        caches["process"].clear()
        assert outcomes(world, route, "get") == expected.get, route
        assert state() == before, route


def test_post_responds_to_each_person_as_in_the_matrix(world: World) -> None:
    for route, expected in ROUTES.items():
        with undone():
            assert outcomes(world, route, "post") == expected.post, route


def test_head_and_options_change_no_row(world: World) -> None:
    for user in filter(None, world.people.values()):
        make_conversation(user)
    before = state()
    for route in ROUTES:
        for person in PEOPLE:
            world.client_of(person).head(world.path(route), {"title": "Another"})
            world.client_of(person).options(world.path(route))
        assert state() == before, route


def test_rows_of_other_users_and_unknown_rows_get_the_same_response_and_queries(world: World) -> None:
    for route in [route for route in ROUTES if "<uuid" in route and not route.startswith(SHARED)]:
        answers: list[tuple[int, bytes, int]] = []
        unknown = re.sub("<uuid:(conversation|project|job|run)_id>", lambda _: str(uuid.uuid4()), route)
        for path in (world.path(route), world.path(unknown)):
            path = path.replace(str(world.graph.pk), str(uuid.uuid4())) if answers else path
            for method in ("get", "post"):
                with undone(), CaptureQueriesContext(connection) as queries:
                    response = getattr(world.client_of("other"), method)(path)
                answers.append((response.status_code, response.content, len(queries)))
        assert answers[:2] == answers[2:], route
        assert 404 in (answers[0][0], answers[1][0]), route


def test_post_without_a_csrf_token_is_refused_and_changes_nothing(world: World) -> None:
    before = state()
    for route, cells in ROUTES.items():
        if cells.post not in (everybody(405), everybody(404)):
            client = world.client_of("owner")
            client.handler.enforce_csrf_checks = True
            assert client.post(world.path(route), {"title": "Another"}).status_code == 403, route
            assert state() == before, route


def test_login_without_a_csrf_token_is_refused() -> None:
    response = Client(enforce_csrf_checks=True).post("/accounts/login/", {"login": "a", "password": "b"})
    assert response.status_code == 403
    assert Client(enforce_csrf_checks=True).post("/admin/login/", {"username": "a"}).status_code == 403


@pytest.mark.parametrize(
    ("referrer", "next_path"),
    [
        ("http://testserver/c/1/?at=2", "/c/1/%3Fat%3D2"),
        ("http://elsewhere.example/c/1/", "/"),
        ("", "/"),
    ],
)
def test_visitor_who_posts_a_form_is_redirected_to_the_login_page_and_then_back(
    client: Client, referrer: str, next_path: str
) -> None:
    response = client.post("/c/new/", headers={"Referer": referrer})
    assert response.headers["Location"] == f"/accounts/login/?next={next_path}"


# --- the admin


def admin_path(route: str) -> str:
    """Return a path of the route, with the ids of existing rows."""
    _, app, model, *_ = f"{route}//".split("/")
    known = {(kind._meta.app_label, kind._meta.model_name): kind for kind in apps.get_models()}
    kind = known.get((app, model))
    first = kind._default_manager.first() if kind else None
    path = route.replace("<path:object_id>", str(first.pk) if first else "1").replace("<path:content_type_id>", "1")
    for placeholder in ("<uuid:conversation_id>", "<int:pk>"):
        path = path.replace(placeholder, str(first.pk) if first else "1")
    path = path.replace("<uuid:attachment_id>", str(Attachment.objects.get().pk))
    app_list = "^(?P<app_label>auth|account|mfa|django_tasks_database|attachments|chat|admin)/$"
    return "/" + path.replace("<id>", "1").replace("(?P<url>.*)$", "anything").replace(app_list, "chat/")


@pytest.mark.parametrize("person", ["anonymous", "owner"])
def test_admin_is_refused_to_users_who_are_not_staff(world: World, person: str) -> None:
    client = world.client_of(person)
    paths = [admin_path(route) for route in all_routes() if route.startswith(ADMIN) and route not in OPEN_ADMIN]
    assert len(paths) > 40
    for path in paths:
        for method in ("get", "post"):
            response = getattr(client, method)(path)
            assert response.status_code == 302, path
            assert response.headers["Location"].startswith("/admin/login/?next="), path


def test_admin_shows_no_rows_to_staff_without_permissions(world: World) -> None:
    client = world.client_of("staff")
    # Django redirects all staff to the index if the row does not exist.
    Instruction.objects.create(pk=1)
    ModelEndpoint.objects.create(name="local", base_url="http://localhost:8000/v1", is_enabled=False)
    EndpointModel.objects.create(endpoint="local", account="a", model="m")
    PythonSession.objects.create(conversation=world.conversation, owner=world.conversation.owner)
    superuser = world.people["superuser"]
    assert superuser is not None
    Quota.objects.create(pk=1, user=superuser)
    QuotaUse.objects.create(pk=1, user=superuser, day="2026-01-31")
    AccessEntry.objects.record(superuser, [world.conversation], AccessEntry.Action.READ)
    paths = [admin_path(route) for route in all_routes() if route.startswith("admin/chat/")]
    assert len(paths) > 20
    for path in paths:
        # A view that accepts only POST checks the method first.
        allowed = (403, 405) if path.endswith(("/verdict/", "/list-models/", "/test/")) else (403,)
        assert client.get(path, follow=True).status_code in allowed, path


def test_staff_who_may_view_conversations_see_the_files_in_them(world: World) -> None:
    staff = world.people["staff"]
    assert staff is not None
    path = f"/admin/chat/conversation/{world.conversation.pk}/files/{world.graph.pk}/"
    absent = f"/admin/chat/conversation/{uuid.uuid4()}/files/{world.graph.pk}/"
    staff.user_permissions.add(Permission.objects.get(codename="view_attachment"))
    assert [world.client_of("staff").get(each).status_code for each in (path, absent)] == [403, 403]
    staff.user_permissions.add(Permission.objects.get(codename="view_conversation"))
    assert [world.client_of("staff").get(each).status_code for each in (path, absent)] == [200, 404]
    # The file must belong to the conversation of the URL.
    elsewhere = f"/admin/chat/conversation/{make_conversation().pk}/files/{world.graph.pk}/"
    assert world.client_of("staff").get(elsewhere).status_code == 404


# --- the module itself


def test_function_conversations_of_returns_only_conversations_of_the_user() -> None:
    mine, _ = make_conversation(), make_conversation()
    assert list(conversations_of(mine.owner)) == [mine]


def test_anonymous_and_deactivated_users_may_read_nothing() -> None:
    conversation = make_conversation()
    user = conversation.owner
    user.is_active = False
    for person in (AnonymousUser(), user):
        assert not conversations_of(person).exists()
        with pytest.raises(NotFound):
            readable_conversation(person, conversation.pk)
        with pytest.raises(NotFound):
            attachments_of(person, [make_attachment(user).pk])


@pytest.mark.parametrize("absent", [uuid.uuid4(), "no id", "", "'; drop table", "1" * 10_000])
def test_invalid_id_raises_not_found_like_an_unknown_id(absent: uuid.UUID | str) -> None:
    conversation = make_conversation()
    with pytest.raises(NotFound):
        readable_conversation(conversation.owner, absent)


def test_attachments_are_returned_in_the_given_order_and_a_foreign_id_raises_not_found() -> None:
    user = make_user()
    first, second = make_attachment(user), make_attachment(user)
    foreign = make_attachment(make_user())
    assert attachments_of(user, [second.pk, first.pk]) == [second, first]
    assert attachments_of(user, []) == []
    for stranger in (foreign.pk, uuid.uuid4()):
        with pytest.raises(NotFound):
            attachments_of(user, [first.pk, stranger])


def test_files_cannot_be_read_once_the_last_conversation_that_shows_them_is_deleted(client: Client) -> None:
    conversation = make_conversation()
    user, message = conversation.owner, make_model_message(conversation)
    unsent = make_attachment(user)
    graph, copied, of_project = (make_graph(message) for _ in range(3))
    attach(make_model_message(make_conversation(user)), copied)
    Project.objects.create(owner=user, name="A project").files.create(attachment=of_project)
    client.force_login(user)
    addresses = [graph.url, f"/api/v1/attachments/{graph.pk}/", f"/api/v1/attachments/{graph.pk}/content/"]
    assert {client.get(address).status_code for address in addresses} == {200}
    hide_conversation(conversation)
    assert {client.get(address).status_code for address in addresses} == {404}
    with pytest.raises(NotFound):
        attachments_of(user, [graph.pk])
    kept = [copied.pk, of_project.pk, unsent.pk]
    assert [file.pk for file in attachments_of(user, kept)] == kept
    restore_conversation(conversation)
    assert client.get(graph.url).status_code == 200
