"""The weight of the first page in an empty browser cache, as it is served with DEBUG off.

That a browser loads no other module at once is tested in `tests.browser.test_on_demand`.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import brotli
import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client, override_settings

from config.compression import PADDING_LIMIT_BYTES
from config.static_files import without_comments
from tests.factories import make_conversation, make_user

pytestmark = pytest.mark.django_db

LIMIT_BYTES = 90_000
HEADERS_BYTES = 400
"""Maximum number of bytes for the headers of a response and the padding of a compressed page."""
IMPORT = re.compile(r"""\b(?:from|import)\s*(\(?)["'](\./[^"']+)["']""")


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Collect the static files, and serve pages that name them."""
    folder = tmp_path_factory.mktemp("static")
    storages = settings.STORAGES | {"staticfiles": {"BACKEND": "config.static_files.HashedStaticFiles"}}
    with override_settings(STORAGES=storages, STATIC_ROOT=folder, DEBUG=False):
        call_command("collectstatic", interactive=False, verbosity=0)
        yield folder


def imports(path: Path, *, dynamic: bool = False) -> set[Path]:
    """Return the modules that a module imports."""
    return {path.parent / name for bracket, name in IMPORT.findall(path.read_text()) if bool(bracket) == dynamic}


def with_imports(entry: Path) -> set[Path]:
    """Return a module with all that it imports at once, directly or not."""
    modules, new = {entry}, {entry}
    while new:
        new = {imported for module in new for imported in imports(module)} - modules
        modules |= new
    return modules


def first_page(client: Client) -> bytes:
    owner = make_user()
    client.force_login(owner)
    response = client.get(make_conversation(owner).get_absolute_url(), headers={"Accept-Encoding": "gzip"})
    assert response.headers["Content-Encoding"] == "gzip"
    return response.content


def named_files(html: str, folder: Path) -> set[Path]:
    """Return the static files that a page loads."""
    return {folder / path for path in re.findall(r'(?:src|href)="/static/([^"]+)"', html)}


def served_bytes(path: Path) -> int:
    """Return the size of a file as it is sent to a browser that accepts gzip."""
    compressed = path.with_name(f"{path.name}.gz")
    return (compressed if compressed.exists() else path).stat().st_size


def test_first_page_with_its_files_is_below_the_size_limit_and_file_names_have_hashes(
    client: Client, collected: Path
) -> None:
    page = first_page(client)
    html = gzip.decompress(page).decode()
    [entry] = [collected / path for path in re.findall(r'type="module" src="/static/([^"]+)"', html)]
    files = named_files(html, collected) | with_imports(entry)
    sizes = {path.name: served_bytes(path) for path in files}
    total = len(page) + sum(sizes.values()) + HEADERS_BYTES * (1 + len(files))
    assert total <= LIMIT_BYTES, (total, len(page), sizes)
    assert all(size > 50 for size in sizes.values())
    assert all(re.search(r"\.[0-9a-f]{12}\.\w+$", name) for name in sizes)


def test_static_files_have_less_than_400_bytes_of_headers(client: Client, collected: Path) -> None:
    [path] = collected.glob("css/tokens.????????????.css")
    response = client.get(f"/static/css/{path.name}", headers={"Accept-Encoding": "gzip"})
    assert len(b"".join(response)) == served_bytes(path)
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert not response.headers.keys() & {"Access-Control-Allow-Origin", "X-DNS-Prefetch-Control"}
    assert sum(len(f"{name}: {value}\r\n") for name, value in response.headers.items()) < 400


def test_pages_and_files_are_sent_with_brotli_to_browsers_that_take_it(client: Client, collected: Path) -> None:
    owner = make_user()
    client.force_login(owner)
    url = make_conversation(owner).get_absolute_url()
    pages = [client.get(url, headers={"Accept-Encoding": "gzip, deflate, br, zstd"}) for _ in range(20)]
    for page in pages:
        assert page.headers["Content-Encoding"] == "br"
        assert page.headers["Content-Length"] == str(len(page.content))
        assert "Accept-Encoding" in page.headers["Vary"]
    html = brotli.decompress(pages[0].content).decode()
    assert "</html>" in html
    # The random bytes at the end hide the size of the rest.
    paddings = {brotli.decompress(page.content).rpartition(b"<!--")[2] for page in pages}
    assert len({len(padding) for padding in paddings}) > 1
    assert all(len(padding) < 2 * PADDING_LIMIT_BYTES + 3 for padding in paddings)
    [path] = collected.glob("css/tokens.????????????.css")
    style_sheet = client.get(f"/static/css/{path.name}", headers={"Accept-Encoding": "gzip, br"})
    assert style_sheet.headers["Content-Encoding"] == "br"
    assert brotli.decompress(b"".join(style_sheet)) == path.read_bytes()


def test_pages_preload_exactly_the_modules_that_their_first_script_imports(client: Client, collected: Path) -> None:
    conversation = gzip.decompress(first_page(client)).decode()
    for html in (client.get("/projects/").content.decode(), conversation):
        [entry] = [collected / path for path in re.findall(r'type="module" src="/static/([^"]+)"', html)]
        named = [collected / path for path in re.findall(r'rel="modulepreload" href="/static/([^"]+)"', html)]
        assert set(named) == with_imports(entry) - {entry}
    on_demand = next(path for path in named if path.name.startswith("on_demand."))
    assert len(imports(on_demand, dynamic=True)) == 26
    assert all(path.exists() for path in imports(on_demand, dynamic=True))


def test_collected_scripts_equal_their_sources_without_lines_of_comments(collected: Path) -> None:
    assert without_comments(b"// a\nb(); // c\n  /* d\n e */\nf(`/* g */`);\n/** h */ i();\n") == (
        b"b(); // c\nf(`/* g */`);\n/** h */ i();\n"
    )
    for source in Path("static/js").glob("*.js"):
        kept = (collected / "js" / source.name).read_text().splitlines()
        lines = [line for line in source.read_text().splitlines() if not re.match(r"\s*(//|/\*|\*)", line)]
        assert kept == lines
