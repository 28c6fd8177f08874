"""Runs inside a kernel: refuses at once to install packages, and says what can be imported."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_INSTALLERS = ("pip", "pip3", "conda", "mamba", "micromamba", "uv")
_INSTALL_VERBS = ("install", "download", "wheel", "create", "add", "update", "upgrade")
_PIP = re.compile(r"^pip3?(?= )")
"""Matches pip at the start of a command. `python -m pip` replaces it: the sandbox's search path lacks pip's folder."""
_KNOWN_PACKAGES = (
    *("numpy", "pandas", "scipy", "matplotlib", "seaborn", "sympy", "sklearn", "statsmodels", "pyarrow", "polars"),
    *("openpyxl", "xlsxwriter", "python_calamine", "lxml", "jinja2", "tabulate", "PIL"),
)


def is_own_service() -> bool:
    """Return whether this is a kernel of Plotline's service.

    Installing a package would fail there, or would change it for everyone.
    """
    return "PLOTLINE_KERNEL" in os.environ


def no_installs_sentence() -> str:
    """Return a sentence that says what can be imported, and who can add more."""
    present = [name for name in _KNOWN_PACKAGES if importlib.util.find_spec(name)]
    return (
        f"Packages cannot be installed here. Installed are, among others: {', '.join(present)}."
        " Whoever runs this server can add more."
    )


def packages_to_install(command: object) -> list[str] | None:
    """Return the packages that a command would install; `None` if it installs nothing.

    `command`: a text, or a list of words.
    """
    if isinstance(command, str):
        words = command.split()
    elif isinstance(command, list | tuple):
        words = [word for word in command if isinstance(word, str)]
    else:
        return None
    for number, word in enumerate(words):
        if os.path.basename(word) in _INSTALLERS:
            arguments = [other for other in words[number + 1 :] if not other.startswith("-") and other != "pip"]
            if arguments and arguments[0] in _INSTALL_VERBS:
                return arguments[1:]
    return None


def refusal_of(command: object) -> str:
    """Return the sentence to show in place of running a command; empty if the command installs nothing."""
    names = packages_to_install(command)
    if names is None:
        return ""
    return f"Installed already: {', '.join(names)}." if _are_installed(names) else no_installs_sentence()


def _are_installed(names: Sequence[str]) -> bool:
    """Return whether all of these packages are installed and are named without a version."""
    try:
        for name in names:
            importlib.metadata.version(name)
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return False
    return bool(names)


def refuse_installs(shell: InteractiveShell) -> None:
    """Make each way to install a package from a cell fail at once with a sentence.

    Other commands, such as `pip list`, work.
    """
    if not is_own_service():
        return
    # With these variables pip itself fails at once, also in processes that this module does not start.
    os.environ.update(PIP_NO_INDEX="1", PIP_DISABLE_PIP_VERSION_CHECK="1")
    process_class = sys.modules["subprocess"].Popen
    system, getoutput, start = shell.system, shell.getoutput, process_class.__init__

    def run_command(command: str) -> None:
        if refusal := refusal_of(shell.var_expand(command)):
            print(refusal)
        else:
            system(_PIP.sub(f"{sys.executable} -m pip", command))

    def read_command(command: str, *arguments: object, **options: object) -> object:
        if refusal := refusal_of(shell.var_expand(command)):
            command = f"echo {shlex.quote(refusal)}"
        return getoutput(_PIP.sub(f"{sys.executable} -m pip", command), *arguments, **options)

    def start_process(process: object, args: object, *arguments: object, **options: object) -> None:
        if refusal := refusal_of(args):
            print(refusal)
        start(process, args, *arguments, **options)

    shell.system, shell.getoutput, process_class.__init__ = run_command, read_command, start_process
    shell.register_magic_function(lambda line: run_command(f"{sys.executable} -m pip {line}"), "line", "pip")
    for name in ("conda", "mamba", "micromamba", "uv"):
        shell.register_magic_function(lambda line, name=name: run_command(f"{name} {line}"), "line", name)
