"""Templates of what a live answer renders again and again, in Jinja: a message takes it a tenth of Django's own time.

Files end in `.jinja`; all others are Django's. Both escape whatever is not marked as safe.
"""

from __future__ import annotations

from typing import Any

from django.template import engines
from django.template.backends.jinja2 import Jinja2
from django.template.defaultfilters import filesizeformat, pluralize
from django.utils.safestring import SafeString
from jinja2 import Environment, StrictUndefined


def environment(**options: Any) -> Environment:  # noqa: ANN401 - Jinja's own options
    """Settings' `TEMPLATES` name this; a name that a template misspells is an error."""
    made = Environment(**{**options, "undefined": StrictUndefined, "autoescape": True})
    made.filters |= {"filesizeformat": filesizeformat, "grouped": grouped, "pluralize": pluralize}
    return made


def grouped(number: int) -> str:
    """A number with its thousands apart."""
    return f"{number:,}"


def render(name: str, context: dict[str, object]) -> SafeString:
    """What `templates/<name>.jinja` makes of the context."""
    return SafeString(_environment().get_template(f"{name}.jinja").render(context))


def _environment() -> Environment:
    """The settings' one; Django's own `get_template` makes two objects around each template that it gives."""
    engine = engines["jinja2"]
    assert isinstance(engine, Jinja2)
    return engine.env
