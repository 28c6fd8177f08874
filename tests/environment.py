"""The environment of a test run, set before Django's settings are read: loaded by `-p tests.environment`.

Whatever the caller's shell or `.env` says, tests have no key, no bucket, no database and no Redis but their own;
only PLOTLINE_VAR_DIR, PLOTLINE_TEST_* and a DATABASE_URL of PostgreSQL pass through. With the latter, tests and the
servers that they start create databases of their own on that server. Its user must be allowed to do that.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import tempfile
from pathlib import Path

# No test checks strings of the format `iri`. Without this import, every worker would compile grammars for it.
import chat.python.kernels.service.unused_packages  # noqa: F401 - the import prevents this

ROOT = Path(__file__).resolve().parent.parent

#: Prefixes of variables that SDKs read themselves, without our settings.
FOREIGN = ("AWS_", "GOOGLE_", "GEMINI_", "OPENAI_", "JUPYTER_", "CLOUDSDK_", "VERTEX")

VALUES = {
    "DEBUG": "1",
    "HTTPS": "0",
    "SECRET_KEY": "for-tests-only",
    # Servers that tests start end without waiting for answers.
    "DRAIN_SECONDS": "0",
    "DJANGO_SETTINGS_MODULE": "tests.settings",
    # The catalogue does not list the scenarios and recordings of the test emulator.
    "SETTING_ALLOW_UNLISTED_MODELS": "true",
}


def settings_variables() -> list[str]:
    """Return the names of all variables that `.env.example` lists, in its order."""
    return re.findall(r"^#?([A-Z][A-Z0-9_]*)=", (ROOT / ".env.example").read_text(), flags=re.MULTILINE)


def prepare() -> None:
    """Change `os.environ` to the environment of tests, which child processes inherit."""
    var_dir = os.environ.get("PLOTLINE_VAR_DIR")
    database_url = os.environ.get("DATABASE_URL", "")
    for name in [name for name in os.environ if name.startswith(FOREIGN)]:
        # Keep the variables that name certificates, such as those of a proxy.
        if not name.endswith(("_CA_BUNDLE", "_CERTS_FILE")):
            del os.environ[name]
    # Tests need no proxy: their servers are on this machine, or are proxies themselves.
    for name in [name for name in os.environ if name.lower() in ("http_proxy", "https_proxy", "all_proxy", "no_proxy")]:
        del os.environ[name]
    for name in settings_variables():
        # Set it to an empty text: an absent variable would be read from `.env`.
        os.environ[name] = os.environ[f"{name}_FILE"] = ""
    os.environ.update(VALUES)
    os.environ["DATABASE_URL"] = database_url if database_url.startswith(("postgres://", "postgresql://")) else ""
    if not var_dir:
        var_dir = tempfile.mkdtemp(prefix="plotline-")
        atexit.register(shutil.rmtree, var_dir, ignore_errors=True)
    # A worker inherits the folder of the process that started it, and uses a subfolder of its own.
    var_dir = str(Path(var_dir) / os.environ.get("PYTEST_XDIST_WORKER", ""))
    os.environ["PLOTLINE_VAR_DIR"] = var_dir
    # WhiteNoise warns if the folder of collected static files does not exist, and tests turn warnings into errors.
    (Path(var_dir) / "static").mkdir(parents=True, exist_ok=True)


prepare()
