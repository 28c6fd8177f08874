"""The search reads digits and variants of more scripts, whole emoji, and Persian words that are joined or apart."""

from __future__ import annotations

from django.db import migrations

from chat.migrations import _script_search


class Migration(migrations.Migration):
    # The index is filled in many short transactions.
    atomic = False

    dependencies = [("chat", "0008_model_protocol")]

    operations = [migrations.RunPython(_script_search.fill, migrations.RunPython.noop)]
