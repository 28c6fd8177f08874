"""Which texts of a result the filter of private conversations gets."""

from __future__ import annotations

from chat.python.kernels.in_kernel.private_texts import WITHHELD
from chat.python.tool_set.private_texts import NOT_FILTERED, private_texts, with_texts
from chat.vocabulary.parts import JSONObject

RESULT: JSONObject = {
    "outcome": "error",
    "output": "Bergen",
    "graphs": 1,
    "files": [{"name": "Bergen.txt", "size_bytes": 3}],
    "changed_tables": ["t: 3 rows"],
    "note": "",
}


def test_only_texts_that_code_produced_are_filtered_and_not_those_of_the_server() -> None:
    texts = private_texts(RESULT)
    assert texts == ["Bergen", "Bergen.txt", "t: 3 rows"]
    filtered = with_texts(RESULT, ["[text 1]", "[text 1].txt", "t: 3 rows"])
    assert filtered.pop("output") == "[text 1]"
    assert filtered.pop("files") == [{"name": "[text 1].txt", "size_bytes": 3}]
    assert filtered == {name: value for name, value in RESULT.items() if name not in ("output", "files")}
    assert private_texts({"error": "There is no Python session."}) == []


def test_sentence_replaces_a_text_that_could_not_be_filtered() -> None:
    assert with_texts({"output": "Bergen"}, [WITHHELD]) == {"output": NOT_FILTERED}
