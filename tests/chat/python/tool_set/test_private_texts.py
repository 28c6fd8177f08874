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


def test_texts_of_code_are_filtered_and_words_and_numbers_of_the_server_stay() -> None:
    texts = private_texts(RESULT)
    assert texts == ["Bergen", "Bergen.txt", "t: 3 rows"]
    filtered = with_texts(RESULT, ["[text 1]", "[text 1].txt", "t: 3 rows"])
    assert filtered.pop("output") == "[text 1]"
    assert filtered.pop("files") == [{"name": "[text 1].txt", "size_bytes": 3}]
    assert filtered == {name: value for name, value in RESULT.items() if name not in ("output", "files")}
    assert private_texts({"error": "There is no Python session."}) == []


def test_text_that_could_not_be_filtered_is_withheld_with_a_sentence() -> None:
    assert with_texts({"output": "Bergen"}, [WITHHELD]) == {"output": NOT_FILTERED}
