"""Python sessions: their rows, and the settings that say which code runs in them."""

import tomllib
from pathlib import Path

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

INSTRUCTIONS = Path(__file__).parent.parent / "answering" / "prompt" / "instructions.toml"
PERMISSIONS = (
    ("view_pythonsession", "Can view Python session"),
    ("end_pythonsession", "Can end Python sessions"),
)
"""Permissions of operators, as code name and name."""


def fill_instruction(apps, schema_editor):
    """Operators who have texts of their own get the new default text. 0015 fills the column of turns."""
    using = schema_editor.connection.alias
    text = tomllib.loads(INSTRUCTIONS.read_text(encoding="utf-8")).get("python_session", "").strip()
    apps.get_model("chat", "Instruction").objects.using(using).update(python_session=text)


def give_permissions(apps, schema_editor):
    """Let operators see and end Python sessions."""
    using = schema_editor.connection.alias
    group = apps.get_model("auth", "Group").objects.using(using).filter(name="Operator").first()
    if group is None:
        return
    content_types = apps.get_model("contenttypes", "ContentType").objects.using(using)
    content_type, _ = content_types.get_or_create(app_label="chat", model="pythonsession")
    for codename, name in PERMISSIONS:
        permissions = apps.get_model("auth", "Permission").objects.using(using)
        permission, _ = permissions.get_or_create(
            content_type=content_type, codename=codename, defaults={"name": name}
        )
        group.permissions.add(permission)


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0006_model_endpoints'),
    ]

    operations = [
        migrations.AddField(
            model_name='instruction',
            name='python_session',
            field=models.TextField(db_default='', default='', blank=True, help_text='When the answer may run code in the Python session.'),
        ),
        migrations.AlterField(
            model_name='instruction',
            name='code_execution',
            field=models.TextField(blank=True, help_text="When the answer may run code at the model's service."),
        ),
        migrations.RunPython(fill_instruction, migrations.RunPython.noop),
        migrations.RunPython(give_permissions, migrations.RunPython.noop),
        migrations.CreateModel(
            name='PythonSession',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('stopped', 'stopped'), ('starting', 'starting'), ('running', 'running'), ('stopping', 'stopping'), ('error', 'could not be started')], default='stopped', max_length=8)),
                ('kernel_id', models.CharField(blank=True, help_text="The kernel's id at its place.", max_length=100)),
                ('place', models.CharField(blank=True, help_text='Address of the server that runs the kernel.', max_length=500)),
                ('generation', models.PositiveIntegerField(default=0, help_text='Counts the kernels that the session has had.')),
                ('execution_count', models.PositiveIntegerField(default=0, help_text='Cells that this kernel has run.')),
                ('variables', models.JSONField(blank=True, default=list, help_text='As they were after the last cell.')),
                ('files', models.JSONField(blank=True, default=list, help_text='The working directory after the last cell.')),
                ('placed_files', models.JSONField(blank=True, default=dict, help_text='Attachments that were written into the working directory: label -> id.')),
                ('message_ids', models.JSONField(blank=True, default=list, help_text='Ids of the messages whose code this kernel has run, in order.')),
                ('note', models.TextField(blank=True, help_text='Why the variables were lost, or why the start failed.')),
                ('busy_until', models.DateTimeField(blank=True, help_text='End of the lease of the process that runs a cell, starts or ends the kernel, or waits for a place.', null=True)),
                ('queued_at', models.DateTimeField(blank=True, help_text='Since when it waits for a free kernel.', null=True)),
                ('started_at', models.DateTimeField(blank=True, help_text='When the kernel was started.', null=True)),
                ('last_used_at', models.DateTimeField(blank=True, null=True)),
                ('conversation', models.OneToOneField(blank=True, help_text='Empty: it was deleted, and the kernel is about to be ended.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='python_session', to='chat.conversation')),
                ('last_message', models.ForeignKey(blank=True, help_text='Whose code ran last.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='chat.message')),
                ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='python_sessions', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'Python session',
                'ordering': ['pk'],
                'permissions': (('end_pythonsession', 'Can end Python sessions'),),
                'indexes': [models.Index(condition=models.Q(('state__in', ['starting', 'running', 'stopping'])), fields=['state'], name='alive_python_sessions'), models.Index(condition=models.Q(('queued_at__isnull', False)), fields=['queued_at'], name='queued_python_sessions')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('state__in', ['running', 'stopping']), _negated=True), models.Q(('kernel_id', ''), _negated=True), _connector='OR'), name='running_sessions_have_a_kernel')],
            },
        ),
        # Adding a column locks its table until the end of the migration. Large tables come last.
        migrations.AddField(
            model_name='conversation',
            name='approval',
            field=models.CharField(db_default='always', choices=[('always', 'without asking'), ('ask', 'after you have approved it')], default='always', help_text='Whether code runs in the Python session without asking.', max_length=6),
        ),
        migrations.AddField(
            model_name='conversation',
            name='engine',
            field=models.CharField(db_default='auto', choices=[('auto', "at the model's service; in the Python session if it has to"), ('native', "at the model's service"), ('session', 'in the Python session')], default='auto', help_text='Where the code of answers runs.', max_length=7),
        ),
        migrations.AddField(
            model_name='turn',
            name='engine',
            field=models.CharField(db_default='', default='', blank=True, choices=[('native', 'native'), ('session', 'session')], help_text='Where its code runs. Empty: it has none.', max_length=7),
        ),
        migrations.AddField(
            model_name='turn',
            name='move_reason',
            field=models.TextField(db_default='', default='', blank=True, help_text='Why its code moved to the Python session. Empty: it did not move.'),
        ),
        migrations.AddField(
            model_name='turn',
            name='moved_before_round',
            field=models.PositiveIntegerField(blank=True, help_text='The first round after its code moved to the Python session.', null=True),
        ),
    ]
