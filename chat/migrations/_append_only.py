"""Triggers that reject changes of the access log and of verdicts. `chat.models.append_only` describes them.

SQLite drops the triggers of a table that a later migration rebuilds, and says nothing. Such a migration must call
`create` again; a test checks that the triggers exist after the last migration.
"""

from django.apps.registry import Apps
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

CREATE = {
    "sqlite": (
        """
        CREATE TRIGGER chat_accessentry_appended BEFORE UPDATE ON chat_accessentry
        BEGIN SELECT RAISE(ABORT, 'rows of chat_accessentry are never changed'); END
        """,
        """
        CREATE TRIGGER chat_verdict_appended BEFORE UPDATE ON chat_verdict
        BEGIN SELECT RAISE(ABORT, 'rows of chat_verdict are never changed'); END
        """,
    ),
    "postgresql": (
        """
        CREATE FUNCTION chat_refuse_update() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
        END $$
        """,
        """
        CREATE TRIGGER chat_accessentry_appended BEFORE UPDATE ON chat_accessentry
        FOR EACH ROW EXECUTE FUNCTION chat_refuse_update()
        """,
        """
        CREATE TRIGGER chat_verdict_appended BEFORE UPDATE ON chat_verdict
        FOR EACH ROW EXECUTE FUNCTION chat_refuse_update()
        """,
    ),
}


def create(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create the triggers."""
    with schema_editor.connection.cursor() as cursor:
        for statement in CREATE[schema_editor.connection.vendor]:
            cursor.execute(statement)
