"""The command that brings a database of the last version before 1.0 to 1.0."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from chat.models.release import BEFORE_1_0
from tests.environment import ROOT
from tests.server_databases import SQLITE_FILE, environment

LIMIT_S = 60.0
OLD_SCHEMA = """
    DROP INDEX usernames_in_any_case;
    ALTER TABLE chat_user DROP COLUMN former_username;
    DELETE FROM django_migrations WHERE app IN ('attachments', 'chat');
"""
"""SQL that changes a database of 1.0 to the version before, except for the default of two columns."""


APPLIED = "INSERT INTO django_migrations (app, name, applied) VALUES ('{}', '{}', '2026-11-26');"


MANAGE = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
from django.core.management import execute_from_command_line

def output(command):
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as errors:
        try:
            execute_from_command_line(["manage.py", *command.split()])
        except SystemExit:
            return f"refused: {errors.getvalue()}"
    return out.getvalue()

print(json.dumps([output(command) for command in sys.argv[1:]]))
"""


class Database:
    """A separate SQLite database. Commands on it run in a separate process."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / SQLITE_FILE
        self._environment = environment(folder, DATABASE_URL="")

    def manage(self, *commands: str) -> list[str]:
        """Run commands of `manage.py` in one process; return the output of each, with `refused: ` if it failed."""
        result = subprocess.run(
            [sys.executable, "-c", MANAGE, *commands],
            cwd=ROOT,
            env=self._environment | {"DJANGO_SETTINGS_MODULE": "config.settings"},
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=True,
        )
        outputs: list[str] = json.loads(result.stdout)
        return outputs

    def execute(self, script: str) -> None:
        """Execute SQL statements."""
        with closing(sqlite3.connect(self.file)) as connection:
            connection.create_function("chat_entry_words", 2, lambda owner, text: text, deterministic=True)
            connection.executescript(script)

    def read(self, query: str) -> list[tuple[object, ...]]:
        """Return the rows of a query."""
        with closing(sqlite3.connect(self.file)) as connection:
            return connection.execute(query).fetchall()


@pytest.fixture(scope="module")
def old_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database file that `old` copies."""
    database = Database(tmp_path_factory.mktemp("old"))
    # Later migrations are not applied yet.
    apps = ("chat 0001", "attachments 0002", "account", "admin", "django_tasks_database", "mfa", "sessions")
    outputs = database.manage(*(f"migrate --skip-checks {app}" for app in apps))
    assert "refused" not in "".join(outputs)
    applied = "".join(
        APPLIED.format(app, f"{number:04}" if number < count else last)
        for app, (count, last) in BEFORE_1_0.items()
        for number in range(1, count + 1)
    )
    people = "".join(
        "INSERT INTO chat_user (password, is_superuser, username, first_name, last_name, email, is_staff, is_active,"
        f" date_joined, default_approval) VALUES ('', 0, '{name}', '', '', '', 0, 1, '2026-11-26', 'always');"
        for name in ("Anna", "anna", "bob", "ANNA")
    )
    database.execute(OLD_SCHEMA + applied + people)
    return database.file


@pytest.fixture
def old(old_file: Path, tmp_path: Path) -> Database:
    """A database of the last version before 1.0 with four accounts, three of which differ only in case."""
    database = Database(tmp_path)
    shutil.copy(old_file, database.file)
    return database


def test_migrate_refuses_an_old_database_until_the_upgrade_command_has_run(old: Database) -> None:
    schema = "SELECT type, name, tbl_name FROM sqlite_master ORDER BY 1, 2"
    before = old.read(schema)
    [refusal] = old.manage("migrate")
    assert "upgrade_to_1_0" in refusal
    assert old.read(schema) == before
    printed, again = old.manage("upgrade_to_1_0", "upgrade_to_1_0")
    assert "anna is now anna-2." in printed
    assert "ANNA is now ANNA-3." in printed
    assert "nothing to do" in again
    assert old.read("SELECT username, former_username, default_approval FROM chat_user ORDER BY id") == [
        ("Anna", "", "auto"),
        ("anna-2", "anna", "auto"),
        ("bob", "", "auto"),
        ("ANNA-3", "ANNA", "auto"),
    ]
    assert {*old.read(schema)} - {*before} == {("index", "usernames_in_any_case", "chat_user")}
    migrated, again = old.manage("migrate", "migrate")
    assert "refused" not in migrated
    assert "No migrations to apply" in again


def test_command_says_what_to_do_if_the_database_cannot_be_upgraded(old: Database) -> None:
    old.execute("DELETE FROM django_migrations WHERE name = '0034_dated_catalogue'")
    [refusal] = old.manage("upgrade_to_1_0")
    assert "not at the last version before 1.0" in refusal
    old.file.unlink()
    [refusal] = old.manage("upgrade_to_1_0")
    assert "Run `python manage.py migrate`" in refusal


def test_id_of_a_deleted_account_is_never_given_again(old: Database) -> None:
    ids = "SELECT seq FROM sqlite_sequence WHERE name = 'chat_user'"
    old.execute("DELETE FROM chat_user WHERE username = 'ANNA'")
    before = old.read(ids)
    assert "is now" in "".join(old.manage("upgrade_to_1_0"))
    assert old.read(ids) == before
