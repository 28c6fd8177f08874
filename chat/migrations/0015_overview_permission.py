"""The permission to see the overview, for the group Operator and whoever else is given it."""

from django.db import migrations

from chat.models.roles import load_roles


def load(apps, schema_editor):
    load_roles(
        apps.get_model("auth", "Group"),
        apps.get_model("auth", "Permission"),
        apps.get_model("contenttypes", "ContentType"),
        using=schema_editor.connection.alias,
    )


class Migration(migrations.Migration):

    dependencies = [
        ("chat", "0014_roles"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="turn",
            options={"ordering": ["created_at"], "permissions": (("view_overview", "Can view the overview of use"),)},
        ),
        migrations.RunPython(load, migrations.RunPython.noop),
    ]
