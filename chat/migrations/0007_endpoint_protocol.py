"""Endpoints say by which protocol they are asked."""

from __future__ import annotations

from django.db import migrations, models

import chat.models.endpoints


class Migration(migrations.Migration):
    dependencies = [("chat", "0006_import_jobs")]

    operations = [
        migrations.AddField(
            model_name="modelendpoint",
            name="protocol",
            field=models.CharField(
                blank=True,
                choices=chat.models.endpoints.protocol_choices,
                db_default="",
                default="",
                help_text=(
                    "How it is asked. Empty: by chat completions, or by the Responses API for a model if the server"
                    " refers to it. A test of the endpoint says which protocols the server speaks."
                ),
                max_length=20,
            ),
        ),
    ]
