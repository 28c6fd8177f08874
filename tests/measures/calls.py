"""Records which functions of some packages are called while a block runs, in all threads."""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parent.parent.parent
TESTS = str(ROOT / "tests")

Function = tuple[str, str]
"""The module and the qualified name of a function."""

TURNS: dict[str, list[Function]] = {}
"""Kind of turn -> the functions that `turn.py` has recorded."""


class CallRecorder:
    """Records calls. It sees only threads that start after `install`."""

    def __init__(self, root: Path, *packages: str) -> None:
        self._root = root
        self._folders = tuple(f"{root / package}/" for package in packages)
        self._functions: dict[Function, None] | None = None

    def install(self) -> None:
        """Watch this thread and all threads that start later."""
        threading.setprofile(self._profile)
        sys.setprofile(self._profile)

    @contextmanager
    def recording(self) -> Iterator[dict[Function, None]]:
        """Record during the block. Yields the functions in the order of their first calls."""
        functions: dict[Function, None] = {}
        self._functions = functions
        try:
            yield functions
        finally:
            self._functions = None

    def _profile(self, frame: FrameType, event: str, _: object) -> None:
        functions, code, caller = self._functions, frame.f_code, frame.f_back
        if functions is None or event != "call" or not code.co_filename.startswith(self._folders):
            return
        # The code of a module or class is not optimized; lambdas and comprehensions have names such as `<lambda>`.
        is_function = code.co_flags & inspect.CO_OPTIMIZED and not code.co_name.startswith("<")
        if is_function and not (caller and caller.f_code.co_filename.startswith(TESTS)):
            path = Path(code.co_filename).relative_to(self._root).with_suffix("")
            functions[".".join(path.parts).removesuffix(".__init__"), code.co_qualname] = None
