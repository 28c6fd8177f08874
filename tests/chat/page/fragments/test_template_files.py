"""Rules for the source of templates and scripts."""

from __future__ import annotations

import re

from django.conf import settings

from tests.cases import case

TEMPLATES = settings.BASE_DIR / "templates"
SCRIPTS = settings.BASE_DIR / "static" / "js"
SCRIPT_LIMIT_LINES = 150


def template_paths() -> list[str]:
    """Return the paths of all templates, relative to their folder, except those of the admin, which is Django's."""
    paths = [path for path in sorted(TEMPLATES.rglob("*")) if path.suffix in (".html", ".jinja")]
    return [str(path.relative_to(TEMPLATES)) for path in paths if "admin" not in path.parts]


def test_template_has_no_inline_script_or_style() -> None:
    for path in template_paths():
        with case(path):
            source = (TEMPLATES / path).read_text()
            if path == "exports/conversation.html":
                # A single file cannot link to a style sheet. Its content security policy allows these by their hash.
                source = re.sub(r"<style>\{\{ \w+ \}\}</style>", "", source)
            assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:|hx-on", source)
            for script in re.findall(r"<script[^>]*>", source):
                # A browser does not run JSON.
                assert " src=" in script or script == '<script type="application/json" id="words">'


def test_fragment_ends_without_a_newline() -> None:
    for path in [path for path in template_paths() if re.match(r"chat/(parts/)?_", path)]:
        with case(path):
            assert not (TEMPLATES / path).read_text().endswith("\n")


def test_scripts_have_few_lines_and_import_existing_files() -> None:
    for script in SCRIPTS.glob("*.js"):
        source = script.read_text()
        assert len(source.splitlines()) < SCRIPT_LIMIT_LINES, script.name
        for imported in re.findall(r'import .*?"\./(.+?)"', source):
            assert (SCRIPTS / imported).is_file(), f"{script.name} imports {imported}"
