"""The values of settings that conversations have, and that people choose as the defaults of new ones."""

from __future__ import annotations

from django.db import models

from chat.vocabulary.dialect_names import INTERACTIONS_API


class CodeExecution(models.TextChoices):
    """When answers may run code."""

    AUTO = "auto", "when the question asks for it"
    ON = "on", "always"
    OFF = "off", "never"


class Engine(models.TextChoices):
    """Where the code of answers runs."""

    AUTO = "auto", "at the model's service; in the Python session if it has to"
    NATIVE = "native", "at the model's service"
    SESSION = "session", "in the Python session"


class Approval(models.TextChoices):
    """Whether the owner must approve code before it runs in the Python session."""

    AUTO = "auto", "without asking"
    ASK = "ask", "after you have approved it"


def model_protocol_choices() -> list[tuple[str, str]]:
    """Return the choices of a model's protocol. They are no part of migrations."""
    return [(INTERACTIONS_API, INTERACTIONS_API)]
