"""The admin's rows: staff look and change nothing, whole conversations and people are deleted, logins are counted.

Review itself is tested in tests/chat/admin.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from attachments.models import Attachment
from chat.models import Conversation, Message, MessageAttachment, Part, Turn, TurnEvent
from chat.parts import PartKind
from tests.factories import make_conversation, make_graph, make_model_message, make_user, make_user_message

pytestmark = pytest.mark.django_db

REVIEWED = (Conversation, Message, Part, MessageAttachment, Turn, TurnEvent)


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def superuser() -> Client:
    return client_of(make_user("boss", is_staff=True, is_superuser=True))


@pytest.fixture
def reviewer() -> Client:
    """Staff in the group of reviewers."""
    user = make_user("reviewer", is_staff=True)
    user.groups.add(Group.objects.get(name="Reviewer"))
    return client_of(user)


@pytest.fixture
def conversation() -> Conversation:
    conversation = make_conversation(title="Primes")
    make_user_message(conversation, "Draw them, please.")
    message = make_model_message(
        conversation,
        parts=[
            (PartKind.TEXT, "Here **they** are."),
            (PartKind.EXECUTABLE_CODE, "print(2)"),
            (PartKind.CODE_EXECUTION_RESULT, "2\n"),
        ],
    )
    make_graph(message, part_index=2)
    return conversation


def path_of(model: type, page: str = "", pk: object = "") -> str:
    return f"/admin/chat/{model.__name__.lower()}/{f'{pk}/{page}/' if pk else ''}"


def queries_of(client: Client, path: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(path).status_code == 200
    return len(queries)


def fill(conversation: Conversation) -> None:
    for _ in range(5):
        make_graph(make_model_message(conversation), part_index=0)
        make_model_message(make_conversation(), status=Turn.Status.FAILED, error_code="overloaded")


@pytest.mark.parametrize("model", REVIEWED)
def test_every_model_has_its_pages(superuser: Client, conversation: Conversation, model: type) -> None:
    row = model._default_manager.first()  # type: ignore[attr-defined]
    assert superuser.get(path_of(model)).status_code == 200
    assert superuser.get(path_of(model, "change", row.pk)).status_code == 200
    assert superuser.get(path_of(model, "history", row.pk)).status_code == 200
    assert superuser.get(path_of(model), {"q": "primes"}).status_code == 200
    assert superuser.get(path_of(model), {"q": str(row.pk)}).status_code == 200


@pytest.mark.parametrize("model", REVIEWED[1:])
def test_every_filter_of_a_list_works(superuser: Client, conversation: Conversation, model: type) -> None:
    filters = superuser.get(path_of(model)).context["cl"].filter_specs
    for spec in filters:
        for choice in spec.choices(superuser.get(path_of(model)).context["cl"]):
            assert superuser.get(path_of(model) + choice["query_string"]).status_code == 200


@pytest.mark.parametrize("model", REVIEWED)
def test_lists_and_pages_take_the_same_queries_whatever_they_show(
    superuser: Client, conversation: Conversation, model: type
) -> None:
    row = model._default_manager.first()  # type: ignore[attr-defined]
    paths = [path_of(model), path_of(model, "change", row.pk)]
    fill(conversation)
    superuser.get(paths[1])  # the first reading is written down
    few = [queries_of(superuser, path) for path in paths]
    fill(conversation)
    assert [queries_of(superuser, path) for path in paths] == few


@pytest.mark.parametrize("model", REVIEWED)
def test_nobody_adds_or_changes_what_the_product_wrote(
    superuser: Client, reviewer: Client, conversation: Conversation, model: type
) -> None:
    row = model._default_manager.first()  # type: ignore[attr-defined]
    for client in (superuser, reviewer):
        assert client.get(f"{path_of(model)}add/").status_code == 403
        assert client.post(f"{path_of(model)}add/").status_code == 403
        assert client.post(path_of(model, "change", row.pk), {"title": "x", "text": "x"}).status_code == 403
        if model is not Conversation:
            assert client.post(path_of(model, "delete", row.pk), {"post": "yes"}).status_code == 403
    assert reviewer.post(path_of(model, "delete", row.pk), {"post": "yes"}).status_code == 403
    assert model._default_manager.filter(pk=row.pk).exists()  # type: ignore[attr-defined]


def test_turns_show_how_they_went(superuser: Client) -> None:
    make_model_message(make_conversation(), status=Turn.Status.FAILED, error_code="overloaded", error_detail="503 busy")
    turn = Turn.objects.get()
    listed = superuser.get(path_of(Turn)).content.decode()
    timings = ('field-first_part_s">2.0<', 'field-duration_s">5.0<')
    for text in ("overloaded", "plotline-demo", 'field-tokens">7<', 'field-events_count">1<', *timings):
        assert text in listed
    assert "503 busy" in superuser.get(path_of(Turn, "change", turn.pk)).content.decode()


# --- deletion


def test_deleting_staff_says_that_what_they_did_is_forgotten(superuser: Client, conversation: Conversation) -> None:
    other = make_user("other", is_staff=True, is_superuser=True)
    path = f"/admin/auth/user/{other.pk}/delete/"
    assert "what they did in the admin" not in superuser.get(path).content.decode()
    client_of(other).post(path_of(Conversation, "delete", conversation.pk), {"post": "yes"})
    assert "lines about what they did in the admin: 1" in superuser.get(path).content.decode().lower()
    assert (
        superuser.post(f"/admin/admin/logentry/{LogEntry.objects.get().pk}/delete/", {"post": "yes"}).status_code == 403
    )
    superuser.post(path, {"post": "yes"})
    assert not LogEntry.objects.filter(user_id=other.pk).exists()


def test_superuser_deletes_whole_conversations(superuser: Client, conversation: Conversation) -> None:
    path = path_of(Conversation, "delete", conversation.pk)
    assert "Primes" in superuser.get(path).content.decode()
    assert superuser.post(path, {"post": "yes"}).status_code == 302
    for model in (*REVIEWED, Attachment):
        assert not model._default_manager.exists()


def test_superuser_deletes_several_conversations_at_once(superuser: Client, conversation: Conversation) -> None:
    kept = make_conversation()
    chosen = [str(conversation.pk), str(make_conversation().pk)]
    data = {"action": "delete_selected", "_selected_action": chosen, "post": "yes"}
    assert superuser.post(path_of(Conversation), data).status_code == 302
    assert list(Conversation.objects.all()) == [kept]
    assert {entry.object_repr for entry in LogEntry.objects.all()} == {f"Conversation {pk[:8]}" for pk in chosen}
    assert not Attachment.objects.exists()


def test_superuser_deletes_a_person_with_all_that_is_theirs(superuser: Client, conversation: Conversation) -> None:
    path = f"/admin/auth/user/{conversation.owner.pk}/delete/"
    assert superuser.get(path).status_code == 200
    assert superuser.post(path, {"post": "yes"}).status_code == 302
    assert not User.objects.filter(pk=conversation.owner.pk).exists()
    for model in (*REVIEWED, Attachment):
        assert not model._default_manager.exists()


# --- login


@pytest.fixture
def quick_logins(settings: Settings) -> Iterator[None]:
    """Hashes that cost nothing, and no tries counted before or after."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    cache.clear()
    yield
    cache.clear()


@pytest.mark.usefixtures("quick_logins")
def test_the_admin_has_its_own_login() -> None:
    make_user("boss", password="a password", is_staff=True, is_superuser=True)
    client = Client()
    wrong = client.post("/admin/login/?next=/admin/", {"username": "boss", "password": "no"})
    assert "Please enter the correct username and password" in wrong.content.decode()
    right = client.post("/admin/login/?next=/admin/", {"username": "boss", "password": "a password"})
    assert (right.status_code, right.headers["Location"]) == (302, "/admin/")
    assert "Plotline" in client.get("/admin/").content.decode()


@pytest.mark.usefixtures("quick_logins")
def test_who_is_no_staff_cannot_log_in_there() -> None:
    make_user("visitor", password="a password")
    response = Client().post("/admin/login/", {"username": "visitor", "password": "a password"})
    assert response.status_code == 200
    assert "staff" in response.content.decode()


@pytest.mark.usefixtures("quick_logins")
@pytest.mark.parametrize(
    ("path", "field"), [("/admin/login/", "username"), ("/accounts/login/", "login")], ids=["admin", "accounts"]
)
def test_tries_are_counted_at_both_doors_together(path: str, field: str) -> None:
    make_user("boss", password="a password", is_staff=True)
    client = Client()
    for _ in range(5):
        client.post("/accounts/login/", {"login": "boss", "password": "no"})
    response = client.post(path, {field: "boss", "password": "a password"})
    assert "Too many failed login attempts" in response.content.decode()


@pytest.mark.usefixtures("quick_logins")
def test_a_staff_member_who_logs_in_often_is_not_locked_out() -> None:
    make_user("boss", password="a password", is_staff=True)
    for _ in range(7):
        response = Client().post("/admin/login/?next=/admin/", {"username": "boss", "password": "a password"})
        assert response.status_code == 302
