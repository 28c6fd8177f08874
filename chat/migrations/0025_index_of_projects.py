"""The index of the conversations in projects.

PostgreSQL builds it concurrently, so that nobody waits who writes. A migration that was interrupted begins again.
"""

from django.db import migrations, models

CREATE = """
    CREATE INDEX {concurrently} "project_conversations" ON "chat_conversation" ("project_id", "updated_at" DESC)
    WHERE "project_id" IS NOT NULL
"""
DROP = 'DROP INDEX {concurrently} IF EXISTS "project_conversations"'


def create_index(apps, schema_editor):
    """Create the index. What an interrupted build has left is dropped first."""
    run(schema_editor, DROP, CREATE)


def drop_index(apps, schema_editor):
    """Drop the index."""
    run(schema_editor, DROP)


def run(schema_editor, *statements):
    """Execute the statements without a limit on their time."""
    is_postgresql = schema_editor.connection.vendor == "postgresql"
    limits = ("lock_timeout", "statement_timeout") if is_postgresql else ()
    with schema_editor.connection.cursor() as cursor:
        for name in limits:
            cursor.execute(f"SET {name} = 0")
        for statement in statements:
            cursor.execute(statement.format(concurrently="CONCURRENTLY" if is_postgresql else ""))
        for name in limits:
            cursor.execute(f"RESET {name}")


class Migration(migrations.Migration):

    # An index that is built concurrently can be in no transaction.
    atomic = False

    dependencies = [
        ("chat", "0024_projects"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(create_index, drop_index)],
            state_operations=[
                migrations.AddIndex(
                    model_name='conversation',
                    index=models.Index(condition=models.Q(('project__isnull', False)), fields=['project', '-updated_at'], name='project_conversations'),
                ),
            ],
        ),
    ]
