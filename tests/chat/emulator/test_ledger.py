"""What the ledger recognises: every answer in any faithful form, and no signature that is not where it was."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from chat.emulator import wire
from chat.emulator.ledger import Ledger, Verdict
from chat.emulator.normal_form import DUMMIES, ends_with_code
from chat.emulator.wire import WireObject

MODEL = "gemini-3-flash"
SIGNATURES = [base64.b64encode(bytes([number] * (20 + number))).decode() for number in range(40)]
PNG = wire.image(b"\x89PNG")


def _signed(part: WireObject, number: int) -> WireObject:
    return {**part, "thoughtSignature": SIGNATURES[number]}


CODE = wire.code("print(6 * 7)", "8xju7mua", SIGNATURES[0])
RESULT = wire.result("OUTCOME_OK", "42\n", "8xju7mua")
END = wire.text("", SIGNATURES[1])
ANSWER = [wire.thought("Hm."), CODE, wire.text(""), RESULT, PNG, wire.text("The answer "), wire.text("is 42."), END]
SAID = wire.text("The answer is 42.")


def _ledger(parts: Sequence[WireObject] = ANSWER, *, model: str = MODEL, is_complete: bool = True) -> Ledger:
    ledger = Ledger()
    answer = ledger.begin(model)
    ledger.add(answer, parts)
    answer.is_complete = is_complete
    return ledger


@pytest.mark.parametrize(
    "parts",
    [
        ANSWER,
        [CODE, RESULT, SAID, END],
        [CODE, RESULT, PNG, SAID, END],
        [CODE, wire.text(""), RESULT, wire.text("The answer is 42"), wire.text("."), END],
        [CODE],
        [CODE, RESULT],
        [CODE, RESULT, wire.text("The ans")],
        [CODE, RESULT, SAID, END, CODE, RESULT, SAID, END],
        [CODE, RESULT, wire.text("The"), CODE, RESULT, SAID, END],
    ],
)
def test_answer_is_recognised_whole_cut_rejoined_and_without_its_images(parts: list[WireObject]) -> None:
    assert _ledger().judge(MODEL, parts) is Verdict.REPLAYED


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ([{**CODE, "thoughtSignature": SIGNATURES[5]}, RESULT, SAID, END], Verdict.CORRUPTED),
        ([CODE, RESULT, _signed(SAID, 1)], Verdict.CORRUPTED),
        ([CODE, {**RESULT, "thoughtSignature": SIGNATURES[1]}, SAID, END], Verdict.CORRUPTED),
        ([CODE, RESULT, wire.text("Something else."), END], Verdict.CORRUPTED),
        ([CODE, wire.result("OUTCOME_OK", "43\n", "8xju7mua"), SAID, END], Verdict.CORRUPTED),
        ([CODE, RESULT, _signed(PNG, 2), SAID, END], Verdict.CORRUPTED),
        ([CODE, RESULT, SAID, END, wire.text("and more")], Verdict.CORRUPTED),
        ([wire.code("print(6 * 7)", "8xju7mua"), RESULT, SAID, END], Verdict.MISSING),
        ([wire.code("print(6 * 7)", "8xju7mua", DUMMIES[0]), RESULT, SAID, END], Verdict.MISSING),
        ([CODE, RESULT, SAID], Verdict.MISSING),
        ([wire.code("print(6 * 7)", "8xju7mua"), RESULT, SAID], Verdict.MISSING),
        ([SAID], Verdict.FOREIGN),
        ([wire.text("Something else.")], Verdict.FOREIGN),
    ],
)
def test_signatures_are_found_missing_moved_or_altered(parts: list[WireObject], verdict: Verdict) -> None:
    assert _ledger().judge(MODEL, parts) is verdict


def test_last_signature_may_be_missing_where_the_answer_did_not_come_whole() -> None:
    assert _ledger(is_complete=False).judge(MODEL, [CODE, RESULT, SAID]) is Verdict.REPLAYED


def test_answer_without_signatures_may_be_joined_to_one_with_them() -> None:
    ledger = _ledger()
    ledger.add(ledger.begin(MODEL), [wire.text("Cut off")])
    assert ledger.judge(MODEL, [wire.text("Cut off"), CODE, RESULT, SAID, END]) is Verdict.REPLAYED
    assert ledger.judge(MODEL, [wire.text("Not said"), CODE, RESULT, SAID, END]) is Verdict.CORRUPTED


def test_answer_of_another_model_must_bear_no_signature() -> None:
    ledger = _ledger()
    assert ledger.judge("other", [CODE, RESULT, SAID, END]) is Verdict.CORRUPTED
    assert ledger.judge("other", [wire.code("print(6 * 7)", "8xju7mua"), RESULT, SAID]) is Verdict.FOREIGN


def test_answer_that_two_models_gave_may_be_the_unsigned_one() -> None:
    ledger = _ledger()
    ledger.add(ledger.begin("other"), ANSWER)
    assert ledger.judge(MODEL, [wire.code("print(6 * 7)", "8xju7mua"), RESULT, SAID]) is Verdict.FOREIGN


@pytest.mark.parametrize("dummy", DUMMIES)
def test_dummies_are_no_signatures_raw_or_encoded(dummy: str) -> None:
    for written in (
        dummy,
        base64.b64encode(dummy.encode()).decode(),
        base64.urlsafe_b64encode(dummy.encode()).decode(),
    ):
        parts = [{"text": "Written elsewhere.", "thoughtSignature": written}]
        assert _ledger().judge(MODEL, parts) is Verdict.FOREIGN


def test_signature_is_compared_as_bytes() -> None:
    raw = bytes([251, 255, 190])
    ledger = _ledger([{"text": "a", "thoughtSignature": base64.b64encode(raw).decode()}])
    parts = [{"text": "a", "thoughtSignature": base64.urlsafe_b64encode(raw).decode().rstrip("=")}]
    assert ledger.judge(MODEL, parts) is Verdict.REPLAYED


def test_images_of_an_image_model_go_with_their_signature_or_come_with_it() -> None:
    first, second = _signed(PNG, 2), _signed(wire.image(b"other"), 3)
    ledger = _ledger([wire.text("One:"), first, wire.text("Two:"), second, END])
    one, two = wire.text("One:"), wire.text("Two:")
    assert ledger.judge(MODEL, [one, first, two, second, END]) is Verdict.REPLAYED
    assert ledger.judge(MODEL, [one, two, second, END]) is Verdict.REPLAYED
    assert ledger.judge(MODEL, [one, two, END]) is Verdict.REPLAYED
    assert ledger.judge(MODEL, [one, first, two, wire.image(b"other"), END]) is Verdict.MISSING
    assert ledger.judge(MODEL, [one, second, two, first, END]) is Verdict.CORRUPTED


def test_output_with_images_may_come_back_without_them() -> None:
    output = "before\ndata:image/png;base64,iVBORw0KGgo=\nafter\n"
    ledger = _ledger([CODE, wire.result("OUTCOME_OK", output), END])
    for sent in (output, "before\n\nafter\n"):
        assert ledger.judge(MODEL, [CODE, wire.result("OUTCOME_OK", sent), END]) is Verdict.REPLAYED
    assert ledger.judge(MODEL, [CODE, wire.result("OUTCOME_OK", "else\n"), END]) is Verdict.CORRUPTED


def test_calls_may_be_left_out_or_told_of_in_words() -> None:
    call, response = {"functionCall": {"name": "f", "args": {}, "id": "c1"}}, {"toolResponse": {"id": "t1"}}
    ledger = _ledger(
        [wire.text("I look."), _signed(call, 2), _signed(response, 3), CODE, RESULT, wire.text("So."), END]
    )
    look, so, note = wire.text("I look."), wire.text("So."), wire.text("[A function was called.]")
    assert (
        ledger.judge(MODEL, [look, _signed(call, 2), _signed(response, 3), CODE, RESULT, so, END]) is Verdict.REPLAYED
    )
    assert ledger.judge(MODEL, [look, CODE, RESULT, so, END]) is Verdict.REPLAYED
    assert ledger.judge(MODEL, [look, note, note, CODE, RESULT, so, END]) is Verdict.REPLAYED
    assert ledger.judge(MODEL, [look, call, CODE, RESULT, so, END]) is Verdict.MISSING
    assert ledger.judge(MODEL, [look, _signed(call, 3), CODE, RESULT, so, END]) is Verdict.CORRUPTED
    assert ledger.judge(MODEL, [look, RESULT, CODE, so, END]) is Verdict.CORRUPTED
    assert ledger.judge(MODEL, [look, CODE, RESULT, so]) is Verdict.MISSING


def test_kind_that_no_client_knows_comes_back_as_its_signature_alone() -> None:
    ledger = _ledger([wire.text("a"), _signed({"hologram": {"depth": 3}}, 2), {"hologram": {}}, wire.text("b"), END])
    empty = wire.text("", SIGNATURES[2])
    assert ledger.judge(MODEL, [wire.text("a"), empty, wire.text("b"), END]) is Verdict.REPLAYED
    assert ledger.judge(MODEL, [wire.text("ab"), END]) is Verdict.MISSING


def test_what_no_database_stores_may_come_back_replaced() -> None:
    ledger = _ledger([wire.code("print('\0')", "", SIGNATURES[0]), wire.text("a\0\ud800b"), END])
    parts = [wire.code("print('\ufffd')", "", SIGNATURES[0]), wire.text("a\ufffd\ufffdb"), END]
    assert ledger.judge(MODEL, parts) is Verdict.REPLAYED


def test_code_at_the_end_is_seen_behind_what_says_nothing() -> None:
    assert ends_with_code([CODE])
    assert ends_with_code([CODE, wire.text(""), PNG])
    assert not ends_with_code([CODE, RESULT])
    assert not ends_with_code([wire.text("a")])


def test_oldest_answers_are_forgotten() -> None:
    ledger = Ledger(kept_answers=2)
    answers = [[_signed(wire.text(f"Answer {number}"), number)] for number in range(3)]
    for parts in answers:
        ledger.add(ledger.begin(MODEL), parts)
    assert [ledger.judge(MODEL, parts) for parts in answers] == [Verdict.CORRUPTED, *[Verdict.REPLAYED] * 2]


def test_texts_are_bounded_even_within_one_answer() -> None:
    ledger = Ledger(kept_chars=100)
    first, endless = ledger.begin(MODEL), ledger.begin(MODEL)
    ledger.add(first, [wire.text("short")])
    ledger.add(endless, [wire.text("word ")] * 1000)
    assert first.is_forgotten
    assert endless.is_forgotten
    assert ledger.judge(MODEL, [wire.text("short")]) is Verdict.FOREIGN


# --- any answer ---------------------------------------------------------------------------------------------------

SOME_TEXT = st.text(alphabet="ab \n\0é", max_size=4)
BARE_PARTS = st.one_of(
    st.builds(wire.text, SOME_TEXT),
    st.builds(wire.thought, SOME_TEXT),
    st.builds(wire.code, SOME_TEXT, st.sampled_from(["", "id1", "id2"])),
    st.builds(wire.result, st.sampled_from(["OUTCOME_OK", "OUTCOME_FAILED"]), SOME_TEXT, st.sampled_from(["", "id1"])),
    st.builds(wire.image, st.binary(max_size=3)),
)


@st.composite
def _answers(draw: st.DrawFn) -> list[WireObject]:
    """Parts in any order, some signed, no two signatures equal; thoughts bear none, as on the wire."""
    parts = draw(st.lists(BARE_PARTS, min_size=1, max_size=8))
    signed = draw(st.lists(st.booleans(), min_size=len(parts), max_size=len(parts)))
    return [
        _signed(part, number) if is_signed and not part.get("thought") else part
        for number, (part, is_signed) in enumerate(zip(parts, signed, strict=True))
    ]


def _places(parts: Sequence[WireObject]) -> list[int]:
    return [number for number, part in enumerate(parts) if "thoughtSignature" in part]


def _without(parts: Sequence[WireObject], place: int) -> list[WireObject]:
    stripped = {name: value for name, value in parts[place].items() if name != "thoughtSignature"}
    return [*parts[:place], stripped, *parts[place + 1 :]]


@given(_answers(), st.lists(_answers(), max_size=3))
def test_any_answer_is_recognised_as_it_was_sent_and_joined(parts: list[WireObject], others: list[Any]) -> None:
    ledger = _ledger(parts)
    for other in others:
        ledger.add(ledger.begin("other"), other)
    assert ledger.judge(MODEL, parts) is Verdict.REPLAYED
    sent = [part for part in wire.join_text(parts) if not part.get("thought") and "inlineData" not in part]
    if sent:
        assert ledger.judge(MODEL, wire.join_text(sent)) is Verdict.REPLAYED


@given(_answers(), st.data())
def test_any_cut_of_an_answer_is_recognised(parts: list[WireObject], data: st.DataObject) -> None:
    end = data.draw(st.integers(0, len(parts)))
    ledger = _ledger(parts, is_complete=False)
    assert ledger.judge(MODEL, parts[:end]) is Verdict.REPLAYED
    if end < len(parts) and parts[end].keys() == {"text"}:
        cut = parts[end]["text"][: data.draw(st.integers(0, 4))]
        assert ledger.judge(MODEL, [*parts[:end], wire.text(cut)]) is Verdict.REPLAYED


@given(_answers().filter(_places), st.data())
def test_dropped_signature_is_never_passed(parts: list[WireObject], data: st.DataObject) -> None:
    place = data.draw(st.sampled_from(_places(parts)))
    verdict = _ledger(parts).judge(MODEL, _without(parts, place))
    assert verdict is Verdict.MISSING


@given(_answers().filter(_places), st.data())
def test_altered_signature_is_never_passed(parts: list[WireObject], data: st.DataObject) -> None:
    place = data.draw(st.sampled_from(_places(parts)))
    altered = [*parts[:place], _signed(parts[place], 30), *parts[place + 1 :]]
    assert _ledger(parts).judge(MODEL, altered) is Verdict.CORRUPTED


@given(_answers().filter(_places), st.data())
def test_moved_signature_is_never_passed(parts: list[WireObject], data: st.DataObject) -> None:
    """To another part; an empty text says nothing, and a thought is not sent back."""
    place = data.draw(st.sampled_from(_places(parts)))
    free = [
        number
        for number, part in enumerate(parts)
        if number not in _places(parts) and not part.get("thought") and part != wire.text("")
    ]
    assume(free)
    target = data.draw(st.sampled_from(free))
    moved = _without(parts, place)
    moved[target] = {**moved[target], "thoughtSignature": parts[place]["thoughtSignature"]}
    assert _ledger(parts).judge(MODEL, moved) is not Verdict.REPLAYED
