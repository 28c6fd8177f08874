"""Brings the catalogues up to date with the code: `python -m tests.languages` (`make messages`)."""

from __future__ import annotations

import os

import django

os.environ.setdefault("DEBUG", "1")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from tests.languages.catalogues import DOMAINS, catalogue_path, other_languages, update_catalogue  # noqa: E402 - needs Django

for language in other_languages():
    for domain in DOMAINS:
        missing = update_catalogue(language, domain)
        print(f"{catalogue_path(language, domain).name} of {language}: {missing} texts without a translation")
