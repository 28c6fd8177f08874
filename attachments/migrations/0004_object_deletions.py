"""The queue of objects that must be deleted from storage, and the trigger that fills it.

The trigger runs for every deleted attachment: by the ORM in bulk, by a cascade and by plain SQL, in the same transaction. An upload
may still be running for an attachment without `storage_name`, so its object is deleted only after a minute.

SQLite drops the trigger of a table that a later migration rebuilds, and says nothing. Such a migration must execute CREATE again; a
test checks that the trigger exists after the last migration.
"""

from django.db import migrations, models

INSERT = """
    INSERT INTO attachments_objectdeletion
        (owner_id, sha256, mime_type, size_bytes, storage_name, attempts, next_attempt_at, last_error, is_permanent, created_at)
    VALUES
        (OLD.owner_id, OLD.sha256, OLD.mime_type, OLD.size_bytes, OLD.storage_name, 0,
         CASE WHEN OLD.storage_name = '' THEN {later} ELSE {now} END, '', FALSE, {now});
"""

CREATE = {
    "sqlite": (
        f"""
        CREATE TRIGGER attachments_attachment_deleted AFTER DELETE ON attachments_attachment
        BEGIN
            {INSERT.format(
                now="strftime('%Y-%m-%d %H:%M:%f', 'now')",
                later="strftime('%Y-%m-%d %H:%M:%f', 'now', '+60 seconds')",
            )}
        END
        """,
    ),
    "postgresql": (
        f"""
        CREATE FUNCTION attachments_queue_object_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            {INSERT.format(now="clock_timestamp()", later="clock_timestamp() + interval '60 seconds'")}
            RETURN NULL;
        END $$
        """,
        """
        CREATE TRIGGER attachments_attachment_deleted AFTER DELETE ON attachments_attachment
        FOR EACH ROW EXECUTE FUNCTION attachments_queue_object_deletion()
        """,
    ),
}

DROP = {
    "sqlite": ("DROP TRIGGER attachments_attachment_deleted",),
    "postgresql": (
        "DROP TRIGGER attachments_attachment_deleted ON attachments_attachment",
        "DROP FUNCTION attachments_queue_object_deletion()",
    ),
}


def create(apps, schema_editor):
    for statement in CREATE[schema_editor.connection.vendor]:
        schema_editor.connection.cursor().execute(statement)


def drop(apps, schema_editor):
    for statement in DROP[schema_editor.connection.vendor]:
        schema_editor.connection.cursor().execute(statement)


class Migration(migrations.Migration):

    dependencies = [
        ("attachments", "0003_attachment_scale"),
    ]

    operations = [
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
                'indexes': [models.Index(fields=['owner_id', 'sha256'], name='deletions_by_object')],
            },
        ),
        migrations.RunPython(create, drop),
    ]
