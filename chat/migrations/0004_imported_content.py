"""Imports know what they have read, so that a later export of the same conversation adds what is missing."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0003_kept_sessions")]

    operations = [
        migrations.AddField(
            model_name="importedconversation",
            name="content_digest",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="SHA-256 in hex of all that was read from the file, with its files. Empty: not known.",
                max_length=64,
            ),
        ),
    ]
