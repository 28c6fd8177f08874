"""The Jinja environment for fragments that live answers render repeatedly.

Templates whose names end in `.jinja` are rendered here; all other templates use Django's engine. Decision record 0012
(`docs/decisions`) says why. Both engines escape every value that is not marked as safe.
"""

from __future__ import annotations

from typing import Any

from django.template import engines
from django.template.defaultfilters import filesizeformat, pluralize
from django.utils.safestring import SafeString
from jinja2 import Environment, StrictUndefined


def environment(**options: Any) -> Environment:  # noqa: ANN401 - options are passed through to Jinja's constructor
    """Return the environment that `TEMPLATES` in the settings refers to.

    An undefined name in a template raises `jinja2.UndefinedError` (`StrictUndefined`).
    """
    jinja_environment = Environment(**{**options, "undefined": StrictUndefined, "autoescape": True})
    jinja_environment.filters |= {"filesizeformat": filesizeformat, "grouped": group_thousands, "pluralize": pluralize}
    return jinja_environment


def group_thousands(number: int) -> str:
    """Format a number with commas between thousands: 1234 becomes `1,234`."""
    return f"{number:,}"


def render(name: str, context: dict[str, object]) -> SafeString:
    """Render `templates/<name>.jinja` with this context."""
    return SafeString(engines["jinja2"].get_template(f"{name}.jinja").render(context))
