"""Remembers the answers that were sent, and checks whether a model content in a request is one of them.

Answers are stored and compared as `ContentDigest`. This module is pure.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum

from chat.emulator.wire import WireObject
from tests.gemini_emulator.content_digest import (
    ContentDigest,
    OptionalPart,
    OutputDigest,
    digest_of,
    fixed_digest_of,
    has_signature,
    is_call,
    is_fixed,
    signature_digest,
    text_of_part,
)

ANSWERS_LIMIT = 5_000
CHARS_LIMIT = 32 * 1024 * 1024
"""Limit of the digests of all answers together. The oldest answers are deleted first."""
JOINED_PARTS_LIMIT = 64
"""A content with more parts is not compared with joined answers, because that takes quadratic time."""


class Verdict(Enum):
    """The result of comparing a model content with the answers that were sent."""

    REPLAYED = "an answer of this model, whole or cut, with every signature in its place"
    FOREIGN = "not an answer of this model, and without signatures"
    MISSING = "an answer of this model from which a signature was removed"
    CORRUPTED = "a content with a signature that is altered, moved, or from another model"


@dataclass(slots=True)
class SentAnswer:
    """One answer that was sent, or is being sent."""

    model: str
    digest: ContentDigest = field(default_factory=ContentDigest)
    fixed_digest: ContentDigest = field(default_factory=ContentDigest)
    """The digest of the fixed parts, for clients that replace calls by texts."""
    outputs: list[OutputDigest] = field(default_factory=list)
    call_signatures: dict[str, bytes] = field(default_factory=dict)
    """The signature digest of each call, by the text of the call in a digest; empty for unsigned calls."""
    is_complete: bool = False
    is_deleted: bool = False

    def add(self, part: WireObject) -> None:
        """Add one part, or one increment of a text."""
        self.digest.add(part)
        if is_fixed(part):
            self.fixed_digest.add(part)
        if is_call(part):
            self.call_signatures[text_of_part(part)] = signature_digest(part)
        self.outputs += map(OutputDigest.of, self.digest.outputs)
        # Whole outputs take too much memory.
        self.digest.outputs.clear()
        self.fixed_digest.outputs.clear()

    def compare(self, digest: ContentDigest, parts: Sequence[WireObject]) -> Verdict:
        """Compare a content with this answer; FOREIGN means that it is not from this answer."""
        verdict = _compare(self.digest, digest, is_complete=self.is_complete)
        if verdict is not Verdict.REPLAYED and self.call_signatures:
            verdict = self._compare_without_calls(parts)
        has_same_outputs = all(
            sent.matches(received) for sent, received in zip(self.outputs, digest.outputs, strict=False)
        )
        return verdict if has_same_outputs else Verdict.FOREIGN

    def _compare_without_calls(self, parts: Sequence[WireObject]) -> Verdict:
        for part in parts:
            if is_call(part):
                signature = self.call_signatures.get(text_of_part(part))
                if signature is None:
                    return Verdict.FOREIGN
                if signature_digest(part) != signature:
                    return Verdict.CORRUPTED if signature_digest(part) else Verdict.MISSING
        return _compare(self.fixed_digest, fixed_digest_of(parts), is_complete=self.is_complete)


class SentAnswers:
    """The last answers, oldest first."""

    def __init__(self, *, answers_limit: int = ANSWERS_LIMIT, chars_limit: int = CHARS_LIMIT) -> None:
        """Start without answers."""
        self._answers: deque[SentAnswer] = deque()
        self._answers_limit = answers_limit
        self._chars_limit = chars_limit
        self._chars = 0

    def start(self, model: str) -> SentAnswer:
        """Add and return a new answer of a model."""
        answer = SentAnswer(model)
        self._answers.append(answer)
        if len(self._answers) > self._answers_limit:
            self._delete_oldest()
        return answer

    def add(self, answer: SentAnswer, parts: Iterable[WireObject]) -> None:
        """Add parts to an answer, before they are sent."""
        for part in parts:
            if answer.is_deleted:
                return
            length = answer.digest.length
            answer.add(part)
            self._chars += answer.digest.length - length
            while self._chars > self._chars_limit:
                self._delete_oldest()

    def check(self, model: str, parts: Sequence[WireObject]) -> Verdict:
        """Compare a model content in a request to `model` with all answers."""
        own_answers = [answer for answer in reversed(self._answers) if answer.model == model]
        verdict = _best_verdict(own_answers, parts)
        is_signed = has_signature(parts)
        if verdict is Verdict.REPLAYED or (is_signed and _is_joined(own_answers, parts)):
            return Verdict.REPLAYED
        if verdict is Verdict.MISSING and (is_signed or not self._is_from_another_model(model, parts)):
            return Verdict.MISSING
        return Verdict.CORRUPTED if is_signed else Verdict.FOREIGN

    def _is_from_another_model(self, model: str, parts: Sequence[WireObject]) -> bool:
        """Return whether another model sent the same content, which must then come back without signatures."""
        other_answers = [answer for answer in self._answers if answer.model != model]
        return _best_verdict(other_answers, parts) is not Verdict.FOREIGN

    def _delete_oldest(self) -> None:
        oldest = self._answers.popleft()
        oldest.is_deleted = True
        self._chars -= oldest.digest.length


def _best_verdict(answers: Iterable[SentAnswer], parts: Sequence[WireObject]) -> Verdict:
    digest = digest_of(parts)
    best = Verdict.FOREIGN
    for answer in answers:
        verdict = answer.compare(digest, parts)
        if verdict is Verdict.REPLAYED:
            return verdict
        if best is not Verdict.MISSING and verdict is not Verdict.FOREIGN:
            best = verdict
    return best


def _is_joined(answers: Sequence[SentAnswer], parts: Sequence[WireObject]) -> bool:
    """Return whether a content consists of several of these answers.

    Each of them must have a signature, else a signature could be moved from one answer to another. Exceptions are
    answers that were cut or never had signatures.
    """
    if len(parts) > JOINED_PARTS_LIMIT:
        return False
    unsigned = [answer for answer in answers if not (answer.is_complete and answer.digest.is_signed)]

    def is_answer(section: Sequence[WireObject]) -> bool:
        candidates = answers if digest_of(section).signatures else unsigned
        return _best_verdict(candidates, section) is Verdict.REPLAYED

    starts = [0]
    for end in range(1, len(parts) + 1):
        if any(is_answer(parts[start:end]) for start in starts):
            starts.append(end)
    return starts[-1] == len(parts)


def _compare(answer: ContentDigest, content: ContentDigest, *, is_complete: bool) -> Verdict:
    """Compare a content with an answer, of which it may be the beginning."""
    if not answer.text.startswith(content.text):
        return Verdict.FOREIGN
    end = content.length
    if any(span.start < end < span.end for span in answer.signatures):
        return Verdict.FOREIGN
    expected = [span for span in answer.signatures if span.end <= end]
    # If the answer was cut, signed parts without text at the cut may be missing. A complete answer must have them.
    is_whole = is_complete and end == answer.length
    required_count = len(expected) if is_whole else sum(span.start < end for span in expected)
    received = content.signatures
    if not (received == expected[: len(received)] and len(received) >= required_count):
        return Verdict.MISSING if _is_subsequence(received, expected) else Verdict.CORRUPTED
    return _compare_optional_parts(answer.optional_parts, content.optional_parts)


def _compare_optional_parts(sent: Sequence[OptionalPart], received: Sequence[OptionalPart]) -> Verdict:
    signed = [part for part in received if part.signature_digest]
    if not _is_subsequence(signed, sent):
        return Verdict.CORRUPTED
    if not any(part.signature_digest for part in sent):
        return Verdict.REPLAYED
    known = {(part.position, part.content_digest) for part in sent}
    received_known = [part for part in received if (part.position, part.content_digest) in known]
    return Verdict.REPLAYED if _is_subsequence(received_known, sent) else Verdict.MISSING


def _is_subsequence(items: Iterable[object], of: Iterable[object]) -> bool:
    remaining = iter(of)
    return all(item in remaining for item in items)
