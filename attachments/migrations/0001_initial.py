"""The tables of a new database. `0002_owner` adds the owner of a file."""

import attachments.images
import django.db.models.deletion
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Attachment',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(help_text='A label, never a path.', max_length=255)),
                ('mime_type', models.CharField(max_length=100)),
                ('size_bytes', models.PositiveBigIntegerField()),
                ('sha256', models.CharField(help_text='SHA-256 of the bytes, in hexadecimal.', max_length=64)),
                ('width', models.PositiveIntegerField(blank=True, help_text='In pixels; empty if the file is not an image.', null=True)),
                ('height', models.PositiveIntegerField(blank=True, help_text='In pixels; empty if the file is not an image.', null=True)),
                ('scale', models.PositiveSmallIntegerField(db_default=1, default=1, help_text='Pixels of the image for one pixel of the page, in each direction.')),
                ('is_graph', models.BooleanField(default=False, help_text='Whether executed code drew this image.')),
                ('status', models.CharField(choices=[('pending', 'waiting for storage'), ('stored', 'in storage'), ('failed', 'storage refuses it; kept in the database and retried from time to time')], default='pending', max_length=10)),
                ('storage_name', models.CharField(blank=True, help_text='Set once storage has confirmed the bytes.', max_length=255)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('stored_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['created_at'],
            },
            bases=(attachments.images.MaybeImage, models.Model),
        ),
        migrations.CreateModel(
            name='ObjectDeletion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('owner_id', models.BigIntegerField(help_text='Id of the account that owned the file.')),
                ('sha256', models.CharField(max_length=64)),
                ('mime_type', models.CharField(max_length=100)),
                ('size_bytes', models.PositiveBigIntegerField()),
                ('storage_name', models.CharField(blank=True, help_text='Empty: storage had not confirmed the upload. An object may exist anyway.', max_length=255)),
                ('attempts', models.PositiveIntegerField(default=0)),
                ('next_attempt_at', models.DateTimeField(db_index=True)),
                ('last_error', models.TextField(blank=True)),
                ('is_permanent', models.BooleanField(default=False, help_text='Storage refuses the deletion until its configuration or permissions change.')),
                ('claimed_until', models.DateTimeField(blank=True, help_text='A worker has claimed this deletion until then.', null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['next_attempt_at'],
            },
        ),
        migrations.CreateModel(
            name='AttachmentPreview',
            fields=[
                ('attachment', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='preview', serialize=False, to='attachments.attachment')),
                ('version', models.PositiveSmallIntegerField(help_text='The version of the program that described the file.')),
                ('content', models.JSONField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name='PendingUpload',
            fields=[
                ('attachment', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='pending_upload', serialize=False, to='attachments.attachment')),
                ('attempts', models.PositiveIntegerField(default=0)),
                ('next_attempt_at', models.DateTimeField(db_index=True)),
                ('last_error', models.TextField(blank=True)),
                ('is_permanent', models.BooleanField(default=False, help_text='Storage refuses the upload until its configuration or permissions change.')),
                ('claimed_until', models.DateTimeField(blank=True, help_text='A worker has claimed this upload until then.', null=True)),
                ('data', models.BinaryField()),
            ],
            options={
                'ordering': ['next_attempt_at'],
            },
        ),
    ]
