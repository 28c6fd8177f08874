"""The owner of a file, and the trigger that queues the objects that must be deleted from storage.

The owner's account refers to files itself, so this cannot be part of the first migration. The trigger runs for every
deleted attachment: by the ORM in bulk, by a cascade and by plain SQL, in the same transaction. An upload may still be
running for an attachment without `storage_name`, so its object is deleted only after a minute.

SQLite drops the trigger of a table that a later migration rebuilds, and says nothing. Such a migration must call
`create` again; a test checks that the trigger exists after the last migration.
"""

import django.db.models.deletion
from django.conf import settings
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


def create(apps, schema_editor):
    """Create the trigger."""
    with schema_editor.connection.cursor() as cursor:
        for statement in CREATE[schema_editor.connection.vendor]:
            cursor.execute(statement)


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('attachments', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='attachment',
            name='owner',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='attachments', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddIndex(
            model_name='objectdeletion',
            index=models.Index(fields=['owner_id', 'sha256'], name='deletions_by_object'),
        ),
        migrations.AddIndex(
            model_name='attachment',
            index=models.Index(fields=['owner', 'created_at'], name='attachments_owner_i_b8e723_idx'),
        ),
        migrations.RunPython(create, migrations.RunPython.noop),
    ]
