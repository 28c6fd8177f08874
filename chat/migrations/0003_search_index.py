"""The full-text index was made here. Now 0014 makes it, without blocking those who read and write."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ("chat", "0002_conversations"),
    ]

    operations = []
