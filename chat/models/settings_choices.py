"""The values of settings of conversations. People also choose them as the defaults of new conversations."""

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


class Release(models.TextChoices):
    """Whether the owner must release each result before a model gets it."""

    AUTO = "auto", "without asking"
    ASK = "ask", "after you have released it"


class WebSearch(models.TextChoices):
    """Whether answers may search the web and read web pages, if their model can."""

    AUTO = "auto", "as the chosen preset does"
    ON = "on", "when it helps the answer"
    OFF = "off", "never"


class TitleSource(models.TextChoices):
    """Who wrote the title of a conversation."""

    WORDS = "words", "its first words"
    MODEL = "model", "a model"
    USER = "user", "its owner"


def model_protocol_choices() -> list[tuple[str, str]]:
    """Return the choices of a model's protocol. Migrations name this function, so new choices need no migration."""
    return [(INTERACTIONS_API, INTERACTIONS_API)]
