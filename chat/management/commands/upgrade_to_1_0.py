"""`manage.py upgrade_to_1_0`: brings a database of the last version before 1.0 to 1.0. No server may run meanwhile."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from django.conf import settings
from django.core.mail import send_mail
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import CharField, Model, Value
from django.db.models.functions import Upper
from django.utils.translation import gettext, override

from chat.migrations import _search
from chat.models import User
from chat.models.release import MIGRATIONS_OF_1_0, Release, release_of
from chat.people.account.number_format import format_count

NAME_LIMIT = 150
"""Maximum length of a user name, in characters, as in the column."""

OLDER = (
    "This database is not at the last version before 1.0. Check that version out (its last migration is"
    " chat.0034_dated_catalogue), run its `manage.py migrate`, and then this command with 1.0."
)
EMPTY = "This database has no tables of Plotline. Run `python manage.py migrate`."


class Command(BaseCommand):
    """Brings a database of the last version before 1.0 to 1.0."""

    help = "Bring a database of the last version before 1.0 to 1.0, in one transaction. Stop the servers first."
    # A system check refuses such a database. It stops `migrate`, but must not stop this command.
    requires_system_checks = ()

    def handle(self, *args: object, **options: object) -> None:
        """Upgrade the database. Raise CommandError if it cannot be upgraded."""
        match release_of(connection):
            case Release.EMPTY:
                raise CommandError(EMPTY)
            case Release.OLDER:
                raise CommandError(OLDER)
            case Release.CURRENT:
                self.stdout.write("There is nothing to do: this database is at 1.0 or later.")
                return
            case Release.LAST_BEFORE_1_0:
                pass
        # Use the models of 1.0, without what later versions add to them.
        apps = MigrationLoader(None).project_state(MIGRATIONS_OF_1_0[-1]).apps
        users, conversations = apps.get_model("chat", "User"), apps.get_model("chat", "Conversation")
        with connection.schema_editor() as editor:
            _add_former_names()
            renamed = _rename_doubles(users)
            last_id = _last_id_of_users()
            _search.drop_triggers(apps, editor)
            _change_approval(editor, conversations, "approval")
            _change_approval(editor, users, "default_approval")
            if connection.vendor != "sqlite":
                # On SQLite, `_change_approval` has rebuilt the table already, with all constraints of the model.
                editor.add_constraint(users, users._meta.constraints[0])
            _restore_last_id_of_users(last_id)
            _search.restore_triggers(apps, editor)
            _record_migrations()
        for user in renamed:
            self.stdout.write(f"{user.former_username} is now {user.username}.")
        self.stdout.write(f"This database is at 1.0. {format_count(len(renamed), 'account')} got a new name.")
        self._tell(renamed)

    def _tell(self, renamed: Sequence[User]) -> None:
        """Mail their new names to the users who have an address."""
        addressed = [user for user in renamed if user.email]
        if addressed and not settings.EMAIL_URL:
            self.stdout.write("No mail was sent, because EMAIL_URL is not set. Tell them their new names.")
            return
        for user in addressed:
            with override(user.language or user.browser_language or settings.LANGUAGE_CODE):
                subject = gettext("Your new username")
                text = gettext(
                    "Your username is now “%(new)s”, because another account had “%(old)s” before you, in another case."
                    " You can also log in as before: with the old name, exactly as you wrote it."
                ) % {"new": user.username, "old": user.former_username}
            try:
                send_mail(subject, text, None, [user.email])
            except (OSError, ValueError) as error:
                # The text of the error may contain the address.
                self.stderr.write(f"{user.username} got no mail: {type(error).__name__}.")


def _add_former_names() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE chat_user ADD COLUMN former_username varchar(150) DEFAULT '' NOT NULL")


def _rename_doubles(users: type[User]) -> list[User]:
    """Rename accounts whose names differ from an older one only in case. Return the renamed accounts."""
    known: set[str] = set()
    renamed: list[User] = []
    for user in users._default_manager.annotate(name=Upper("username")).order_by("pk"):
        if user.name in known:
            user.former_username, user.username = user.username, _free_name(users, user.username)
            user.save(update_fields=["username", "former_username"])
            renamed.append(user)
        known.add(user.name)
    return renamed


def _free_name(users: type[User], name: str) -> str:
    for number in itertools.count(2):
        free = f"{name[: NAME_LIMIT - len(str(number)) - 1]}-{number}"
        if not users._default_manager.filter(username__iexact=free).exists():
            return free
    raise AssertionError("the numbers have no end")


def _change_approval(editor: BaseDatabaseSchemaEditor, model: type[Model], name: str) -> None:
    """Replace the value `always` by `auto`, in the rows and as the default of the column."""
    model._default_manager.filter(**{name: "always"}).update(**{name: "auto"})
    new = model._meta.get_field(name)
    assert isinstance(new, CharField)
    old = new.clone()
    old.db_default = Value("always")
    old.set_attributes_from_name(name)
    old.model = model
    editor.alter_field(model, old, new)


def _last_id_of_users() -> int:
    """Return the highest id that SQLite ever gave to an account; 0 for other databases, which never use an id again."""
    if connection.vendor != "sqlite":
        return 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'chat_user'")
        last_id: int = cursor.fetchone()[0]
    return last_id


def _restore_last_id_of_users(last_id: int) -> None:
    """Keep SQLite from giving the id of a deleted account again, which the access log and verdicts still name."""
    if last_id:
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM sqlite_sequence WHERE name = 'chat_user'")
            cursor.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('chat_user', %s)", [last_id])


def _record_migrations() -> None:
    recorder = MigrationRecorder(connection)
    recorder.migration_qs.filter(app__in=("attachments", "chat")).delete()
    for app, name in MIGRATIONS_OF_1_0:
        recorder.record_applied(app, name)
