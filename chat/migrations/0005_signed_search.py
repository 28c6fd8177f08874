"""The search finds words with and without vowel marks, signs beside words, and emoji, and ranks titles first."""

from __future__ import annotations

from django.db import migrations

from chat.migrations import _signed_search


class Migration(migrations.Migration):
    # On PostgreSQL, the index is filled in many short transactions.
    atomic = False

    dependencies = [("chat", "0004_imported_content")]

    operations = [migrations.RunPython(_signed_search.fill, migrations.RunPython.noop)]
