"""A long JSON list is split into its values, wherever its bytes are divided."""

from __future__ import annotations

import json

import pytest

from chat.library.imports import json_list
from chat.library.imports.json_list import CUT_OFF, split_list
from chat.library.imports.refusal import RefusedImport

VALUES = [
    {"a": 'x"y\\', "b": [1, [2, {"c": "]}"}]], "d\\": "\\\\"},
    [],
    {"é\n": "日本 \\u0022 \\\\\\"},
    {},
]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_values_of_a_list_are_found_wherever_its_bytes_are_divided(size: int) -> None:
    data = ("\ufeff " + json.dumps(VALUES, ensure_ascii=False, indent=1)).encode()
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    assert [json.loads(value) for value in split_list(pieces)] == VALUES


def test_list_that_is_cut_off_yields_its_complete_values_and_is_then_refused() -> None:
    values = split_list([b'[{"a": 1}, {"b": "'])
    assert next(values) == b'{"a": 1}'
    with pytest.raises(RefusedImport, match=CUT_OFF):
        next(values)


def test_value_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_list, "VALUE_LIMIT_BYTES", 1000)
    assert len(list(split_list([b"["] + [b'{"a": "%s"},' % (b"x" * 900)] * 5 + [b"]"]))) == 5
    with pytest.raises(RefusedImport, match="One conversation in this file is larger"):
        list(split_list([b'[{"a": "'] + [b"x" * 100] * 11))
