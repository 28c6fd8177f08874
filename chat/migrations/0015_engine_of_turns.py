"""The engine of turns from before there was a choice: all their code ran at the provider.

0007 adds the column. It is filled here in batches, because one change of all turns would lock them until its end.
"""

import uuid

from django.db import migrations

BATCH_TURNS = 5_000


def fill_engine(apps, schema_editor):
    """Fill the column, in the order of the primary key. Each batch is a transaction of its own."""
    turns = apps.get_model("chat", "Turn").objects.using(schema_editor.connection.alias).order_by("pk")
    last = uuid.UUID(int=0)
    while ids := list(turns.filter(pk__gt=last).values_list("pk", flat=True)[:BATCH_TURNS]):
        last = ids[-1]
        turns.filter(pk__lte=last, pk__gte=ids[0], code_execution=True, engine="").update(engine="native")


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ("chat", "0014_search_by_owner"),
    ]

    operations = [
        migrations.RunPython(fill_engine, migrations.RunPython.noop),
    ]
