"""Templates of what a live answer renders again and again, in Jinja: a message takes it a tenth of Django's own time.

Files end in `.jinja`; all others are Django's. Both escape whatever is not marked as safe.
"""

from __future__ import annotations

from typing import Any

from django.template.defaultfilters import filesizeformat, pluralize
from django.template.loader import get_template
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
    return SafeString(get_template(f"{name}.jinja", using="jinja2").render(context))
