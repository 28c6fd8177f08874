"""Whether turns offer the Python session beside their engine. The column is added without a rewrite of the table."""

from django.db import migrations, models


def set_live_turns(apps, schema_editor):
    """Let turns that wait for a decision keep the function that they have offered."""
    live = apps.get_model("chat", "Turn").objects.filter(status__in=["queued", "running", "waiting"])
    live.filter(engine="native", conversation__engine="auto").update(offers_session=True)


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0030_call_decisions'),
    ]

    operations = [
        migrations.AddField(
            model_name='turn',
            name='offers_session',
            field=models.BooleanField(db_default=False, default=False, help_text='Whether the Python session is offered beside the engine, and code may move there.'),
        ),
        migrations.RunPython(set_live_turns, migrations.RunPython.noop),
    ]
