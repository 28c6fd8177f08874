"""From events to parts: what is joined, what is kept apart, what becomes an attachment."""

from __future__ import annotations

import base64
from itertools import count

import pytest

from chat.parts import OUTCOME_OK, FinishReported, Part, PartKind, PartReceived, Usage, UsageReported
from chat.rendering.data_uris import FoundImage, restore
from chat.turns.answer import DATA_URIS, Answer
from chat.turns.assembler import Assembler
from chat.turns.log import coalesced, fold, to_row
from tests.attachments.conftest import png


def assembled(*parts: Part, code_execution: bool = False) -> Answer:
    """The answer that these parts make; the log they leave tells the same."""
    numbers = count(1)
    assembler = Assembler(code_execution=code_execution, new_id=lambda: f"id-{next(numbers)}")
    changes = [change for part in parts for change in assembler.add(PartReceived(part))]
    read_back = fold(to_row(change) for change in coalesced(changes))
    answer = assembler.answer
    assert (read_back.parts, read_back.text) == (answer.parts, answer.text)
    assert read_back.attachments == answer.attachments
    return answer


def text(value: str, signature: bytes | None = None) -> Part:
    return Part(PartKind.TEXT, text=value, thought_signature=signature)


def image(data: bytes, mime_type: str = "image/png") -> Part:
    return Part(PartKind.INLINE_DATA, data=data, mime_type=mime_type)


CODE = Part(PartKind.EXECUTABLE_CODE, text="plot()", language="PYTHON")


def result(output: str | None) -> Part:
    return Part(PartKind.CODE_EXECUTION_RESULT, text=output, outcome=OUTCOME_OK)


def test_text_is_joined_but_never_across_a_signature() -> None:
    answer = assembled(text("a"), text("b"), text("", b"s"), text("c"), text("d", b"t"), text("e"))
    assert [(part.text, part.thought_signature) for part in answer.parts] == [
        ("ab", None),
        ("", b"s"),
        ("c", None),
        ("d", b"t"),
        ("e", None),
    ]
    assert answer.text == "abcde"


def test_empty_text_without_a_signature_is_dropped() -> None:
    assert assembled(text(""), CODE, text(""), text("x"), text("")).parts == [CODE, text("x")]


def test_thought_and_text_are_kept_apart() -> None:
    thought = Part(PartKind.THOUGHT, text="hm")
    assert assembled(thought, thought, text("x")).parts == [Part(PartKind.THOUGHT, text="hmhm"), text("x")]


def test_absent_output_is_not_an_empty_one() -> None:
    assert assembled(CODE, result(None)).parts[1].text is None
    assert assembled(CODE, result("")).parts[1].text == ""


def test_identical_bytes_are_one_graph_shown_where_they_came_first() -> None:
    answer = assembled(CODE, result("ok"), image(png(1)), image(png(1)), image(png(2)), text("done"))
    assert [found.part_index for found in answer.attachments] == [2, 4]
    assert answer.part_attachments == {2: 0, 3: 0, 4: 1}
    assert answer.text == "\n[GRAPH:0]\n\n[GRAPH:1]\ndone"
    assert all(found.is_graph and (found.width, found.height) == (8, 6) for found in answer.attachments)


def test_image_without_code_is_no_graph() -> None:
    [found] = assembled(text("look"), image(png(1))).attachments
    assert not found.is_graph
    [found] = assembled(image(png(1)), code_execution=True).attachments
    assert found.is_graph


@pytest.mark.parametrize(
    ("data", "mime_type"),
    [(b"<svg onload=alert(1)>", "image/svg+xml"), (b"\x89PNG\r\n\x1a\nbroken", "image/png"), (b"", "image/png")],
)
def test_what_is_no_picture_is_a_file_to_download(data: bytes, mime_type: str) -> None:
    answer = assembled(CODE, result("ok"), image(data or b"\0", mime_type))
    [found] = answer.attachments
    assert found.mime_type == "application/octet-stream"
    assert not found.is_graph
    assert "[GRAPH" not in answer.text


def test_images_in_an_output_become_graphs_and_the_output_can_be_restored() -> None:
    uris = ["data:image/png;base64," + base64.b64encode(png(number)).decode() for number in (1, 2, 1)]
    output = f"first {uris[0]} then {uris[1]}\nand again {uris[2]} end"
    answer = assembled(CODE, result(output), text("so"))
    assert len(answer.attachments) == 2
    part = answer.parts[1]
    assert part.text == "first  then \nand again  end"
    places = part.fields[DATA_URIS]
    assert isinstance(places, list)
    pictures = [png(1), png(2)]
    images = [
        FoundImage(place["offset"], place["header"], "image/png", pictures[place["attachment"]], place["line_chars"])  # type: ignore[call-overload, index, arg-type]
        for place in places
    ]
    assert restore(part.text, images) == output
    assert answer.text == "\n[GRAPH:0]\n\n[GRAPH:1]\nso"


def test_typed_marker_is_text_wherever_it_is_cut() -> None:
    answer = assembled(*(text(character) for character in "see [GRAPH:0]"))
    assert answer.text == "see [GRAPH:0]"
    assert answer.attachments == []


def test_what_no_database_stores_becomes_a_replacement_character() -> None:
    assert assembled(text("a\0b\ud800c😀")).parts[0].text == "a\ufffdb\ufffdc😀"
    call = Part(PartKind.FUNCTION_CALL, call_id="\0", fields={"args": {"\0": ["\ud800", 1]}})
    [part] = assembled(call).parts
    assert part.call_id == "\ufffd"
    assert part.fields == {"args": {"\ufffd": ["\ufffd", 1]}}


def test_last_usage_and_last_finish_count() -> None:
    assembler = Assembler(code_execution=False, new_id=lambda: "")
    for event in (
        UsageReported(Usage(total=198)),
        FinishReported("STOP"),
        UsageReported(Usage(total=46)),
        FinishReported("MAX_TOKENS"),
    ):
        assembler.add(event)
    assert assembler.answer.usage == Usage(total=46)
    assert assembler.answer.finish_reason == "MAX_TOKENS"
