"""Projects, and the column that puts conversations into them.

A column that is null everywhere rewrites no table, and PostgreSQL need not check its foreign key. SQLite adds it in
place, too. The next migration creates its index.
"""

import uuid

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("attachments", "0004_object_deletions"),
        ("chat", "0023_login_sessions"),
    ]

    operations = [
        migrations.CreateModel(
            name='Project',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=200)),
                ('instruction', models.TextField(blank=True, help_text='Sent to the model in all conversations of this project.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True, help_text='When it, its files, or which conversations it holds last changed.')),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='projects', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-updated_at'],
                'indexes': [models.Index(fields=['owner', '-updated_at'], name='projects_of_owner')],
            },
        ),
        migrations.CreateModel(
            name='ProjectFile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('attachment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='project_files', to='attachments.attachment')),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='files', to='chat.project')),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.UniqueConstraint(fields=('project', 'attachment'), name='one_link_per_project_file')],
            },
        ),
        migrations.AddField(
            model_name='conversation',
            name='project',
            field=models.ForeignKey(blank=True, db_index=False, help_text='The folder that it is in. Empty: none.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='conversations', to='chat.project'),
        ),
    ]
