"""Reviews, their history and the access log; the database itself refuses changes of the last two."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from chat.models import appended


def create_triggers(apps, schema_editor):
    appended.create_triggers(schema_editor.connection)


def drop_triggers(apps, schema_editor):
    appended.drop_triggers(schema_editor.connection)


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0012_feedback'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Label',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=40, unique=True)),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='Review',
            fields=[
                ('conversation', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to='chat.conversation')),
                ('state', models.CharField(choices=[('unreviewed', 'unreviewed'), ('in_review', 'in review'), ('approved', 'approved'), ('flagged', 'flagged')], default='unreviewed', max_length=10)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('assignee', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='assigned_reviews', to=settings.AUTH_USER_MODEL)),
                ('labels', models.ManyToManyField(blank=True, related_name='reviews', to='chat.label')),
            ],
        ),
        migrations.CreateModel(
            name='Verdict',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reviewer_name', models.CharField(help_text='As it was then.', max_length=150)),
                ('decision', models.CharField(choices=[('taken', 'took it'), ('assigned', 'assigned it'), ('in_review', 'put it back into review'), ('approved', 'approved it'), ('flagged', 'flagged it'), ('noted', 'wrote a note or labels')], max_length=10)),
                ('state', models.CharField(choices=[('unreviewed', 'unreviewed'), ('in_review', 'in review'), ('approved', 'approved'), ('flagged', 'flagged')], help_text='After it.', max_length=10)),
                ('assignee_name', models.CharField(blank=True, help_text='To whom it was assigned.', max_length=150)),
                ('note', models.TextField(blank=True)),
                ('labels', models.JSONField(blank=True, default=list, help_text='After it.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='verdicts', to='chat.conversation')),
                ('reviewer', models.ForeignKey(db_constraint=False, db_index=False, help_text='May be gone.', null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='AccessEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reader_name', models.CharField(help_text='As it was then.', max_length=150)),
                ('conversation_title', models.CharField(blank=True, help_text='As it was then.', max_length=200)),
                ('action', models.CharField(choices=[('read', 'read'), ('file', 'opened a file'), ('exported', 'exported')], max_length=8)),
                ('detail', models.CharField(blank=True, help_text='Which file, what kind of page.', max_length=255)),
                ('reason', models.CharField(blank=True, help_text="In the reader's words.", max_length=500)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('conversation', models.ForeignKey(db_constraint=False, help_text='May be gone.', null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='chat.conversation')),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('reader', models.ForeignKey(db_constraint=False, db_index=False, help_text='May be gone.', null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'line of the access log',
                'verbose_name_plural': 'access log',
                'ordering': ['-pk'],
                'indexes': [models.Index(fields=['owner', '-id'], name='chat_access_owner_i_28424b_idx')],
            },
        ),
        migrations.RunPython(create_triggers, drop_triggers),
    ]
