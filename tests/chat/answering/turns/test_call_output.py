"""The output of one call is cut where it is too long."""

from __future__ import annotations

import base64

from chat.answering.turns.call_output import CUT, CallOutput, before_cut
from chat.messages.assembler import Assembler
from chat.vocabulary.parts import OUTCOME_OK, CodeExecutionResult, Engine
from chat.vocabulary.stream_events import PartReceived
from tests.attachments.conftest import png


def result(output: str | None, outcome: str = "") -> CodeExecutionResult:
    """Return a result of code of the session."""
    return CodeExecutionResult(output, outcome, "c", Engine.SESSION)


def limited_to(limit_chars: int) -> tuple[CallOutput, str]:
    """Return a bound of so many characters, and its notice."""
    notice = CUT.format(limit=limit_chars)
    return CallOutput(2 * (limit_chars + len(notice) + 1)), CUT.format(limit=limit_chars + len(notice) + 1)


def test_output_within_the_limit_is_not_changed() -> None:
    output, _ = limited_to(10)
    parts = [result("a" * 6), result("b" * 4), result("a" * 6 + "b" * 4, OUTCOME_OK)]
    assert output.cut(parts) == parts


def test_output_is_cut_at_the_limit_with_one_notice_and_its_outcome_is_kept() -> None:
    output, notice = limited_to(10)
    assert output.cut([result("a" * 6)]) == [result("a" * 6)]
    [cut] = output.cut([result("b" * 300), result("c")])
    assert cut.long_text.strip("b") == f"\n{notice}"
    assert output.cut([result("d")]) == []
    assert output.cut([result("the whole output", OUTCOME_OK)]) == [result(None, OUTCOME_OK)]


def test_notice_about_a_cut_is_on_its_own_line() -> None:
    for size in range(1, 11):
        output, notice = limited_to(10)
        parts = output.cut(result("a" * size) for _ in range(20))
        assert "".join(part.long_text for part in parts).strip("a") == f"\n{notice}"


def test_output_that_arrives_at_once_at_the_end_is_cut() -> None:
    output, notice = limited_to(20)
    [part] = output.cut([result("a" * 30, OUTCOME_OK)])
    assert part.long_text.strip("a") == f"\n{notice}"


def test_image_that_exceeds_the_limit_is_left_out_whole() -> None:
    uri = "data:image/png;base64," + base64.b64encode(png(1)).decode()
    output, notice = limited_to(60)
    assert output.cut([result(f"a\n{uri}")]) == [result(f"a\n{notice}")]


def test_three_outputs_of_a_megabyte_fit_into_one_answer() -> None:
    limit = 4 * 1024 * 1024
    assembler = Assembler(is_code_offered=True, new_id=lambda: "")
    text = "0123456789abcdef" * (1024 * 1024 // 16)
    for number in range(3):
        output = CallOutput(limit - assembler.answer.size_chars)
        for part in output.cut([result(text), result(text, OUTCOME_OK)]):
            assembler.add(PartReceived(part), made_by=str(number))
    assert 2.5 * 1024 * 1024 < assembler.answer.size_chars <= limit


def test_cut_outputs_never_exceed_the_space_left_in_an_answer() -> None:
    room = 10_000
    for _ in range(12):
        parts = CallOutput(room).cut([result("x" * 50_000), result("x" * 50_000, OUTCOME_OK)])
        room -= sum(len(part.long_text) for part in parts)
    assert room >= 0


def test_before_cut_returns_the_output_before_the_notice_about_a_cut() -> None:
    [part] = CallOutput(10_000).cut([result("x\n" * 5_000, OUTCOME_OK)])
    output, is_cut = before_cut(part.long_text)
    assert is_cut
    assert output.strip("x\n") == ""
    assert before_cut("x\n") == ("x\n", False)
