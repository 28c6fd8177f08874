"""Turns that ended before 0017 have no use for their logs any more, except those that could not be read.

They are marked in batches, because one change of all turns would lock them until its end.
"""

import uuid

from django.db import migrations
from django.db.models import Exists, F, OuterRef

BATCH_TURNS = 5_000


def mark_old_logs(apps, schema_editor):
    """Mark the turns in the order of the primary key. Each batch is a transaction of its own."""
    using = schema_editor.connection.alias
    events = apps.get_model("chat", "TurnEvent").objects.using(using).filter(turn=OuterRef("pk"))
    parts = apps.get_model("chat", "Part").objects.using(using).filter(message=OuterRef("message"))
    turns = apps.get_model("chat", "Turn").objects.using(using).order_by("pk")
    last = uuid.UUID(int=0)
    while ids := list(turns.filter(pk__gt=last).values_list("pk", flat=True)[:BATCH_TURNS]):
        last = ids[-1]
        ended = turns.filter(pk__gte=ids[0], pk__lte=last, ended_at__isnull=False)
        # An answer that could not be read from its log has no parts.
        ended.filter(Exists(events), Exists(parts)).update(log_kept_until=F("ended_at"))


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('chat', '0017_logs_of_ended_turns'),
    ]

    operations = [
        migrations.RunPython(mark_old_logs, migrations.RunPython.noop),
    ]
