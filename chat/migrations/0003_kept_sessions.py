"""Python sessions that their owners keep for a day."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0002_shared_counts")]

    operations = [
        migrations.AddField(
            model_name="pythonsession",
            name="kept_until",
            field=models.DateTimeField(
                blank=True, help_text="Until when it lives without use. Empty: its owner does not keep it.", null=True
            ),
        ),
    ]
