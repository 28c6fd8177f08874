"""What `python -m tests.measures` counts, tested with tiny sources."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path

from tests.measures import counting
from tests.measures.calls import CallRecorder

SOURCE = '''"""Any module of Anyone."""

from typing import Any, NamedTuple  # noqa: F401


@property
def first(value: Any) -> list[Any]:  # type: ignore[misc]  # an example
    """Not a comment: noqa."""

    async def second() -> None:
        pass

    return [value]
'''
PYPROJECT = """
[[tool.importlinter.contracts]]
name = "others"
layers = ["a"]

[[tool.importlinter.contracts]]
name = "layers"
layers = ["a | b", "c"]
"""
CALLED = """
from collections import namedtuple

Point = namedtuple("Point", "x")


class Box:
    @property
    def content(self):
        class Local:
            pass
        return [(lambda: inner())() for inner in (self.inner,)]

    def inner(self):
        return Point(1)


def start():
    return Box().content


def called_by_a_test():
    pass
"""


def test_lines_functions_and_words_of_a_source_are_counted() -> None:
    assert counting.count_lines([SOURCE, "one\ntwo"]) == 14
    assert sorted(counting.function_lengths(SOURCE)) == [2, 7]
    assert counting.count_word(SOURCE, "Any") == 4
    assert counting.count_uses(SOURCE, "Any") == 2
    assert counting.count_comments(SOURCE, r"\bnoqa\b") == 1
    assert counting.count_comments(SOURCE, "type: ?ignore") == 1


def test_entries_of_a_package_are_its_direct_modules_and_packages() -> None:
    paths = ["chat/__init__.py", "chat/a.py", "chat/b/__init__.py", "chat/b/c.py", "chat/words.txt", "chats/d.py"]
    assert counting.entries(paths, "chat") == {"a", "b"}


def test_only_modules_that_django_loads_as_migrations_are_counted_as_migrations() -> None:
    paths = ["chat/migrations/__init__.py", "chat/migrations/0001_initial.py", "chat/migrations/_search.py"]
    assert counting.migrations(paths, "chat") == {"0001_initial"}


def test_layers_are_read_from_pyproject_and_variables_from_the_example_env_file() -> None:
    assert counting.layers(PYPROJECT, "layers") == ["a | b", "c"]
    assert counting.variables("# A sentence.\n#DEBUG=0\nHTTPS_1=\n# OTHER=1\n") == ["DEBUG", "HTTPS_1"]


def test_recorder_lists_called_functions_and_properties_of_a_package_in_the_order_of_calls(tmp_path: Path) -> None:
    namespace: dict[str, Callable[[], object]] = {}
    exec(compile(CALLED, tmp_path / "shop" / "boxes.py", "exec"), namespace)
    recorder = CallRecorder(tmp_path, "shop")
    recorder.install()
    try:
        with recorder.recording() as functions:
            thread = threading.Thread(target=namespace["start"])
            thread.start()
            thread.join()
            namespace["called_by_a_test"]()
    finally:
        threading.setprofile(None)
        sys.setprofile(None)
    assert list(functions) == [("shop.boxes", name) for name in ("start", "Box.content", "Box.inner")]
