"""Who may do what in the admin: a matrix of everything that is registered there, for everybody who may come.

It is made from the site's registry and its addresses: a new model, action or door fails until it stands here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model
from django.http import HttpRequest

from chat.models import Conversation
from chat.models.roles import ROLES, load_roles
from tests.chat.admin.people import admin_url, client_of, one_of_each, person
from tests.chat.test_access import all_routes

pytestmark = pytest.mark.django_db

PEOPLE = {"anonymous": "", "user": "", "staff": "", "reviewer": "R", "operator": "O", "superuser": "S"}
"""Staff with a letter stand in the matrix; whoever has none may do nothing."""


@dataclass(frozen=True)
class Rights:
    """Who may what: letters of `PEOPLE`."""

    look: str = "S"
    """List, page and history."""
    add: str = ""
    change: str = ""
    delete: str = ""
    actions: dict[str, str] = field(default_factory=dict)


DELETES = {"delete_selected": "S"}
KEPT = Rights(look="OS", add="OS", change="OS", delete="OS", actions={"delete_selected": "OS"})

MATRIX = {
    "chat.conversation": Rights(
        look="RS",
        delete="S",
        actions={
            "take": "RS",
            "assign": "RS",
            "approve": "RS",
            "flag": "RS",
            "export": "RS",
            "export_results": "RS",
            "try_storage_again": "S",  # and an operator who is a reviewer too
            "delete_selected": "S",
        },
    ),
    "chat.message": Rights(),
    "chat.part": Rights(),
    "chat.messageattachment": Rights(),
    "chat.turnevent": Rights(),
    "chat.turn": Rights(look="OS"),
    "chat.accessentry": Rights(),
    "chat.languagemodel": KEPT,
    "chat.preset": KEPT,
    # There is one at most: none can be added beside it.
    "chat.instruction": Rights(look="OS", change="OS", delete="OS", actions={"delete_selected": "OS"}),
    "attachments.attachment": Rights(look="OS", actions={"try_storage_again": "OS"}),
    "attachments.pendingupload": Rights(look="OS", actions={"try_storage_again": "OS"}),
    "admin.logentry": Rights(),
    "auth.user": Rights(add="S", change="S", delete="S", actions=DELETES),
    "auth.group": Rights(add="S", change="S", delete="S", actions=DELETES),
    "account.emailaddress": Rights(add="S", change="S", delete="S", actions={**DELETES, "make_verified": "S"}),
    "django_tasks_database.dbtaskresult": Rights(),
}

#: Doors that are no model's usual ones. The reason's form shows nothing.
DOORS = {
    "admin/chat/conversation/<uuid:conversation_id>/reason/": "RS",
    "admin/chat/conversation/<uuid:conversation_id>/verdict/": "RS",
    "admin/chat/conversation/<uuid:conversation_id>/files/<uuid:attachment_id>/": "RS",
    "admin/overview/": "OS",
}

#: Of the site: everybody's of the staff, and empty for who may see nothing.
SITE = (
    "admin/",
    "admin/login/",
    "admin/logout/",
    "admin/password_change/",
    "admin/password_change/done/",
    "admin/autocomplete/",
    "admin/jsi18n/",
    "admin/r/",
    "admin/^",
    "admin/(?P<url>",
)
USUAL = ("/", "/add/", "/<path:object_id>/change/", "/<path:object_id>/delete/", "/<path:object_id>/history/")


def label_of(model: type[Model]) -> str:
    return str(model._meta.label_lower)


def models() -> list[type[Model]]:
    return list(admin.site._registry)


def actions_of(model: type[Model], user: Any) -> set[str]:  # noqa: ANN401
    request = HttpRequest()
    request.user = user
    return set(admin.site._registry[model].get_actions(request))


# --- the matrix is whole


def test_every_registered_model_stands_in_the_matrix() -> None:
    assert {label_of(model) for model in models()} == set(MATRIX)


def test_every_door_of_the_admin_stands_in_the_matrix() -> None:
    known = {f"admin/{label.replace('.', '/')}{usual}" for label in MATRIX for usual in USUAL}
    others = {route for route in all_routes() if route.startswith("admin/") and not route.startswith(SITE[6:])}
    others -= known | set(SITE)
    # Django's own: a user's password, and old addresses of pages.
    others = {route for route in others if "/auth/user/<id>/password/" not in route}
    others = {route for route in others if not route.endswith("/<path:object_id>/")}
    assert others == set(DOORS)


def test_every_action_stands_in_the_matrix() -> None:
    superuser = person("superuser")
    for model in models():
        assert actions_of(model, superuser) == {
            name for name, who in MATRIX[label_of(model)].actions.items() if "S" in who
        }, model


# --- what each may


@pytest.mark.parametrize("role", PEOPLE)
def test_each_person_gets_what_is_theirs(role: str) -> None:
    rows = one_of_each()
    user = None if role == "anonymous" else person(role)
    client, letter = client_of(user), PEOPLE[role]
    is_staff = role not in ("anonymous", "user")

    def check(allowed: str, path: str, method: str = "get", data: dict[str, Any] | None = None) -> None:
        response = getattr(client, method)(path, data or {})
        if not is_staff:
            assert response.status_code == 302, path
            assert response.headers["Location"].startswith("/admin/login/"), path
        elif letter and letter in allowed:
            assert response.status_code in (200, 302, 400, 405), (path, response.status_code)
        else:
            assert response.status_code == 403, (role, method, path)

    for model, row in rows.items():
        rights = MATRIX[label_of(model)]
        check(rights.look, admin_url(model))
        check(rights.look, admin_url(model, row.pk))
        check(rights.look, admin_url(model, row.pk, "history"))
        check(rights.add, f"{admin_url(model)}add/")
        check(rights.add, f"{admin_url(model)}add/", "post")
        check(rights.change, admin_url(model, row.pk), "post")
        check(rights.delete, admin_url(model, row.pk, "delete"))
        if letter not in rights.delete or not letter:
            check("", admin_url(model, row.pk, "delete"), "post", {"post": "yes"})
            assert model._default_manager.filter(pk=row.pk).exists(), model
    conversation = Conversation.objects.get()
    attachment = str(conversation._attachment_ids().pop())
    for door, allowed in DOORS.items():
        path = door.replace("<uuid:conversation_id>", str(conversation.pk)).replace("<uuid:attachment_id>", attachment)
        check(allowed, f"/{path}", "post" if "verdict" in path else "get")


@pytest.mark.parametrize("role", ["staff", "reviewer", "operator"])
def test_actions_are_for_those_who_may(role: str) -> None:
    rows = one_of_each()
    user = person(role)
    client, letter = client_of(user), PEOPLE[role]
    for model, row in rows.items():
        rights = MATRIX[label_of(model)]
        theirs = {name for name, who in rights.actions.items() if letter and letter in who}
        # Behind a list that is closed there may be actions that ask for nothing more.
        if letter and letter in rights.look:
            assert actions_of(model, user) == theirs, model
        for name in set(rights.actions) - theirs:
            data = {"action": name, ACTION_CHECKBOX_NAME: [str(row.pk)], "post": "yes", "confirmed": "yes"}
            response = client.post(admin_url(model), data)
            assert response.status_code in (302, 403), (model, name)
            assert not response.streaming
            assert model._default_manager.filter(pk=row.pk).exists(), (model, name)


def test_an_operator_who_reviews_may_retry_uploads_from_the_queue() -> None:
    user = person("operator")
    user.groups.add(Group.objects.get(name="Reviewer"))
    assert "try_storage_again" in actions_of(Conversation, user)


def test_reviewers_see_no_account_but_names() -> None:
    rows = one_of_each()
    reviewer = client_of(person("reviewer"))
    index = reviewer.get("/admin/").content.decode()
    assert "Conversations" in index
    for word in ("Users", "Groups", "Messages", "Parts", "Access log", "Language models", "Attachments"):
        assert f">{word}</a>" not in index
    page = reviewer.get(admin_url(Conversation, rows[Conversation].pk)).content.decode()
    assert "owner" in page
    assert "pbkdf2" not in page


# --- how the roles come to be


def test_roles_have_what_they_need_and_are_made_once() -> None:
    def granted() -> dict[str, set[str]]:
        return {
            group.name: {f"{each.content_type.app_label}.{each.codename}" for each in group.permissions.all()}
            for group in Group.objects.prefetch_related("permissions__content_type")
        }

    before, permissions = granted(), Permission.objects.count()
    for role, wanted in ROLES.items():
        assert before[role] >= set(wanted)
    assert not {name for name in before["Reviewer"] if "delete" in name or ".add_" in name}
    load_roles(Group, Permission, ContentType, using="default")
    assert granted() == before
    assert Permission.objects.count() == permissions


def test_roles_are_made_where_no_permission_is_there_yet() -> None:
    names = dict(Permission.objects.values_list("codename", "name"))
    Group.objects.all().delete()
    Permission.objects.all().delete()
    ContentType.objects.filter(app_label="chat").delete()
    ContentType.objects.clear_cache()
    load_roles(Group, Permission, ContentType, using="default")
    assert Group.objects.get(name="Reviewer").permissions.count() == len(ROLES["Reviewer"])
    # As Django itself would name them.
    assert {each.name for each in Permission.objects.all()} <= set(names.values())
    ContentType.objects.clear_cache()
