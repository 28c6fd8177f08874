"""Runs inside a kernel: changes modules of libraries when code imports them."""

from __future__ import annotations

import contextlib
import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from types import ModuleType

_CHANGES: dict[str, Callable[[ModuleType], None]] = {}


class _ImportWatch:
    """An import finder that calls a function after some modules were executed, and changes nothing else."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of a watched module; `None` for other modules, which the other finders find."""
        change = _CHANGES.get(name)
        spec = importlib.machinery.PathFinder.find_spec(name, path) if change else None
        if change is None or spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            _apply(change, module)

        vars(spec.loader)["exec_module"] = exec_module
        return spec


def _apply(change: Callable[[ModuleType], None], module: ModuleType) -> None:
    # Another version of the library may lack the changed attributes. The import must still work.
    with contextlib.suppress(Exception):
        change(module)


def when_imported(name: str, change: Callable[[ModuleType], None]) -> None:
    """Call a function with a module, now or as soon as the code imports it.

    Importing it here would take hundreds of milliseconds.
    """
    if name in sys.modules:
        _apply(change, sys.modules[name])
        return
    if not _CHANGES:
        sys.meta_path.insert(0, _ImportWatch)
    _CHANGES[name] = change
