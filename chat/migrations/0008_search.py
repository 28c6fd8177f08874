"""The index of what was said, and of titles: the database keeps it itself; see `chat.search.index`."""

from django.db import migrations

from chat.search import index


def create(apps, schema_editor):
    index.create(schema_editor.connection)


def drop(apps, schema_editor):
    index.drop(schema_editor.connection)


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0007_side_costs_and_choices'),
    ]

    operations = [
        migrations.RunPython(create, drop),
    ]
