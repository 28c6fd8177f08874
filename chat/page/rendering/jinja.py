"""The Jinja environment for fragments that live answers render repeatedly.

Templates whose names end in `.jinja` are rendered here; all other templates use Django's engine. Decision record 0012
(`docs/decisions`) says why. Both engines escape every value that is not marked as safe.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

from django.template import engines
from django.template.defaultfilters import filesizeformat
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext, ngettext, pgettext
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from chat.page.rendering.compact_json import compact_json, shown_json
from chat.page.rendering.highlight import highlight_code
from chat.page.rendering.table_changes import table_change_html
from chat.vocabulary.escape_codes import remove_escape_codes
from chat.vocabulary.number_text import group_thousands, localize_number
from chat.vocabulary.sentences import translate_sentence


def environment(**options: Any) -> Environment:
    """Return the environment that `TEMPLATES` in the settings refers to.

    An undefined name in a template raises `jinja2.UndefinedError` (`StrictUndefined`).
    """
    extensions = [*options.pop("extensions", ()), "jinja2.ext.i18n"]
    fixed = {"undefined": StrictUndefined, "autoescape": True, "extensions": extensions}
    jinja_environment = Environment(**{**options, **fixed})
    # The catalogue of the reader's language is looked up at each call: one template serves all languages. `render`
    # replaces `_`.
    jinja_environment.install_gettext_callables(  # type: ignore[attr-defined]
        gettext, ngettext, newstyle=True, pgettext=pgettext
    )
    jinja_environment.filters |= {"filesizeformat": filesizeformat, "grouped": group_thousands}
    jinja_environment.filters["localized"] = lambda number: localize_number(str(number))
    jinja_environment.filters |= {"sentence": translate_sentence, "table_change": table_change_html}
    jinja_environment.filters["without_escape_codes"] = remove_escape_codes
    jinja_environment.filters |= {"compact_json": compact_json, "shown_json": shown_json}
    jinja_environment.filters["highlighted"] = lambda code: highlight_code(code, "python")
    return jinja_environment


def render(name: str, context: dict[str, object]) -> SafeString:
    """Render `templates/<name>.jinja` with this context."""
    template = engines["jinja2"].get_template(f"{name}.jinja")
    return SafeString(template.render({**context, "_": partial(_translate, get_language())}))


def _translate(language: str | None, text: str, **variables: object) -> Markup:
    """Return the text in the active language, `language`, with its variables, which are escaped."""
    translation = _translation(language, text)
    return translation % variables if variables else translation


@lru_cache(maxsize=1_000)
def _translation(language: str | None, text: str) -> Markup:
    """Return the text in the active language. Kept: Django searches several catalogues, and a page has 500 texts."""
    return Markup(gettext(text))
