"""Rules of the project: documented settings and modules, pinned versions, portable files."""

from __future__ import annotations

import ast
import itertools
import re
import subprocess
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from django.conf import settings

from chat.python.kernels.kernel_program import _statements
from tests.environment import ROOT, settings_variables
from tests.measures.counting import function_lengths
from tests.workers import read_order

SETTINGS_MODULES = (
    "accounts.py",
    "settings.py",
    "storage.py",
    "folders.py",
    "kernels.py",
    "mail.py",
    "model_servers.py",
    "processes.py",
    "quotas.py",
    "rest.py",
    "turns.py",
)
READERS = {"text", "secret", "boolean", "integer", "words", "hosts", "origins", "url", "choice"}

LINES_LIMIT = 300
FUNCTION_LIMIT = 40

#: The expressions are written in pieces, so that this file does not match them.
UNPORTABLE = {
    "an absolute path of one machine": re.compile(r"(?<![\w.:/-])/(?:root|Users|work|home/\w+)/\w|[.]" + r"pyenv\b"),
    "a package registry's address": re.compile("py" + r"pi[.]org|pythonhost" + r"ed[.]org|--(?:extra-)?inde" + "x-url"),
}


def tracked_files() -> list[Path]:
    """Return files that git tracks or could track, without ignored ones."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def product_modules() -> list[Path]:
    """Return the modules of the product and of its benchmarks, without migrations."""
    modules = [path for path in tracked_files() if path.suffix == ".py" and "migrations" not in path.parts]
    return [path for path in modules if path.relative_to(ROOT).parts[0] in ("attachments", "chat", "config", "bench")]


def variables_read_by_settings() -> list[str]:
    """Return the names that settings modules pass to a reader of `env`, in order, each once."""
    names = []
    modules = [ast.parse((ROOT / "config" / name).read_text()) for name in SETTINGS_MODULES]
    for node in itertools.chain.from_iterable(map(ast.walk, modules)):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name("env"), attr="secrets")):
                # This call reads the keys of endpoints, whose names operators choose.
                pass
            case ast.Call(func=ast.Attribute(value=ast.Name("env"), attr=reader), args=[ast.Constant(str(name)), *_]):
                assert reader in READERS
                names.append(name)
    return list(dict.fromkeys(names))


def pinned_packages(name: str) -> set[str]:
    """Return the names of the packages that a requirements file pins."""
    return set(re.findall(r"^([\w-]+)(?:\[.*\])?==", (ROOT / name).read_text(), flags=re.MULTILINE))


def parts_of_chat() -> set[str]:
    """Return the names of the modules and packages directly in `chat/`, without its configuration and migrations."""
    names = {path.relative_to(ROOT).parts[1] for path in tracked_files() if path.relative_to(ROOT).parts[0] == "chat"}
    return {name.removesuffix(".py") for name in names} - {"__init__", "apps", "migrations"}


def test_architecture_page_shows_the_layers_and_every_part_of_chat() -> None:
    page = (ROOT / "docs/architecture.md").read_text()
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    [layers] = [contract["layers"] for contract in contracts if contract["name"] == "layers of chat"]
    assert "\n".join(layers) in page
    assert [name for name in sorted(parts_of_chat()) if f"`chat/{name}" not in page] == []


def test_chat_has_at_most_19_parts_on_at_most_12_layers() -> None:
    """A newcomer finds code by the names of the parts: Django's usual entrances, and nine parts by capability."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    [layers] = [contract["layers"] for contract in contracts if contract["name"] == "layers of chat"]
    assert len(layers) <= 12
    assert len(parts_of_chat() | {"apps", "migrations"}) <= 19


def test_package_answering_does_not_mention_the_python_tool_set() -> None:
    """Another tool set needs only a package and a line of settings. The contract of layers checks imports."""
    name = re.compile(r"python.?session|run_python|chat.python", re.IGNORECASE)
    files = [path for path in tracked_files() if path.suffix in (".py", ".toml") and "answering" in path.parts]
    texts = {path: path.read_text() for path in files if path.is_relative_to(ROOT / "chat/answering")}
    assert len(texts) > 50
    assert [f"{path}: {match.group()}" for path, text in texts.items() for match in name.finditer(text)] == []


def test_modules_of_the_product_have_at_most_300_lines() -> None:
    assert [str(path) for path in product_modules() if path.read_text().count("\n") > LINES_LIMIT] == []


def test_functions_of_the_product_have_at_most_40_lines() -> None:
    modules = [path for path in product_modules() if path.relative_to(ROOT).parts[0] != "bench"]
    lengths = {str(path.relative_to(ROOT)): function_lengths(path.read_text()) for path in modules}
    assert [(name, length) for name, found in lengths.items() for length in found if length > FUNCTION_LIMIT] == []


def test_demo_model_has_at_most_1300_lines() -> None:
    """It is a few general programs, not a language model."""
    modules = list((ROOT / "chat/emulator/demo").glob("*.py"))
    assert modules
    assert sum(path.read_text().count("\n") for path in modules) <= 1_300


def test_asserts_of_the_product_have_no_side_effects() -> None:
    """With `-O`, Python removes asserts and the calls in them, so they may only check types and values."""
    calls = [
        f"{path.relative_to(ROOT)}:{statement.lineno}"
        for path in product_modules()
        if path.relative_to(ROOT).parts[0] != "bench"
        for statement in ast.walk(ast.parse(path.read_text()))
        if isinstance(statement, ast.Assert)
        for call in ast.walk(statement)
        if isinstance(call, ast.Call | ast.Await | ast.NamedExpr) and ast.unparse(call).split("(")[0] != "isinstance"
    ]
    assert calls == []


def test_no_provider_imports_another() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    [independent] = [contract["modules"] for contract in contracts if contract["type"] == "independence"]
    assert set(independent) == {path.rsplit(".", 2)[0] for path in settings.CHAT_PROVIDERS.values()}


def test_no_endpoint_of_the_admin_gets_a_key_of_this_server() -> None:
    assert {name for name in settings_variables() if name.endswith("_API_KEY")} == settings.OWN_API_KEYS


def test_env_example_lists_exactly_the_variables_that_settings_reads() -> None:
    assert sorted(settings_variables()) == sorted(variables_read_by_settings())


def test_every_variable_in_env_example_has_a_sentence_above_it() -> None:
    lines = (ROOT / ".env.example").read_text().splitlines()
    for before, line in itertools.pairwise(lines):
        if re.match(r"#?[A-Z][A-Z0-9_]*=", line):
            assert re.match(r"# \w", before), f"{line} has no sentence above it"


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-kernel.txt", "requirements-dev.txt"])
def test_every_requirement_is_pinned_with_hashes(name: str) -> None:
    text = re.sub(r"^ *#.*\n", "", (ROOT / name).read_text(), flags=re.MULTILINE)
    pins = text.replace("\\\n", "").splitlines()
    assert pins
    assert [
        pin
        for pin in pins
        if not re.fullmatch(r"[a-z0-9-]+(\[[a-z0-9, -]+\])?==[\w.]+( +--hash=sha256:[0-9a-f]{64})+", pin)
    ] == []


def test_every_installation_of_requirements_requires_hashes() -> None:
    commands = (ROOT / "deploy/Dockerfile").read_text() + (ROOT / "Makefile").read_text()
    installations = re.findall(r"(?:pip install|\$\(PIP_INSTALL\)).* -r requirements.*", commands)
    assert len(installations) == 5
    assert [line for line in installations if "--require-hashes" not in line and "$(PIP_INSTALL)" not in line] == []
    assert re.search(r"^PIP_INSTALL := pip install .*--require-hashes$", commands, re.MULTILINE)


def test_pinned_requirements_contain_every_package_of_their_in_file() -> None:
    for stem in ("requirements", "requirements-kernel", "requirements-dev"):
        asked = re.findall(r"^([A-Za-z][\w-]*)", (ROOT / f"{stem}.in").read_text(), flags=re.MULTILINE)
        assert {name.lower() for name in asked} <= pinned_packages(f"{stem}.txt")


def test_server_requirements_have_no_kernel_packages_and_the_reverse() -> None:
    server, kernel = pinned_packages("requirements.txt"), pinned_packages("requirements-kernel.txt")
    assert server & {"ipykernel", "ipython", "matplotlib", "numpy", "pandas", "scipy", "sympy"} == set()
    assert kernel & {"channels", "daphne", "django", "google-genai", "psycopg", "redis", "twisted"} == set()


@pytest.mark.parametrize("what", UNPORTABLE)
def test_no_file_contains_a_path_of_one_machine_or_an_address_of_a_package_registry(what: str) -> None:
    found = []
    for path in tracked_files():
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(ROOT)}: {match.group()}" for match in UNPORTABLE[what].finditer(text)]
    assert found == []


def test_keys_that_scripts_store_in_the_browser_have_the_prefix_that_the_login_page_deletes() -> None:
    """`forget.js` removes keys that begin with `plotline:`."""
    scripts = {path.name: path.read_text() for path in (ROOT / "static/js").glob("*.js")}
    keys = {name: re.findall(r"[\"'`](plotline[^\"'`]*)", text) for name, text in scripts.items()}
    assert keys["session.js"]
    assert [(name, key) for name, found in keys.items() for key in found if not key.startswith("plotline:")] == []


def test_every_path_in_the_test_order_file_exists() -> None:
    assert [group for group in read_order() if not (ROOT / group).exists()] == []


def test_table_parsers_are_required_only_by_the_kernel_environment() -> None:
    parsers = re.compile(r"^(pandas|pyarrow|python-calamine)==", re.MULTILINE)
    assert parsers.findall((ROOT / "requirements.txt").read_text()) == []
    assert len(parsers.findall((ROOT / "requirements-kernel.txt").read_text())) == 3


@pytest.mark.parametrize("module", ["files", "kernel_start", "private_filter", "private_texts", "tables", "variables"])
def test_modules_that_are_joined_to_one_program_for_a_kernel_define_each_name_once(module: str) -> None:
    defined = Counter[str]()
    imported = set[str]()
    for node in _statements(module, set()):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined[node.name] += 1
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = itertools.chain.from_iterable(map(ast.walk, targets))
            defined.update(name.id for name in names if isinstance(name, ast.Name))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            imported.update(alias.asname or alias.name for alias in node.names)
    assert [name for name, count in defined.items() if count > 1 or name in imported] == []
