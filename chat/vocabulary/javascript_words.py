"""The words that scripts show, in the language of the page. The page carries them as JSON; `static/js/words.js` reads
it.
"""

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
    """Return a JSON object: each English text -> its translation, or all plural forms of the translation."""
    words: dict[str, str | list[str]] = {}
    for folder in settings.LOCALE_PATHS:
        path = Path(folder) / to_locale(language) / "LC_MESSAGES" / f"{DOMAIN}.mo"
        if path.exists():
            with path.open("rb") as file:
                words |= _words_of(gettext.GNUTranslations(file))
    # In a script element, HTML parsers look only for the end tag, so escaping `<` is enough.
    return SafeString(json.dumps(words, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"))


def _words_of(translations: gettext.GNUTranslations) -> dict[str, str | list[str]]:
    catalogue: dict[str | tuple[str, int], str] = translations._catalog  # type: ignore[attr-defined]
    words: dict[str, str | list[str]] = {key: text for key, text in catalogue.items() if isinstance(key, str) and key}
    for key, text in sorted((key, text) for key, text in catalogue.items() if isinstance(key, tuple)):
        forms = words.setdefault(key[0], [])
        assert isinstance(forms, list)
        forms.append(text)
    return words
