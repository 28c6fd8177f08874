"""Templates of what a live answer renders again and again, in Jinja: a message takes it a tenth of Django's own time.

Files end in `.jinja`; all others are Django's. Both escape whatever is not marked as safe.
"""

from __future__ import annotations

import re
from typing import Any

from django.template import engines
from django.template.backends.jinja2 import Jinja2
from django.template.defaultfilters import filesizeformat, pluralize
from django.utils.safestring import SafeString
from jinja2 import Environment, StrictUndefined
from jinja2.ext import Extension

INCLUDE = re.compile(r'\{% include "([^"]+)" %\}')


class Inlined(Extension):
    """Puts a template in the place of its include, once, when it is compiled.

    An include makes a context of its own each time, which takes longer than most of our small templates. So what is
    included shares its names with whoever includes it: what it sets, the other must not use, and none includes itself.
    """

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        """The source with all that it includes by a name; names that are made up while rendering stay includes."""
        return INCLUDE.sub(lambda found: self._included(found[1]), source)

    def _included(self, name: str) -> str:
        assert self.environment.loader is not None
        source, _, _ = self.environment.loader.get_source(self.environment, name)
        return self.preprocess(source.removesuffix("\n"), name)


def environment(**options: Any) -> Environment:  # noqa: ANN401 - Jinja's own options
    """Settings' `TEMPLATES` name this; a name that a template misspells is an error."""
    made = Environment(**{**options, "undefined": StrictUndefined, "autoescape": True})
    if not made.auto_reload:
        # Else a template would not be compiled anew when one that it includes has changed.
        made.add_extension(Inlined)
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
