"""The words of scripts in other languages, which a page carries as JSON; `static/js/words.js` looks them up."""

from __future__ import annotations

import gettext
import json
from functools import cache
from pathlib import Path

from django.conf import settings
from django.utils.safestring import SafeString
from django.utils.translation import to_locale

DOMAIN = "djangojs"


@cache
def script_words_json(language: str) -> SafeString:
    """Return a JSON object: English words -> their translation, or all forms of it if they have a number."""
    words: dict[str, str | list[str]] = {}
    for folder in settings.LOCALE_PATHS:
        path = Path(folder) / to_locale(language) / "LC_MESSAGES" / f"{DOMAIN}.mo"
        if path.exists():
            with path.open("rb") as file:
                words |= _words_of(gettext.GNUTranslations(file))
    # In a script element, nothing but the end of the element could be read as HTML.
    return SafeString(json.dumps(words, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"))


def _words_of(translations: gettext.GNUTranslations) -> dict[str, str | list[str]]:
    catalogue: dict[str | tuple[str, int], str] = translations._catalog  # type: ignore[attr-defined]
    words: dict[str, str | list[str]] = {key: text for key, text in catalogue.items() if isinstance(key, str) and key}
    for key, text in sorted((key, text) for key, text in catalogue.items() if isinstance(key, tuple)):
        forms = words.setdefault(key[0], [])
        assert isinstance(forms, list)
        forms.append(text)
    return words
