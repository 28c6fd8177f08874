"""The catalogues are complete: each text of the product is translated, with the same placeholders."""

from __future__ import annotations

import re

import polib
import pytest

from chat.emulator.demo.plan import plan_answer
from tests.languages.catalogues import DOMAINS, PLURALS, catalogue_path, other_languages, read_catalogue
from tests.languages.extraction import Found

PLACES = re.compile(r"%\(\w+\)s|\{\w+\}|<[^>]+>")
PROMPTS = ("Plot a sine wave", "First 50 primes", "Draw a histogram of 1000 random numbers")
SAME_IN_ALL = 0.1
"""Maximum share of texts that are the same in another language, such as `Text` and `{number} MB` in German."""


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("language", other_languages())
class TestCatalogue:
    def test_catalogue_has_each_text_of_the_code_and_no_other(self, language: str, domain: str) -> None:
        found, known = set(DOMAINS[domain]()), set(read_catalogue(language, domain))
        assert found - known == set(), "make messages, then translate"
        assert known - found == set(), "make messages"

    def test_catalogue_has_a_translation_of_each_text(self, language: str, domain: str) -> None:
        entries = read_catalogue(language, domain).values()
        assert [entry.msgid for entry in entries if entry.fuzzy or not all(forms_of(entry, language))] == []

    def test_translations_have_the_placeholders_of_their_text(self, language: str, domain: str) -> None:
        for entry in read_catalogue(language, domain).values():
            for form in forms_of(entry, language):
                texts = [entry.msgid, entry.msgid_plural] if entry.msgid_plural else [entry.msgid]
                assert places(form) in [places(text) for text in texts], entry.msgid

    def test_translations_have_no_outer_spaces_and_keep_a_final_ellipsis(self, language: str, domain: str) -> None:
        for entry in read_catalogue(language, domain).values():
            for form in forms_of(entry, language):
                assert form == form.strip(), entry.msgid
                assert entry.msgid.endswith("…") <= form.endswith(("…", "……")), entry.msgid

    def test_few_translations_equal_the_english_text(self, language: str, domain: str) -> None:
        entries = read_catalogue(language, domain)
        same = [entry.msgid for entry in entries.values() if entry.msgstr == entry.msgid]
        assert len(same) < SAME_IN_ALL * len(entries), same

    def test_compiled_catalogue_equals_its_source(self, language: str, domain: str) -> None:
        compiled = {
            (entry.msgid, *forms_of(entry, language))
            for entry in polib.mofile(str(catalogue_path(language, domain).with_suffix(".mo")))
        }
        entries = read_catalogue(language, domain).values()
        assert compiled == {(entry.msgid, *forms_of(entry, language)) for entry in entries}, "make messages"


def forms_of(entry: polib.POEntry, language: str) -> list[str]:
    """Return the translation, or all forms of it if the text has a number."""
    if not entry.msgid_plural:
        return [str(entry.msgstr)]
    return [str(entry.msgstr_plural.get(number, "")) for number in range(PLURALS[language])]


def places(text: str) -> list[str]:
    """Return the placeholders of a text, and its tags."""
    return sorted(set(PLACES.findall(text)))


@pytest.mark.parametrize("language", other_languages())
@pytest.mark.parametrize("prompt", PROMPTS)
def test_the_demo_model_understands_the_examples_in_each_language(language: str, prompt: str) -> None:
    translated = read_catalogue(language, "django")[Found(prompt)].msgstr
    assert not isinstance(plan_answer([translated], [], []), str), translated
