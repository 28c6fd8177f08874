"""The Python interpreter that kernels run on, and the host folders that it needs.

Code in the sandbox may import the packages of this interpreter's environment and none of the web server's. The
environment variable `KERNEL_PYTHON` holds its path. By default it is the interpreter of `.venv-kernel` in the project's
folder, which `make` creates and fills from `requirements-kernel.txt`.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

logger = logging.getLogger(__name__)

VARIABLE = "KERNEL_PYTHON"
PROJECT = Path(__file__).resolve().parents[3]
DEFAULT_PATH = PROJECT / ".venv-kernel/bin/python"
INSTALL_COMMAND = "make .venv-kernel/installed"

_CANNOT = "Code cannot be run on this machine"
_QUERY = """
import importlib.util, json, sys
has_ipykernel = importlib.util.find_spec("ipykernel") is not None
base = getattr(sys, "_base_executable", sys.executable)
print(json.dumps([has_ipykernel, base, sys.executable, sys.prefix, sys.base_prefix]))
"""
_QUERY_LIMIT_S = 30.0
_SHOWN = tuple(map(Path, ("/usr", "/bin", "/lib", "/lib64", "/etc/alternatives")))
"""Folders of the system that are visible in every sandbox."""


class InterpreterUnavailable(Exception):
    """Kernels cannot run on the chosen interpreter; the message says what to install or to correct."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python interpreter that can run ipykernel."""

    executable: str
    """Absolute path of the program."""
    folders: tuple[str, ...]
    """Files and folders outside `/usr` that it reads at run time, by paths without symbolic links.

    They are single entries of its prefixes, because a virtual environment inside a project's folder must not make the
    whole project visible.
    """
    links: tuple[tuple[str, str], ...]
    """Symbolic links outside these folders by which the program and the folders are reached: path and target.

    The launchers of uv, Homebrew and mise are links to other folders, and Python follows them to find its library.
    """


def find_interpreter() -> Interpreter:
    """Return the interpreter that `KERNEL_PYTHON` names, or the one of `.venv-kernel` if the variable is empty.

    Asks the interpreter for its prefixes once, which takes some tens of milliseconds. A relative path starts at the
    project's folder. Raises InterpreterUnavailable if the interpreter does not exist, does not start, or has no
    ipykernel.
    """
    value = os.environ.get(VARIABLE, "").strip()
    path = PROJECT / value if value else DEFAULT_PATH
    if not os.access(path, os.X_OK) or path.is_dir():
        if value:
            logger.warning("%s names %s, which is not an executable file.", VARIABLE, path)
            raise InterpreterUnavailable(
                f"{_CANNOT}: {VARIABLE} does not name an executable file. Correct it, or leave it empty and run"
                f" `{INSTALL_COMMAND}`."
            )
        raise InterpreterUnavailable(
            f"{_CANNOT}: the Python environment of kernels is missing. Install it with `{INSTALL_COMMAND}`."
        )
    return _inspect(path)


@cache
def _inspect(path: Path) -> Interpreter:
    """Ask an interpreter for its prefixes and for ipykernel."""
    try:
        # `-I` keeps the server's PYTHONPATH and the user's own packages out, as in the sandbox.
        answer = subprocess.run(
            [path, "-I", "-c", _QUERY], capture_output=True, text=True, check=True, timeout=_QUERY_LIMIT_S
        )
        has_ipykernel, base, executable, *prefixes = json.loads(answer.stdout)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        logger.warning("%s does not work as a Python interpreter: %s", path, error)
        raise InterpreterUnavailable(f"{_CANNOT}: {VARIABLE} does not work as a Python interpreter.") from error
    if not has_ipykernel:
        logger.warning("Install what %s lacks: `%s -m pip install -r requirements-kernel.txt`.", path, path)
        raise InterpreterUnavailable(
            f"{_CANNOT}: the Python environment of kernels has no ipykernel. Install `requirements-kernel.txt` there."
        )
    entries = [f"{prefix}/{name}" for prefix in prefixes for name in ("bin", "lib", "lib64", "pyvenv.cfg")]
    links: dict[Path, str] = {}
    for path in (executable, base):
        _follow(Path(path), links)
    targets = [_follow(Path(entry), links) for entry in entries if os.path.exists(entry)]
    folders = [path for path in dict.fromkeys(targets) if not path.is_relative_to("/usr")]
    outside = [link for link in links if not any(link.is_relative_to(folder) for folder in (*_SHOWN, *folders))]
    return Interpreter(executable, tuple(map(str, folders)), tuple((str(link), links[link]) for link in outside))


def _follow(path: Path, links: dict[Path, str]) -> Path:
    """Return the path without symbolic links. Add each link on the way, with its target, to `links`."""
    place = Path("/")
    for name in path.parts[1:]:
        place = place.parent if name == ".." else place / name
        if place.is_symlink():
            links[place] = os.readlink(place)
            place = _follow(place.parent / links[place], links)
    return place
