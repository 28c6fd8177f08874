"""Runs inside a kernel: changes modules of libraries when code imports them."""

from __future__ import annotations

import contextlib
import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from types import ModuleType

_CHANGES: dict[str, Callable[[ModuleType], None]] = {}


class _ImportWatch:
    """A finder that changes nothing but what follows the execution of some modules."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of a module that is watched; `None`: other finders go on."""
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
    # Another version of the library may lack what is changed. It must work all the same.
    with contextlib.suppress(Exception):
        change(module)


def when_imported(name: str, change: Callable[[ModuleType], None]) -> None:
    """Call a function with a module, now or as soon as it is imported. It takes hundreds of milliseconds to import."""
    if name in sys.modules:
        _apply(change, sys.modules[name])
        return
    if not _CHANGES:
        sys.meta_path.insert(0, _ImportWatch)
    _CHANGES[name] = change
