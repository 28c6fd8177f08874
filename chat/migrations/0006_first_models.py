"""The models and presets that a new installation begins with."""

from django.db import migrations

from chat.catalogue.first_rows import load_first_rows


def load(apps, schema_editor):
    load_first_rows(
        apps.get_model("chat", "LanguageModel"),
        apps.get_model("chat", "Preset"),
        using=schema_editor.connection.alias,
    )


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0005_catalogue_prices_until'),
    ]

    operations = [
        migrations.RunPython(load, migrations.RunPython.noop),
    ]
