"""The people who use Plotline, with the settings of their account."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.contrib.auth.models import AbstractUser, UserManager
from django.core.exceptions import ValidationError
from django.db import connection, models
from django.db.models import Q
from django.db.models.functions import Upper
from django.utils.translation import gettext, gettext_lazy

from chat.models.settings_choices import Approval, CodeExecution, Engine, Release

INSTRUCTION_LIMIT = 4000
"""Maximum length of a person's own instruction, in characters."""


class NamesInAnyCase(UserManager["User"]):
    """Finds accounts by their names, without regard to case."""

    use_in_migrations = False

    def named(self, name: str) -> User | None:
        """Return the account with this name. Different Unicode forms of the letters count as equal, because input
        methods may write them.
        """
        usual = self.model.normalize_username(name)
        found = self.filter(Q(username__iexact=name) | Q(username__iexact=usual))
        if connection.vendor == "sqlite" and not usual.isascii():
            # SQLite ignores case only for ASCII letters, so the names are compared in Python.
            names = self.values_list("pk", "username").iterator()
            found = self.filter(pk__in=[pk for pk, other in names if other.lower() == usual.lower()])
        return min(found, key=lambda user: (user.username != name, user.username.upper() != name.upper()), default=None)

    def get_by_natural_key(self, username: str | None) -> User:
        """Return the account with this name. Raises User.DoesNotExist if there is none."""
        user = self.named(username or "")
        if user is None:
            raise self.model.DoesNotExist
        return user


class User(AbstractUser):
    """An account. Its settings are columns, because each request loads this row anyway."""

    class Theme(models.TextChoices):
        """The colours of the pages."""

        SYSTEM = "system", "as the device"
        LIGHT = "light", "light"
        DARK = "dark", "dark"

    display_name = models.CharField(
        db_default="", default="", max_length=100, blank=True, help_text="Empty: the username is shown."
    )
    theme = models.CharField(db_default=Theme.SYSTEM, max_length=6, choices=Theme.choices, default=Theme.SYSTEM)
    language = models.CharField(
        db_default="",
        default="",
        max_length=10,
        choices=settings.LANGUAGES,
        blank=True,
        help_text="Of the pages. Empty: as the browser asks.",
    )
    browser_language = models.CharField(
        db_default="",
        default="",
        max_length=10,
        blank=True,
        help_text="What the browser asked for last. Answers are rendered without a request.",
    )
    time_zone = models.CharField(
        db_default="",
        default="",
        max_length=64,
        blank=True,
        help_text="Of the browser, by its IANA name. Models are told the time there. Empty: not known.",
    )
    default_model = models.CharField(
        db_default="",
        default="",
        max_length=200,
        blank=True,
        help_text="Of new conversations. Empty: the server's default model.",
    )
    default_code_execution = models.CharField(
        db_default=CodeExecution.AUTO,
        max_length=4,
        choices=CodeExecution.choices,
        default=CodeExecution.AUTO,
        help_text="Of new conversations.",
    )
    default_engine = models.CharField(
        db_default=Engine.AUTO,
        max_length=7,
        choices=Engine.choices,
        default=Engine.AUTO,
        help_text="Of new conversations.",
    )
    default_approval = models.CharField(
        db_default=Approval.AUTO,
        max_length=6,
        choices=Approval.choices,
        default=Approval.AUTO,
        help_text="Of new conversations.",
    )
    default_release = models.CharField(
        db_default=Release.AUTO,
        max_length=4,
        choices=Release.choices,
        default=Release.AUTO,
        help_text="Of new conversations.",
    )
    instruction = models.TextField(
        db_default="",
        default="",
        blank=True,
        max_length=INSTRUCTION_LIMIT,
        help_text="Sent to the model in all conversations of this person.",
    )
    deletion_at = models.DateTimeField(
        null=True, blank=True, db_index=True, help_text="When the account is deleted. Empty: it is kept."
    )
    former_username = models.CharField(
        db_default="",
        default="",
        max_length=150,
        blank=True,
        editable=False,
        help_text="The name before it was changed because another account had it in another case. It still logs in.",
    )

    objects: ClassVar[NamesInAnyCase] = NamesInAnyCase()

    class Meta(AbstractUser.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                Upper("username"),
                name="usernames_in_any_case",
                violation_error_message=gettext_lazy("A user with that username already exists."),
            )
        ]

    def clean(self) -> None:
        """Raise ValidationError if the name is taken in another case, which SQLite's constraint may not notice."""
        super().clean()
        is_kept = User.objects.filter(pk=self.pk, username=self.username).exists()
        other = None if is_kept else User.objects.named(self.username)
        if other is not None and other.pk != self.pk:
            raise ValidationError({"username": gettext("A user with that username already exists.")})

    @property
    def shown_name(self) -> str:
        """The name by which the pages address the person."""
        return self.display_name or self.get_username()

    @property
    def shown_language(self) -> str:
        """The language of all texts that the person is shown."""
        return self.language or self.browser_language or settings.LANGUAGE_CODE

    def default_settings(self) -> dict[str, str]:
        """Return the values of columns of a new conversation that this person's settings prescribe."""
        return {
            "model": self.default_model,
            "code_execution": self.default_code_execution,
            "engine": self.default_engine,
            "approval": self.default_approval,
            "release": self.default_release,
        }


def lock_user(user_id: int) -> None:
    """Lock a user's row until the end of the transaction, so that counts for this user do not change meanwhile.

    Other transactions can still add rows that refer to the user, because `no_key` lets their foreign keys be checked.
    """
    list(User.objects.select_for_update(no_key=True).filter(pk=user_id).values_list("pk"))
