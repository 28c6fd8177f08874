"""Decisions about function calls, and how long turns ran and waited. Columns are added without a rewrite of the table."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0029_state_of_rounds'),
    ]

    operations = [
        migrations.AddField(
            model_name='turn',
            name='run_s',
            field=models.FloatField(db_default=0, default=0, help_text='Seconds that it had run when it last began to wait. Waits do not count.'),
        ),
        migrations.AddField(
            model_name='turn',
            name='waiting_since',
            field=models.DateTimeField(blank=True, help_text='When it last began to wait for a decision. Empty: it has never waited.', null=True),
        ),
        migrations.CreateModel(
            name='CallDecision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('call_id', models.TextField()),
                ('is_result', models.BooleanField(help_text='Whether it is about the result of the call, not about the call.')),
                ('is_approved', models.BooleanField()),
                ('code', models.TextField(blank=True, help_text="The code that was to run in place of the call's. Empty: it was not changed.", null=True)),
                ('is_timeout', models.BooleanField(default=False, help_text='Whether nobody had decided in time.')),
                ('decided_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('decided_by', models.ForeignKey(blank=True, help_text='Empty: nobody decided in time, the account was deleted, or the answer was imported.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('turn', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='decisions', to='chat.turn')),
            ],
            options={
                'ordering': ['turn', 'decided_at', 'pk'],
            },
        ),
    ]
