"""Models say by which protocol they are asked."""

from __future__ import annotations

from django.db import migrations, models

import chat.models.settings_choices


class Migration(migrations.Migration):
    dependencies = [("chat", "0007_endpoint_protocol")]

    operations = [
        migrations.AddField(
            model_name="languagemodel",
            name="protocol",
            field=models.CharField(
                blank=True,
                choices=chat.models.settings_choices.model_protocol_choices,
                db_default="",
                default="",
                help_text="How Gemini is asked. Empty: by generateContent.",
                max_length=20,
            ),
        ),
    ]
