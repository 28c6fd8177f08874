"""Operators may see the queue of object deletions and try them again."""

from django.db import migrations

PERMISSIONS = (
    ("view_objectdeletion", "Can view object deletion"),
    ("change_objectdeletion", "Can change object deletion"),
)


def add_permissions(apps, schema_editor):
    """Add the permissions to the group, as `0005_first_rows` did for others."""
    using = schema_editor.connection.alias
    group, _ = apps.get_model("auth", "Group").objects.using(using).get_or_create(name="Operator")
    content_type, _ = (
        apps.get_model("contenttypes", "ContentType")
        .objects.using(using)
        .get_or_create(app_label="attachments", model="objectdeletion")
    )
    for codename, name in PERMISSIONS:
        permission, _ = (
            apps.get_model("auth", "Permission")
            .objects.using(using)
            .get_or_create(content_type=content_type, codename=codename, defaults={"name": name})
        )
        group.permissions.add(permission)


class Migration(migrations.Migration):

    dependencies = [
        ("chat", "0015_engine_of_turns"),
        ("attachments", "0004_object_deletions"),
    ]

    operations = [
        migrations.RunPython(add_permissions, migrations.RunPython.noop),
    ]
