"""Answers are recognised in every form that a faithful client may send, and wrong signatures are always noticed."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from chat.emulator.wire import (
    WireObject,
    code_part,
    image_part,
    join_text_parts,
    result_part,
    text_part,
    thought_part,
)
from tests.gemini_emulator.content_digest import DUMMY_SIGNATURES, ends_with_code
from tests.gemini_emulator.signature_checks import SentAnswers, Verdict

MODEL = "gemini-3-flash"
SIGNATURES = [base64.b64encode(bytes([number] * (20 + number))).decode() for number in range(40)]
PNG = image_part(b"\x89PNG")


def _signed(part: WireObject, number: int) -> WireObject:
    return {**part, "thoughtSignature": SIGNATURES[number]}


CODE = code_part("print(6 * 7)", "8xju7mua", SIGNATURES[0])
RESULT = result_part("OUTCOME_OK", "42\n", "8xju7mua")
END = text_part("", SIGNATURES[1])
ANSWER = [thought_part("Hm."), CODE, text_part(""), RESULT, PNG, text_part("The answer "), text_part("is 42."), END]
TEXT = text_part("The answer is 42.")


def _remember(parts: Sequence[WireObject] = ANSWER, *, model: str = MODEL, is_complete: bool = True) -> SentAnswers:
    sent_answers = SentAnswers()
    answer = sent_answers.start(model)
    sent_answers.add(answer, parts)
    answer.is_complete = is_complete
    return sent_answers


@pytest.mark.parametrize(
    "parts",
    [
        ANSWER,
        [CODE, RESULT, TEXT, END],
        [CODE, RESULT, PNG, TEXT, END],
        [CODE, text_part(""), RESULT, text_part("The answer is 42"), text_part("."), END],
        [CODE],
        [CODE, RESULT],
        [CODE, RESULT, text_part("The ans")],
        [CODE, RESULT, TEXT, END, CODE, RESULT, TEXT, END],
        [CODE, RESULT, text_part("The"), CODE, RESULT, TEXT, END],
    ],
)
def test_answer_is_recognised_whole_cut_joined_and_without_its_images(parts: list[WireObject]) -> None:
    assert _remember().check(MODEL, parts) is Verdict.REPLAYED


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ([{**CODE, "thoughtSignature": SIGNATURES[5]}, RESULT, TEXT, END], Verdict.CORRUPTED),
        ([CODE, RESULT, _signed(TEXT, 1)], Verdict.CORRUPTED),
        ([CODE, {**RESULT, "thoughtSignature": SIGNATURES[1]}, TEXT, END], Verdict.CORRUPTED),
        ([CODE, RESULT, text_part("Something else."), END], Verdict.CORRUPTED),
        ([CODE, result_part("OUTCOME_OK", "43\n", "8xju7mua"), TEXT, END], Verdict.CORRUPTED),
        ([CODE, RESULT, _signed(PNG, 2), TEXT, END], Verdict.CORRUPTED),
        ([CODE, RESULT, TEXT, END, text_part("and more")], Verdict.CORRUPTED),
        ([code_part("print(6 * 7)", "8xju7mua"), RESULT, TEXT, END], Verdict.MISSING),
        ([code_part("print(6 * 7)", "8xju7mua", DUMMY_SIGNATURES[0]), RESULT, TEXT, END], Verdict.MISSING),
        ([CODE, RESULT, TEXT], Verdict.MISSING),
        ([code_part("print(6 * 7)", "8xju7mua"), RESULT, TEXT], Verdict.MISSING),
        ([TEXT], Verdict.FOREIGN),
        ([text_part("Something else.")], Verdict.FOREIGN),
    ],
)
def test_missing_moved_and_altered_signatures_are_noticed(parts: list[WireObject], verdict: Verdict) -> None:
    assert _remember().check(MODEL, parts) is verdict


def test_last_signature_may_be_missing_if_the_answer_was_cut() -> None:
    assert _remember(is_complete=False).check(MODEL, [CODE, RESULT, TEXT]) is Verdict.REPLAYED


def test_answer_without_signatures_may_be_joined_with_a_signed_one() -> None:
    sent_answers = _remember()
    sent_answers.add(sent_answers.start(MODEL), [text_part("Cut off")])
    assert sent_answers.check(MODEL, [text_part("Cut off"), CODE, RESULT, TEXT, END]) is Verdict.REPLAYED
    assert sent_answers.check(MODEL, [text_part("Not said"), CODE, RESULT, TEXT, END]) is Verdict.CORRUPTED


def test_answer_of_another_model_must_have_no_signature() -> None:
    sent_answers = _remember()
    assert sent_answers.check("other", [CODE, RESULT, TEXT, END]) is Verdict.CORRUPTED
    assert sent_answers.check("other", [code_part("print(6 * 7)", "8xju7mua"), RESULT, TEXT]) is Verdict.FOREIGN


def test_answer_that_two_models_gave_may_come_without_signatures() -> None:
    sent_answers = _remember()
    sent_answers.add(sent_answers.start("other"), ANSWER)
    assert sent_answers.check(MODEL, [code_part("print(6 * 7)", "8xju7mua"), RESULT, TEXT]) is Verdict.FOREIGN


@pytest.mark.parametrize("dummy", DUMMY_SIGNATURES)
def test_dummies_do_not_count_as_signatures_raw_or_encoded(dummy: str) -> None:
    for value in (
        dummy,
        base64.b64encode(dummy.encode()).decode(),
        base64.urlsafe_b64encode(dummy.encode()).decode(),
    ):
        parts = [{"text": "Written elsewhere.", "thoughtSignature": value}]
        assert _remember().check(MODEL, parts) is Verdict.FOREIGN


def test_signature_is_compared_as_bytes() -> None:
    raw = bytes([251, 255, 190])
    sent_answers = _remember([{"text": "a", "thoughtSignature": base64.b64encode(raw).decode()}])
    parts = [{"text": "a", "thoughtSignature": base64.urlsafe_b64encode(raw).decode().rstrip("=")}]
    assert sent_answers.check(MODEL, parts) is Verdict.REPLAYED


def test_images_of_an_image_model_are_omitted_or_sent_together_with_their_signatures() -> None:
    first, second = _signed(PNG, 2), _signed(image_part(b"other"), 3)
    sent_answers = _remember([text_part("One:"), first, text_part("Two:"), second, END])
    one, two = text_part("One:"), text_part("Two:")
    assert sent_answers.check(MODEL, [one, first, two, second, END]) is Verdict.REPLAYED
    assert sent_answers.check(MODEL, [one, two, second, END]) is Verdict.REPLAYED
    assert sent_answers.check(MODEL, [one, two, END]) is Verdict.REPLAYED
    assert sent_answers.check(MODEL, [one, first, two, image_part(b"other"), END]) is Verdict.MISSING
    assert sent_answers.check(MODEL, [one, second, two, first, END]) is Verdict.CORRUPTED


def test_output_with_images_may_come_back_without_them() -> None:
    output = "before\ndata:image/png;base64,iVBORw0KGgo=\nafter\n"
    sent_answers = _remember([CODE, result_part("OUTCOME_OK", output), END])
    for received in (output, "before\n\nafter\n"):
        assert sent_answers.check(MODEL, [CODE, result_part("OUTCOME_OK", received), END]) is Verdict.REPLAYED
    assert sent_answers.check(MODEL, [CODE, result_part("OUTCOME_OK", "else\n"), END]) is Verdict.CORRUPTED


def test_calls_may_be_omitted_or_replaced_by_texts() -> None:
    call, response = {"functionCall": {"name": "f", "args": {}, "id": "c1"}}, {"toolResponse": {"id": "t1"}}
    sent_answers = _remember(
        [text_part("I look."), _signed(call, 2), _signed(response, 3), CODE, RESULT, text_part("So."), END]
    )
    look, so, note = text_part("I look."), text_part("So."), text_part("[A function was called.]")
    assert (
        sent_answers.check(MODEL, [look, _signed(call, 2), _signed(response, 3), CODE, RESULT, so, END])
        is Verdict.REPLAYED
    )
    assert sent_answers.check(MODEL, [look, CODE, RESULT, so, END]) is Verdict.REPLAYED
    assert sent_answers.check(MODEL, [look, note, note, CODE, RESULT, so, END]) is Verdict.REPLAYED
    assert sent_answers.check(MODEL, [look, call, CODE, RESULT, so, END]) is Verdict.MISSING
    assert sent_answers.check(MODEL, [look, _signed(call, 3), CODE, RESULT, so, END]) is Verdict.CORRUPTED
    assert sent_answers.check(MODEL, [look, RESULT, CODE, so, END]) is Verdict.CORRUPTED
    assert sent_answers.check(MODEL, [look, CODE, RESULT, so]) is Verdict.MISSING


def test_unknown_kind_may_come_back_as_an_empty_text_with_its_signature() -> None:
    sent_answers = _remember(
        [text_part("a"), _signed({"hologram": {"depth": 3}}, 2), {"hologram": {}}, text_part("b"), END]
    )
    empty = text_part("", SIGNATURES[2])
    assert sent_answers.check(MODEL, [text_part("a"), empty, text_part("b"), END]) is Verdict.REPLAYED
    assert sent_answers.check(MODEL, [text_part("ab"), END]) is Verdict.MISSING


def test_characters_that_a_database_cannot_store_may_be_replaced() -> None:
    sent_answers = _remember([code_part("print('\0')", "", SIGNATURES[0]), text_part("a\0\ud800b"), END])
    parts = [code_part("print('\ufffd')", "", SIGNATURES[0]), text_part("a\ufffd\ufffdb"), END]
    assert sent_answers.check(MODEL, parts) is Verdict.REPLAYED


def test_code_at_the_end_is_noticed_before_parts_without_text() -> None:
    assert ends_with_code([CODE])
    assert ends_with_code([CODE, text_part(""), PNG])
    assert not ends_with_code([CODE, RESULT])
    assert not ends_with_code([text_part("a")])


def test_oldest_answers_are_deleted() -> None:
    sent_answers = SentAnswers(answers_limit=2)
    answers = [[_signed(text_part(f"Answer {number}"), number)] for number in range(3)]
    for parts in answers:
        sent_answers.add(sent_answers.start(MODEL), parts)
    assert [sent_answers.check(MODEL, parts) for parts in answers] == [Verdict.CORRUPTED, *[Verdict.REPLAYED] * 2]


def test_size_of_texts_is_limited_also_within_one_answer() -> None:
    sent_answers = SentAnswers(chars_limit=100)
    first, endless = sent_answers.start(MODEL), sent_answers.start(MODEL)
    sent_answers.add(first, [text_part("short")])
    sent_answers.add(endless, [text_part("word ")] * 1000)
    assert first.is_deleted
    assert endless.is_deleted
    assert sent_answers.check(MODEL, [text_part("short")]) is Verdict.FOREIGN


# --- any answer ---------------------------------------------------------------------------------------------------

SOME_TEXT = st.text(alphabet="ab \n\0é", max_size=4)
BARE_PARTS = st.one_of(
    st.builds(text_part, SOME_TEXT),
    st.builds(thought_part, SOME_TEXT),
    st.builds(code_part, SOME_TEXT, st.sampled_from(["", "id1", "id2"])),
    st.builds(result_part, st.sampled_from(["OUTCOME_OK", "OUTCOME_FAILED"]), SOME_TEXT, st.sampled_from(["", "id1"])),
    st.builds(image_part, st.binary(max_size=3)),
)


@st.composite
def _answers(draw: st.DrawFn) -> list[WireObject]:
    """Return parts in any order, some of them signed, each with another signature. Thoughts are never signed."""
    parts = draw(st.lists(BARE_PARTS, min_size=1, max_size=8))
    flags = draw(st.lists(st.booleans(), min_size=len(parts), max_size=len(parts)))
    return [
        _signed(part, number) if is_signed and not part.get("thought") else part
        for number, (part, is_signed) in enumerate(zip(parts, flags, strict=True))
    ]


def _signed_positions(parts: Sequence[WireObject]) -> list[int]:
    return [number for number, part in enumerate(parts) if "thoughtSignature" in part]


def _without_signature(parts: Sequence[WireObject], position: int) -> list[WireObject]:
    stripped = {name: value for name, value in parts[position].items() if name != "thoughtSignature"}
    return [*parts[:position], stripped, *parts[position + 1 :]]


@given(_answers(), st.lists(_answers(), max_size=3))
def test_any_answer_is_recognised_unchanged_and_joined(parts: list[WireObject], others: list[Any]) -> None:
    sent_answers = _remember(parts)
    for other in others:
        sent_answers.add(sent_answers.start("other"), other)
    assert sent_answers.check(MODEL, parts) is Verdict.REPLAYED
    replayed = [part for part in join_text_parts(parts) if not part.get("thought") and "inlineData" not in part]
    if replayed:
        assert sent_answers.check(MODEL, join_text_parts(replayed)) is Verdict.REPLAYED


@given(_answers(), st.data())
def test_any_cut_of_an_answer_is_recognised(parts: list[WireObject], data: st.DataObject) -> None:
    end = data.draw(st.integers(0, len(parts)))
    sent_answers = _remember(parts, is_complete=False)
    assert sent_answers.check(MODEL, parts[:end]) is Verdict.REPLAYED
    if end < len(parts) and parts[end].keys() == {"text"}:
        cut = parts[end]["text"][: data.draw(st.integers(0, 4))]
        assert sent_answers.check(MODEL, [*parts[:end], text_part(cut)]) is Verdict.REPLAYED


@given(_answers().filter(_signed_positions), st.data())
def test_removed_signature_is_always_noticed(parts: list[WireObject], data: st.DataObject) -> None:
    position = data.draw(st.sampled_from(_signed_positions(parts)))
    verdict = _remember(parts).check(MODEL, _without_signature(parts, position))
    assert verdict is Verdict.MISSING


@given(_answers().filter(_signed_positions), st.data())
def test_altered_signature_is_always_noticed(parts: list[WireObject], data: st.DataObject) -> None:
    position = data.draw(st.sampled_from(_signed_positions(parts)))
    altered = [*parts[:position], _signed(parts[position], 30), *parts[position + 1 :]]
    assert _remember(parts).check(MODEL, altered) is Verdict.CORRUPTED


@given(_answers().filter(_signed_positions), st.data())
def test_moved_signature_is_always_noticed(parts: list[WireObject], data: st.DataObject) -> None:
    """The signature moves to another part that is in the digest: not to an empty text or a thought."""
    position = data.draw(st.sampled_from(_signed_positions(parts)))
    unsigned_positions = [
        number
        for number, part in enumerate(parts)
        if number not in _signed_positions(parts) and not part.get("thought") and part != text_part("")
    ]
    assume(unsigned_positions)
    target = data.draw(st.sampled_from(unsigned_positions))
    moved = _without_signature(parts, position)
    moved[target] = {**moved[target], "thoughtSignature": parts[position]["thoughtSignature"]}
    assert _remember(parts).check(MODEL, moved) is not Verdict.REPLAYED
