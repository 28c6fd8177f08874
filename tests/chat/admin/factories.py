"""Accounts of every role, and rows of every model that is registered in the admin."""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.contrib.admin.models import DELETION, LogEntry
from django.contrib.auth.models import Group
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model
from django.test import Client
from django_tasks_db.models import DBTaskResult

from attachments.models import Attachment
from attachments.tasks import upload_attachment
from chat.models import (
    AccessEntry,
    Conversation,
    EndpointModel,
    Instruction,
    ModelEndpoint,
    Preset,
    Project,
    PythonSession,
    Quota,
    QuotaUse,
    Round,
    Turn,
    User,
)
from chat.vocabulary.parts import PartKind
from tests.factories import make_conversation, make_graph, make_model_message, make_user, make_user_message

SECRET = "Zebrafinch"
"""Content of a secret conversation, by which tests recognise it in a response."""

HOSTILE_HTML = f"<script>alert('{SECRET}')</script><img src=x onerror=alert(2)>"


def make_account(role: str) -> User:
    """Return a new account. `role` is `user`, `staff`, `reviewer`, `operator` or `superuser`, and also the username."""
    user = make_user(role, is_staff=role != "user", is_superuser=role == "superuser")
    if role in ("reviewer", "operator"):
        user.groups.add(Group.objects.get(name=role.title()))
    return user


def client_of(user: User | None) -> Client:
    """Return a client that is logged in as this user, or an anonymous one for `None`."""
    client = Client()
    if user is not None:
        client.force_login(user)
    return client


def make_secret_conversation(owner: User | None = None, text: str = SECRET) -> Conversation:
    """Return a conversation with a graph. Every field that users, models or providers write contains `text`."""
    conversation = make_conversation(owner or make_user("owner"), title=f"{text} title", system_instruction=text)
    make_user_message(conversation, f"{text} asked")
    kinds = (PartKind.TEXT, PartKind.THOUGHT, PartKind.EXECUTABLE_CODE, PartKind.CODE_EXECUTION_RESULT)
    message = make_model_message(conversation, parts=[(kind, f"{text} said") for kind in kinds], code_reason=text)
    graph = make_graph(message, part_index=0)
    graph.name = f"{text}.png"
    graph.save()
    Turn.objects.update(parameters={"instruction": text}, queries=[text], finish_message=text)
    Round.objects.create(turn=message.turn, index=0, metadata={"webSearchQueries": [text]}, finish_message=text)
    return conversation


def make_row_of_each_model() -> dict[type[Model], Model]:
    """Return one row of every registered model. The rows of the conversation contain `SECRET`."""
    conversation = make_secret_conversation()
    boss = make_user("boss", is_staff=True, is_superuser=True)
    AccessEntry.objects.record(boss, [conversation], AccessEntry.Action.READ)
    Instruction.objects.create(pk=1)
    ModelEndpoint.objects.create(name="local", base_url="http://localhost:8000/v1", is_enabled=False)
    EndpointModel.objects.create(endpoint="local", account="a", model="m")
    PythonSession.objects.create(
        conversation=conversation,
        owner=conversation.owner,
        variables=[{"name": SECRET, "type": "str", "preview": SECRET}],
        files=[{"name": SECRET, "size_bytes": 1}],
    )
    Project.objects.create(owner=conversation.owner, name=SECRET, instruction=SECRET)
    Quota.objects.create(user=boss)
    QuotaUse.objects.create(user=boss, day="2026-01-31")
    EmailAddress.objects.create(user=boss, email="boss@localhost")
    Authenticator.objects.create(user=boss, type=Authenticator.Type.RECOVERY_CODES, data={"seed": SECRET})
    LogEntry.objects.create(
        user=boss,
        content_type=ContentType.objects.get_for_model(Conversation),
        object_id=str(conversation.pk),
        object_repr=f"{SECRET} title",
        action_flag=DELETION,
    )
    Attachment.objects.create(owner=boss, size_bytes=1).delete()  # A trigger queues the deletion of its object.
    upload_attachment.enqueue("00000000-0000-0000-0000-000000000000")
    assert DBTaskResult.objects.exists()
    rows: dict[type[Model], Any] = {model: model._default_manager.first() for model in admin.site._registry}
    # Take another preset than the default, which cannot be deleted.
    rows[Preset] = Preset.objects.filter(is_default=False).first()
    assert None not in rows.values(), [model for model, row in rows.items() if row is None]
    return rows


def admin_url(model: type[Model], pk: object = "", page: str = "change") -> str:
    """Return the URL of a model's list, or of a page of one row."""
    base = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
    return f"{base}{pk}/{page}/" if pk else base


def review_url(conversation: Conversation, path: str = "change/") -> str:
    """Return the URL of a conversation's review page, or of another view below it."""
    return admin_url(Conversation) + f"{conversation.pk}/{path}"
