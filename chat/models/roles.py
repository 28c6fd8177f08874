"""The groups of staff that a new installation begins with, and what each may do.

Imports none of our models: a migration makes them with those of its own time. Permissions are made by hand, as Django
makes its own only after the last migration; it takes those that it finds for its own.
"""

from __future__ import annotations

from typing import Any

from django.db.models import Model

ROLES: dict[str, tuple[str, ...]] = {
    # Reads conversations and decides on them; of their people they see the names alone.
    "Reviewer": (
        "chat.view_conversation",
        "chat.view_review",
        "chat.change_review",
    ),
    # Keeps the product running without reading what people say.
    "Operator": (
        "attachments.view_attachment",
        "attachments.view_pendingupload",
        "attachments.change_pendingupload",
        "chat.view_turn",
        "chat.view_overview",
        *(
            f"chat.{verb}_{model}"
            for model in ("languagemodel", "preset", "instruction")
            for verb in ("view", "add", "change", "delete")
        ),
    ),
}

#: Permissions that a model names itself: which one, and how.
_NAMED = {"view_overview": ("turn", "Can view the overview of use")}
#: As Django names the permissions of models of two words.
_VERBOSE = {"languagemodel": "language model", "pendingupload": "pending upload"}


def load_roles(group: type[Model], permission: type[Model], content_type: type[Model], *, using: str) -> None:
    """Make the groups, and give them what they lack; what operators have added to them stays."""
    for name, wanted in ROLES.items():
        role: Any = group._default_manager.using(using).get_or_create(name=name)[0]
        role.permissions.add(*(_permission(permission, content_type, each, using) for each in wanted))


def _permission(permission: type[Model], content_type: type[Model], name: str, using: str) -> Model:
    app, _, codename = name.partition(".")
    verb, _, model = codename.partition("_")
    model, label = _NAMED.get(codename, (model, f"Can {verb} {_VERBOSE.get(model, model)}"))
    kind, _ = content_type._default_manager.using(using).get_or_create(app_label=app, model=model)
    found, _ = permission._default_manager.using(using).get_or_create(
        content_type=kind, codename=codename, defaults={"name": label}
    )
    return found
