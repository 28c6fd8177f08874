from django.db import migrations


def chain(apps, schema_editor):
    """Before there were versions each message followed the one before it."""
    Message = apps.get_model("chat", "Message")
    last = None
    changed = []
    for message in Message.objects.order_by("conversation_id", "index").only("id", "conversation_id", "index"):
        if last is not None and last.conversation_id == message.conversation_id:
            message.parent_id = last.pk
            changed.append(message)
        last = message
        if len(changed) >= 1000:
            Message.objects.bulk_update(changed, ["parent"])
            changed.clear()
    Message.objects.bulk_update(changed, ["parent"])


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0002_versions_and_catalogue'),
    ]

    operations = [
        migrations.RunPython(chain, migrations.RunPython.noop),
    ]
