"""The files under `locale`: texts with their translations (`.po`), and the compiled form for the server (`.mo`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polib
from django.conf import settings
from django.utils.translation import to_locale

from config.folders import BASE_DIR
from tests.languages.extraction import Found, find_script_words, find_words

PLURAL_FORMS = {"de": "nplurals=2; plural=(n != 1);", "zh-hans": "nplurals=1; plural=0;"}
PLURALS = {"de": 2, "zh-hans": 1}
DOMAINS = {"django": find_words, "djangojs": find_script_words}
"""Domain -> function that finds its texts: those of pages, and those of scripts."""


def other_languages() -> list[str]:
    """Return all languages except English, whose texts are in the code."""
    return [code for code, _ in settings.LANGUAGES if code != "en"]


def catalogue_path(language: str, domain: str) -> Path:
    """Return the `.po` file of a language."""
    return BASE_DIR / "locale" / to_locale(language) / "LC_MESSAGES" / f"{domain}.po"


def read_catalogue(language: str, domain: str) -> dict[Found, polib.POEntry]:
    """Return the entries of a language that are in use."""
    path = catalogue_path(language, domain)
    entries = polib.pofile(str(path), wrapwidth=120) if path.exists() else []
    return {Found(one.msgid, one.msgid_plural, one.msgctxt or ""): one for one in entries if not one.obsolete}


def update_catalogue(language: str, domain: str) -> int:
    """Add new texts to a catalogue, remove those that are gone, and compile it; return how many lack a translation."""
    known = read_catalogue(language, domain)
    found = DOMAINS[domain]()
    file = polib.POFile(wrapwidth=120)
    file.metadata = {
        "Project-Id-Version": "Plotline",
        "Language": to_locale(language),
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
        "Plural-Forms": PLURAL_FORMS[language],
    }
    for text, places in sorted(found.items(), key=lambda item: (item[1][0], item[0])):
        file.append(_entry(text, places, known, PLURALS[language]))
    path = catalogue_path(language, domain)
    path.parent.mkdir(parents=True, exist_ok=True)
    file.save(str(path))
    file.save_as_mofile(str(path.with_suffix(".mo")))
    return len(file.untranslated_entries())


def _entry(text: Found, places: list[str], known: Mapping[Found, polib.POEntry], forms: int) -> polib.POEntry:
    """Return the entry of a text, with the translation that it has already."""
    before = known.get(text)
    entry = polib.POEntry(
        msgid=text.text,
        msgid_plural=text.plural,
        msgctxt=text.context or None,
        occurrences=[(place, "") for place in places],
        msgstr=before.msgstr if before and not text.plural else "",
    )
    if text.plural:
        entry.msgstr_plural = before.msgstr_plural if before else dict.fromkeys(range(forms), "")
    if "%(" in text.text:
        entry.flags = ["python-format"]
    return entry
