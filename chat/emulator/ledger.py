"""What the emulator has answered, and whether a model content that comes back is one of those answers.

Contents are compared in their normal form. Texts are kept to recognise one that was cut, all else as digests. Pure.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum

from chat.emulator.normal_form import (
    Form,
    Loose,
    Output,
    firm_form,
    form_of,
    has_signature,
    is_call,
    is_firm,
    signature_of,
    word_of,
)
from chat.emulator.wire import WireObject

KEPT_ANSWERS = 5_000
KEPT_CHARS = 32 * 1024 * 1024
"""Of normal forms, over all answers; the oldest are forgotten beyond it."""
JOINED_PARTS = 64
"""A content of more parts is not tried as several answers: the tries grow with the square."""


class Verdict(Enum):
    """What a model content of a request is."""

    REPLAYED = "an answer of this model, whole or cut, each signature at its place"
    FOREIGN = "no answer of this model, and without signatures"
    MISSING = "an answer of this model, but a signature is gone"
    CORRUPTED = "a signature is altered, moved, or not of this model"


@dataclass(slots=True)
class Answer:
    """One answer that was sent, or is being sent."""

    model: str
    form: Form = field(default_factory=Form)
    firm: Form = field(default_factory=Form)
    """The form of those parts alone that a client cannot leave out or replace: no calls, no unsigned text."""
    outputs: list[Output] = field(default_factory=list)
    calls: dict[str, bytes] = field(default_factory=dict)
    """Signature of each call, empty where it had none, by its word in a form."""
    is_complete: bool = False
    is_forgotten: bool = False

    def add(self, part: WireObject) -> None:
        """Take in one part, or one increment of a text."""
        self.form.add(part)
        if is_firm(part):
            self.firm.add(part)
        if is_call(part):
            self.calls[word_of(part)] = signature_of(part)
        self.outputs += map(Output.of, self.form.outputs)
        # Whole outputs are too large to keep.
        self.form.outputs.clear()
        self.firm.outputs.clear()

    def compare(self, form: Form, parts: Sequence[WireObject]) -> Verdict:
        """What a content is if it comes from this answer; FOREIGN where it cannot."""
        verdict = _compare(self.form, form, is_complete=self.is_complete)
        if verdict is not Verdict.REPLAYED and self.calls:
            verdict = self._compare_without_calls(parts)
        # Output stands not in forms, as it may come back without its images.
        is_same = all(mine.matches(theirs) for mine, theirs in zip(self.outputs, form.outputs, strict=False))
        return verdict if is_same else Verdict.FOREIGN

    def _compare_without_calls(self, parts: Sequence[WireObject]) -> Verdict:
        for part in parts:
            if is_call(part):
                signature = self.calls.get(word_of(part))
                if signature is None:
                    return Verdict.FOREIGN
                if signature_of(part) != signature:
                    return Verdict.CORRUPTED if signature_of(part) else Verdict.MISSING
        return _compare(self.firm, firm_form(parts), is_complete=self.is_complete)


class Ledger:
    """The last answers, oldest first."""

    def __init__(self, *, kept_answers: int = KEPT_ANSWERS, kept_chars: int = KEPT_CHARS) -> None:
        """Begin with none."""
        self._answers: deque[Answer] = deque()
        self._kept_answers = kept_answers
        self._kept_chars = kept_chars
        self._chars = 0

    def begin(self, model: str) -> Answer:
        """A new answer of a model."""
        answer = Answer(model)
        self._answers.append(answer)
        if len(self._answers) > self._kept_answers:
            self._forget_oldest()
        return answer

    def add(self, answer: Answer, parts: Iterable[WireObject]) -> None:
        """Write down parts of an answer, before they are sent."""
        for part in parts:
            if answer.is_forgotten:
                return
            length = answer.form.length
            answer.add(part)
            self._chars += answer.form.length - length
            while self._chars > self._kept_chars:
                self._forget_oldest()

    def judge(self, model: str, parts: Sequence[WireObject]) -> Verdict:
        """What a model content in a request to `model` is."""
        mine = [answer for answer in reversed(self._answers) if answer.model == model]
        verdict = _verdict(mine, parts)
        is_signed = has_signature(parts)
        if verdict is Verdict.REPLAYED or (is_signed and _is_joined(mine, parts)):
            return Verdict.REPLAYED
        if verdict is Verdict.MISSING and (is_signed or not self._is_of_another(model, parts)):
            return Verdict.MISSING
        return Verdict.CORRUPTED if is_signed else Verdict.FOREIGN

    def _is_of_another(self, model: str, parts: Sequence[WireObject]) -> bool:
        """Whether another model said the same: what it said comes back without signatures."""
        others = [answer for answer in self._answers if answer.model != model]
        return _verdict(others, parts) is not Verdict.FOREIGN

    def _forget_oldest(self) -> None:
        oldest = self._answers.popleft()
        oldest.is_forgotten = True
        self._chars -= oldest.form.length


def _verdict(answers: Iterable[Answer], parts: Sequence[WireObject]) -> Verdict:
    """The best that a content is to any of these answers."""
    form = form_of(parts)
    found = Verdict.FOREIGN
    for answer in answers:
        verdict = answer.compare(form, parts)
        if verdict is Verdict.REPLAYED:
            return verdict
        if found is not Verdict.MISSING and verdict is not Verdict.FOREIGN:
            found = verdict
    return found


def _is_joined(answers: Sequence[Answer], parts: Sequence[WireObject]) -> bool:
    """Whether a content is several of these answers, one behind the other.

    Each bears a signature that cannot be left out, else a signature could be moved between two of them; but an answer
    that was cut, or came without signatures, may be joined as it is.
    """
    if len(parts) > JOINED_PARTS:
        return False
    unsigned = [answer for answer in answers if not (answer.is_complete and answer.form.is_signed)]

    def is_answer(some: Sequence[WireObject]) -> bool:
        return _verdict(answers if form_of(some).signatures else unsigned, some) is Verdict.REPLAYED

    starts = [0]
    for end in range(1, len(parts) + 1):
        if any(is_answer(parts[start:end]) for start in starts):
            starts.append(end)
    return starts[-1] == len(parts)


def _compare(answer: Form, content: Form, *, is_complete: bool) -> Verdict:
    """What `content` is if it is `answer`, or the beginning of it."""
    if not answer.said.startswith(content.said):
        return Verdict.FOREIGN
    end = content.length
    if any(mark.start < end < mark.end for mark in answer.signatures):
        return Verdict.FOREIGN
    due = [mark for mark in answer.signatures if mark.end <= end]
    # A turn that was stopped may lack what came without a word where it was cut. One that came whole may not.
    is_whole = is_complete and end == answer.length
    needed = len(due) if is_whole else sum(mark.start < end for mark in due)
    signed = content.signatures
    if not (signed == due[: len(signed)] and len(signed) >= needed):
        return Verdict.MISSING if _is_subsequence(signed, due) else Verdict.CORRUPTED
    return _compare_loose(answer.loose, content.loose)


def _compare_loose(answered: Sequence[Loose], sent: Sequence[Loose]) -> Verdict:
    signed = [item for item in sent if item.digest]
    if not _is_subsequence(signed, answered):
        return Verdict.CORRUPTED
    if not any(item.digest for item in answered):
        return Verdict.REPLAYED
    known = {(item.place, item.said) for item in answered}
    ours = [item for item in sent if (item.place, item.said) in known]
    return Verdict.REPLAYED if _is_subsequence(ours, answered) else Verdict.MISSING


def _is_subsequence(some: Iterable[object], of: Iterable[object]) -> bool:
    rest = iter(of)
    return all(item in rest for item in some)
