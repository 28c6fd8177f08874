"""Models say by which protocol they are asked."""

from __future__ import annotations

from django.db import migrations, models

import chat.models.catalogue


class Migration(migrations.Migration):
    dependencies = [("chat", "0007_endpoint_protocol")]

    operations = [
        migrations.AddField(
            model_name="languagemodel",
            name="protocol",
            field=models.CharField(
                blank=True,
                choices=chat.models.catalogue.model_protocol_choices,
                db_default="",
                default="",
                help_text=(
                    "How Gemini is asked. Empty: by generateContent. Choose interactions for models and tools that"
                    " Google offers only there."
                ),
                max_length=20,
            ),
        ),
    ]
