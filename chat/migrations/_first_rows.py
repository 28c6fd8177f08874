"""The models and presets that a new installation offers, and the groups of its staff."""

import json
from pathlib import Path

from django.apps.registry import Apps
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

CATALOGUE = Path(__file__).with_name("first_catalogue.json")

ROLES = {
    # Reads conversations and decides on them. Reviewers see only the names of accounts.
    "Reviewer": (
        ("chat", "conversation", "view_conversation", "Can view conversation"),
        ("chat", "review", "view_review", "Can view review"),
        ("chat", "review", "change_review", "Can change review"),
    ),
    # Keeps the product running and cannot read what people write.
    "Operator": (
        ("attachments", "attachment", "view_attachment", "Can view attachment"),
        ("attachments", "pendingupload", "view_pendingupload", "Can view pending upload"),
        ("attachments", "pendingupload", "change_pendingupload", "Can change pending upload"),
        ("attachments", "objectdeletion", "view_objectdeletion", "Can view object deletion"),
        ("attachments", "objectdeletion", "change_objectdeletion", "Can change object deletion"),
        ("chat", "turn", "view_turn", "Can view turn"),
        ("chat", "turn", "view_overview", "Can view the overview of use"),
        ("chat", "pythonsession", "view_pythonsession", "Can view Python session"),
        ("chat", "pythonsession", "end_pythonsession", "Can end Python sessions"),
        ("chat", "languagemodel", "view_languagemodel", "Can view language model"),
        ("chat", "languagemodel", "add_languagemodel", "Can add language model"),
        ("chat", "languagemodel", "change_languagemodel", "Can change language model"),
        ("chat", "languagemodel", "delete_languagemodel", "Can delete language model"),
        ("chat", "preset", "view_preset", "Can view preset"),
        ("chat", "preset", "add_preset", "Can add preset"),
        ("chat", "preset", "change_preset", "Can change preset"),
        ("chat", "preset", "delete_preset", "Can delete preset"),
        ("chat", "instruction", "view_instruction", "Can view instruction"),
        ("chat", "instruction", "add_instruction", "Can add instruction"),
        ("chat", "instruction", "change_instruction", "Can change instruction"),
        ("chat", "instruction", "delete_instruction", "Can delete instruction"),
    ),
}
"""Permissions as app, model, codename and name, as Django would make them after the last migration."""


def load_catalogue(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Fill both tables if both are empty."""
    using = schema_editor.connection.alias
    models = apps.get_model("chat", "LanguageModel").objects.using(using)
    presets = apps.get_model("chat", "Preset").objects.using(using)
    if models.exists() or presets.exists():
        return
    rows = json.loads(CATALOGUE.read_text(encoding="utf-8"))
    by_name = {}
    for number, row in enumerate(rows["models"], start=1):
        by_name[row["name"]] = models.create(**{"position": number * 10, **row})
    for number, row in enumerate(rows["presets"], start=1):
        presets.create(**{"position": number * 10, **row, "language_model": by_name[row["language_model"]]})


def load_roles(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create the groups, and add the permissions that they lack. Permissions that operators added are kept."""
    using = schema_editor.connection.alias
    for name, permissions in ROLES.items():
        group, _ = apps.get_model("auth", "Group").objects.using(using).get_or_create(name=name)
        for app_label, model, codename, label in permissions:
            content_types = apps.get_model("contenttypes", "ContentType").objects.using(using)
            content_type, _ = content_types.get_or_create(app_label=app_label, model=model)
            permission, _ = (
                apps.get_model("auth", "Permission")
                .objects.using(using)
                .get_or_create(content_type=content_type, codename=codename, defaults={"name": label})
            )
            group.permissions.add(permission)
