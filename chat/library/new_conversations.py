"""Creates conversations, which count for a quota of their owner."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from chat.models import Conversation, Project, User
from chat.models.projects import lock_project
from chat.people.quotas.enforcement import spend_quota
from chat.people.quotas.resources import Resource
from chat.providers.catalogue.choices import check_choice
from chat.providers.catalogue.setups import UnknownModel


def create_conversation(
    owner_id: int,
    project: Project | None = None,
    /,
    **fields: Any,
) -> Conversation:
    """Create a conversation. `project`: a project of its owner.

    Raises QuotaExceeded, and Project.DoesNotExist if the project was deleted meanwhile.
    """
    with transaction.atomic():
        if project is not None:
            lock_project(project).save(update_fields=["updated_at"])
        conversation = Conversation.objects.create(owner_id=owner_id, project=project, **fields)
        spend_quota(owner_id, {Resource.CONVERSATIONS: 1})
        return conversation


def open_new_conversation(owner: User, project: Project | None = None) -> Conversation:
    """Return an empty conversation with the owner's default settings. It becomes the newest one.

    An existing untouched conversation of the same project is reused. Raises as `create_conversation` does.
    """
    settings = _default_settings(owner)
    untouched = Conversation.objects.owned_by(owner.pk).untouched(settings, project.pk if project else None)
    conversation = untouched.newest_first().first()
    if conversation is None:
        return create_conversation(owner.pk, project, **settings)
    conversation.save(update_fields=["updated_at"])
    return conversation


def create_temporary_conversation(owner: User) -> Conversation:
    """Create a temporary conversation with the owner's default settings. Raises as `create_conversation` does."""
    return create_conversation(owner.pk, temporary_seen_at=timezone.now(), **_default_settings(owner))


def _default_settings(owner: User) -> dict[str, str]:
    """Return the settings of the owner's new conversations. A default model that is no longer offered is left out."""
    settings = owner.default_settings()
    if settings["model"]:
        try:
            check_choice(settings["model"])
        except UnknownModel:
            settings["model"] = ""
    return settings
