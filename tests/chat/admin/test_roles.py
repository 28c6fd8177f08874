"""Permissions in the admin: a matrix of all registered models, actions and views, checked for every role.

The tests compare the matrix with the admin site's registry and URLs, so that a new model, action or view must be added.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model
from django.http import HttpRequest

from attachments.models import Attachment
from chat.migrations import _first_rows
from chat.models import Conversation, ModelEndpoint, User
from tests.chat.admin.factories import admin_url, client_of, make_account, make_row_of_each_model
from tests.chat.people.test_access import all_routes
from tests.first_rows import load_first_rows

pytestmark = pytest.mark.django_db

ROLE_LETTERS = {"staff": "", "reviewer": "R", "operator": "O", "superuser": "S"}
"""The letters by which the matrix names roles. Staff without a role have no permission.

tests/chat/people/test_access.py checks that nobody else gets into the admin.
"""


@dataclass(frozen=True)
class Rights:
    """The roles that have each permission, as a string of `ROLE_LETTERS`."""

    view: str = "S"
    """Permission for the list, the page and the history."""
    add: str = ""
    change: str = ""
    delete: str = ""
    actions: dict[str, str] = field(default_factory=dict)


SUPERUSERS_DELETE = {"delete_selected": "S"}
CATALOGUE_RIGHTS = Rights(view="OS", add="OS", change="OS", delete="OS", actions={"delete_selected": "OS"})

MATRIX = {
    "chat.conversation": Rights(
        view="RS",
        delete="S",
        actions={
            "take": "RS",
            "assign": "RS",
            "approve": "RS",
            "flag": "RS",
            "export": "RS",
            "export_results": "RS",
            "try_storage_again": "S",  # Operators may do this if they are reviewers, too.
            "delete_selected": "S",
        },
    ),
    "chat.message": Rights(),
    "chat.part": Rights(),
    "chat.messageattachment": Rights(),
    "chat.turnevent": Rights(),
    "chat.turn": Rights(view="OS"),
    "chat.accessentry": Rights(),
    "chat.project": Rights(),
    "chat.pythonsession": Rights(view="OS", actions={"end": "OS"}),
    "chat.quota": Rights(add="S", change="S", delete="S", actions=SUPERUSERS_DELETE),
    "chat.quotause": Rights(),
    "chat.languagemodel": CATALOGUE_RIGHTS,
    "chat.preset": replace(CATALOGUE_RIGHTS, actions={**CATALOGUE_RIGHTS.actions, "make_default": "OS"}),
    # Whoever has these permissions decides where this server sends keys and conversations.
    "chat.modelendpoint": Rights(add="S", change="S", delete="S", actions=SUPERUSERS_DELETE),
    "chat.endpointmodel": Rights(delete="S", actions=SUPERUSERS_DELETE),
    # There is at most one row, so no role can add another one.
    "chat.instruction": Rights(view="OS", change="OS", delete="OS", actions={"delete_selected": "OS"}),
    "attachments.attachment": Rights(view="OS", actions={"try_storage_again": "OS"}),
    "attachments.pendingupload": Rights(view="OS", actions={"try_storage_again": "OS"}),
    "attachments.objectdeletion": Rights(view="OS", actions={"try_storage_again": "OS"}),
    "admin.logentry": Rights(),
    "chat.user": Rights(add="S", change="S", delete="S", actions=SUPERUSERS_DELETE),
    "auth.group": Rights(add="S", change="S", delete="S", actions=SUPERUSERS_DELETE),
    "account.emailaddress": Rights(
        add="S", change="S", delete="S", actions={**SUPERUSERS_DELETE, "make_verified": "S"}
    ),
    "mfa.authenticator": Rights(view="S", delete="S", actions=SUPERUSERS_DELETE),
    "django_tasks_database.dbtaskresult": Rights(),
}

CUSTOM_VIEWS = {
    "admin/chat/conversation/<uuid:conversation_id>/reason/": "RS",
    "admin/chat/conversation/<uuid:conversation_id>/verdict/": "RS",
    "admin/chat/conversation/<uuid:conversation_id>/files/<uuid:attachment_id>/": "RS",
    "admin/chat/modelendpoint/<int:pk>/list-models/": "S",
    "admin/chat/modelendpoint/<int:pk>/test/": "S",
    "admin/overview/": "OS",
    "admin/python-service/": "OS",
}
"""Routes that are not among those of Django's ModelAdmin."""

SITE_ROUTES = (
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
"""Routes of the admin site itself, which all staff may open."""

MODEL_ROUTES = ("/", "/add/", "/<path:object_id>/change/", "/<path:object_id>/delete/", "/<path:object_id>/history/")


def label_of(model: type[Model]) -> str:
    return str(model._meta.label_lower)


def registered_models() -> list[type[Model]]:
    return list(admin.site._registry)


def actions_of(model: type[Model], user: User) -> set[str]:
    request = HttpRequest()
    request.user = user
    return set(admin.site._registry[model].get_actions(request))


# --- the matrix is complete


def test_permission_matrix_contains_every_registered_model() -> None:
    assert {label_of(model) for model in registered_models()} == set(MATRIX)


def test_permission_matrix_contains_every_custom_view() -> None:
    known = {f"admin/{label.replace('.', '/')}{suffix}" for label in MATRIX for suffix in MODEL_ROUTES}
    others = {route for route in all_routes() if route.startswith("admin/") and not route.startswith(SITE_ROUTES[6:])}
    others -= known | set(SITE_ROUTES)
    # Django's own views: the form for a user's password, and redirects from old URLs of pages.
    others = {route for route in others if "/chat/user/<id>/password/" not in route}
    others = {route for route in others if not route.endswith("/<path:object_id>/")}
    assert others == set(CUSTOM_VIEWS)


def test_permission_matrix_contains_every_action() -> None:
    superuser = make_account("superuser")
    for model in registered_models():
        assert actions_of(model, superuser) == {
            name for name, roles in MATRIX[label_of(model)].actions.items() if "S" in roles
        }, model


# --- every role has exactly the rights of the matrix


@pytest.mark.parametrize("role", ROLE_LETTERS)
def test_each_role_can_open_only_the_pages_that_the_permission_matrix_allows(role: str) -> None:
    rows = make_row_of_each_model()
    client, letter = client_of(make_account(role)), ROLE_LETTERS[role]

    def check(allowed: str, path: str, method: str = "get", data: dict[str, Any] | None = None) -> None:
        response = getattr(client, method)(path, data or {})
        if letter and letter in allowed:
            assert response.status_code in (200, 302, 400, 405), (path, response.status_code)
        else:
            assert response.status_code == 403, (role, method, path)

    for model, row in rows.items():
        rights = MATRIX[label_of(model)]
        check(rights.view, admin_url(model))
        check(rights.view, admin_url(model, row.pk))
        check(rights.view, admin_url(model, row.pk, "history"))
        check(rights.add, f"{admin_url(model)}add/")
        check(rights.add, f"{admin_url(model)}add/", "post")
        check(rights.change, admin_url(model, row.pk), "post")
        check(rights.delete, admin_url(model, row.pk, "delete"))
        if letter not in rights.delete or not letter:
            check("", admin_url(model, row.pk, "delete"), "post", {"post": "yes"})
            assert model._default_manager.filter(pk=row.pk).exists(), model
    ids = {
        "<uuid:conversation_id>": str(Conversation.objects.get().pk),
        "<uuid:attachment_id>": str(Attachment.objects.get().pk),
        # This endpoint is turned off, so its buttons send no request.
        "<int:pk>": str(ModelEndpoint.objects.get().pk),
    }
    for route, allowed in CUSTOM_VIEWS.items():
        path = route
        for placeholder, pk in ids.items():
            path = path.replace(placeholder, pk)
        check(allowed, f"/{path}", "post" if "verdict" in path or "modelendpoint" in path else "get")


@pytest.mark.parametrize("role", ["staff", "reviewer", "operator"])
def test_each_role_can_run_only_the_actions_that_the_permission_matrix_allows(role: str) -> None:
    rows = make_row_of_each_model()
    user = make_account(role)
    client, letter = client_of(user), ROLE_LETTERS[role]
    for model, row in rows.items():
        rights = MATRIX[label_of(model)]
        allowed = {name for name, roles in rights.actions.items() if letter and letter in roles}
        # Django may offer further actions to users who cannot open the list in which they would run.
        if letter and letter in rights.view:
            assert actions_of(model, user) == allowed, model
        for name in set(rights.actions) - allowed:
            data = {"action": name, ACTION_CHECKBOX_NAME: [str(row.pk)], "post": "yes", "confirmed": "yes"}
            response = client.post(admin_url(model), data)
            assert response.status_code in (302, 403), (model, name)
            assert not response.streaming
            assert model._default_manager.filter(pk=row.pk).exists(), (model, name)


def test_operators_who_are_reviewers_may_retry_uploads_from_the_queue() -> None:
    user = make_account("operator")
    user.groups.add(Group.objects.get(name="Reviewer"))
    assert "try_storage_again" in actions_of(Conversation, user)


def test_reviewers_see_the_owners_name_but_no_lists_of_accounts_messages_or_models() -> None:
    rows = make_row_of_each_model()
    reviewer = client_of(make_account("reviewer"))
    index = reviewer.get("/admin/").content.decode()
    assert "Conversations" in index
    for word in ("Users", "Groups", "Messages", "Parts", "Access log", "Language models", "Attachments"):
        assert f">{word}</a>" not in index
    page = reviewer.get(admin_url(Conversation, rows[Conversation].pk)).content.decode()
    assert "owner" in page
    assert "pbkdf2" not in page


# --- creation of the roles


def test_roles_have_their_permissions_and_creating_them_again_changes_nothing() -> None:
    def permissions_by_group() -> dict[str, set[str]]:
        return {
            group.name: {f"{each.content_type.app_label}.{each.codename}" for each in group.permissions.all()}
            for group in Group.objects.prefetch_related("permissions__content_type")
        }

    before, permissions = permissions_by_group(), Permission.objects.count()
    for role, wanted in _first_rows.ROLES.items():
        assert before[role] >= {f"{app_label}.{codename}" for app_label, _, codename, _ in wanted}
    assert not {name for name in before["Reviewer"] if "delete" in name or ".add_" in name}
    load_first_rows()
    assert permissions_by_group() == before
    assert Permission.objects.count() == permissions


def test_creating_roles_creates_permissions_that_do_not_exist_yet() -> None:
    names = dict(Permission.objects.values_list("codename", "name"))
    Group.objects.all().delete()
    Permission.objects.all().delete()
    ContentType.objects.filter(app_label="chat").delete()
    ContentType.objects.clear_cache()
    load_first_rows()
    assert Group.objects.get(name="Reviewer").permissions.count() == len(_first_rows.ROLES["Reviewer"])
    assert {permission.name for permission in Permission.objects.all()} <= set(names.values()), "Django's own names"
    ContentType.objects.clear_cache()
