"""The groups Reviewer and Operator; a group of that name is given what it lacks."""

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
        ('chat', '0013_review'),
        ('attachments', '0001_initial'),
        ('auth', '0012_alter_user_first_name_max_length'),
        ('contenttypes', '0002_remove_content_type_name'),
    ]

    operations = [
        # Taken back it leaves them: people may be in these groups.
        migrations.RunPython(load, migrations.RunPython.noop),
    ]
