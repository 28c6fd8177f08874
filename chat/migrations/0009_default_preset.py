"""The default is a field of its own. Until now, it was the first preset in the order of the lists."""

import chat.models.catalogue
from django.db import migrations, models


def mark_default(apps, schema_editor):
    """Mark the preset that has been the default, unless one is marked."""
    presets = apps.get_model("chat", "Preset").objects.using(schema_editor.connection.alias)
    if presets.filter(is_default=True).exists():
        return
    first = presets.filter(is_enabled=True, language_model__is_enabled=True).order_by("position", "label").first()
    if first is not None:
        presets.filter(pk=first.pk).update(is_default=True)


class Migration(migrations.Migration):

    dependencies = [
        ("chat", "0008_message_reruns"),
    ]

    operations = [
        migrations.AlterField(
            model_name="languagemodel",
            name="provider",
            field=models.CharField(
                default="gemini",
                help_text="One of CHAT_PROVIDERS.",
                max_length=50,
                validators=[chat.models.catalogue.validate_provider],
            ),
        ),
        migrations.AlterField(
            model_name="turn",
            name="finish_message",
            field=models.TextField(
                blank=True, help_text="What the provider says about the end, or about a refused request; users see it."
            ),
        ),
        migrations.AddField(
            model_name="preset",
            name="is_default",
            field=models.BooleanField(db_default=False,
                default=False,
                help_text="Whether conversations without a choice use it, unless GEMINI_MODEL is set. At most one preset.",
                verbose_name="default",
            ),
        ),
        migrations.AddConstraint(
            model_name="preset",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_default", True)),
                fields=("is_default",),
                name="one_default_preset",
                violation_error_message="Another preset is the default.",
            ),
        ),
        migrations.RunPython(mark_default, migrations.RunPython.noop),
    ]
