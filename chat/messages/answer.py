"""The state of an answer, to which changes are applied in order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from chat.messages.answer_round import AnswerRound, total_usage
from chat.messages.changes import (
    AnswerAttachment,
    ApprovalRequested,
    AttachmentAdded,
    AttemptRestarted,
    CallDecided,
    Change,
    EngineMoved,
    MessagesLeftOut,
    OutputCut,
    PartReplaced,
    PartStarted,
    Reported,
    ResultHeld,
    RoundStarted,
    StateSent,
    TextAppended,
    ThoughtEnded,
    ToolStarted,
    Waited,
)
from chat.messages.cleared_outputs import ClearedOutputs
from chat.messages.markers_in_text import text_pieces
from chat.vocabulary.markers import join_text
from chat.vocabulary.parts import (
    FunctionCall,
    FunctionResponse,
    Part,
    Thought,
    ToolCall,
    ToolResponse,
)
from chat.vocabulary.stream_events import (
    Report,
    Usage,
    UsageReported,
)


@dataclass(slots=True)
class Answer:
    """A model message as far as it has been received."""

    rounds: list[AnswerRound] = field(default_factory=lambda: [AnswerRound()])
    attachments: list[AnswerAttachment] = field(default_factory=list)
    part_attachments: dict[int, int] = field(default_factory=dict)
    """Part index -> index of the attachment that holds the part's bytes."""
    retry_notice: str = ""
    """The sentence that is shown while the provider does not answer."""
    messages_left_out: int = 0
    awaited: ApprovalRequested | None = None
    """The request for an approval that the answer waits for."""
    decisions: dict[str, CallDecided] = field(default_factory=dict)
    """Each decision by its `approval_id`."""
    held_results: dict[str, FunctionResponse] = field(default_factory=dict)
    """`call_id` of each function call whose result waits for its release -> what the function returned."""
    move_reason: str = ""
    """The reason why the code of the answer moved to the Python session, or was turned off; empty if neither."""
    has_code_off: bool = False
    """True if the code of the answer was turned off, because the model takes no tools."""
    moved_before_round: int | None = None
    """The first round after the move to the Python session."""
    size_chars: int = 0
    """Number of characters of everything except files and token counts. Repeated attempts are included."""
    data_bytes: int = 0
    """Size of all files."""
    stored_bytes: int = 0
    """Size of all files that were stored, including graphs that code has changed and that are not kept."""
    cleared: ClearedOutputs = field(default_factory=ClearedOutputs)
    """The outputs that the code of the answer has shown and then cleared."""
    _parts: list[Part] = field(default_factory=list)
    _appended: list[str] = field(default_factory=list)
    """Texts to be joined to the last part. Joining each chunk at once would cost O(n) for each chunk."""

    def apply(self, change: Change) -> None:
        """Apply one change, in the order of the log. Raises ValueError if a part has a wrong index."""
        match change:
            case TextAppended(_, text):
                self.size_chars += len(text)
                self._appended.append(text)
            case Reported(report):
                self._add_report(report)
            case PartStarted(index, part, attachment):
                self._start_part(index, part, attachment)
            case PartReplaced(index, part):
                self._replace_part(index, part)
            case OutputCut():
                self._cut_output(change)
            case ThoughtEnded(index, duration_ms):
                self._end_thought(index, duration_ms)
            case AttachmentAdded(attachment):
                self._add_attachment(attachment)
            case RoundStarted():
                self.rounds.append(AnswerRound())
            case ToolStarted(call_id):
                self.current_round.started_calls.add(call_id)
            case ResultHeld(response):
                self.held_results[response.call_id] = response
            case ApprovalRequested():
                self.awaited = change
            case CallDecided():
                self._decide(change)
            case Waited(sentence):
                self.retry_notice = sentence
            case EngineMoved():
                self._move_engine(change)
            case StateSent(text):
                self.current_round.state = text
            case MessagesLeftOut(messages):
                self.messages_left_out = messages
            case AttemptRestarted(kept):
                self._join_appended()
                del self._parts[kept:]
                self.current_round.restart()

    def _move_engine(self, move: EngineMoved) -> None:
        self.move_reason, self.has_code_off = move.reason, move.is_off
        self.moved_before_round = None if move.is_off else self.round_number

    def apply_all(self, changes: Iterable[Change]) -> list[Change]:
        """Apply each change before the next one is made. Return the changes."""
        applied = []
        for change in changes:
            self.apply(change)
            applied.append(change)
        return applied

    def _add_report(self, report: Report) -> None:
        self.current_round.apply(report)
        if not isinstance(report, UsageReported):
            self.size_chars += len(str(report))

    def _start_part(self, index: int, part: Part, attachment: int | None) -> None:
        self._join_appended()
        if index != len(self._parts):
            raise ValueError(f"part {index} cannot follow {len(self._parts)} parts")
        self._parts.append(part)
        self.cleared.end(part)
        self.size_chars += len(part.long_text) + _other_chars(part)
        self.retry_notice = ""
        if attachment is not None:
            self.part_attachments[index] = attachment

    def _replace_part(self, index: int, part: Part) -> None:
        self._join_appended()
        self.size_chars += len(part.long_text) - len(self._parts[index].long_text)
        self._parts[index] = part
        self.cleared.end(part)

    def _add_attachment(self, attachment: AnswerAttachment) -> None:
        # The change holds the bytes until they are stored. The answer must not hold the bytes of many graphs.
        self.attachments.append(replace(attachment, data=None))
        if not self.cleared.take_back(attachment):
            self.data_bytes += attachment.size_bytes
            self.stored_bytes += attachment.size_bytes

    def _cut_output(self, cut: OutputCut) -> None:
        kept = cut.index + 1
        self.size_chars -= sum(len(part.long_text) + _other_chars(part) for part in self.parts[kept:])
        del self._parts[kept:]
        if cut.chars is not None:
            part = self._parts[cut.index]
            self._replace_part(cut.index, part.with_long_text(part.long_text[: cut.chars] + cut.text))
        self.part_attachments = {part: number for part, number in self.part_attachments.items() if part < kept}
        removed = [one for one in self.attachments if one.part_index >= kept]
        self.attachments = [one for one in self.attachments if one.part_index < kept]
        self.size_chars += sum(map(len, cut.cleared))
        self.data_bytes -= self.cleared.add(removed, cut)

    def _end_thought(self, index: int, duration_ms: int) -> None:
        self._join_appended()
        thought = self._parts[index]
        if isinstance(thought, Thought):
            self._parts[index] = replace(thought, duration_ms=duration_ms)

    def _decide(self, decision: CallDecided) -> None:
        self.decisions[decision.approval_id] = decision
        self.awaited = None
        if decision.is_result:
            self._decide_result(decision)

    def call_decision(self, call_id: str) -> CallDecided | None:
        """Return the decision whether a function call may run; `None` if there is none."""
        decisions = self.decisions.values()
        return next((one for one in decisions if one.call_id == call_id and not one.is_result), None)

    def _decide_result(self, decision: CallDecided) -> None:
        """Replace the sentence that stands for a held result by the result, if it was released."""
        held = self.held_results.pop(decision.call_id, None)
        if held is None or not decision.is_approved:
            return
        for index, part in enumerate(self.parts):
            if isinstance(part, FunctionResponse) and part.call_id == held.call_id:
                self._parts[index] = replace(held, round=part.round, made_by=part.made_by)

    def _join_appended(self) -> None:
        if self._appended:
            last = self._parts[-1]
            self._parts[-1] = last.with_long_text(last.long_text + "".join(self._appended))
            self._appended.clear()

    @property
    def parts(self) -> list[Part]:
        """All parts so far, with all their text."""
        self._join_appended()
        return self._parts

    @property
    def last_part(self) -> Part | None:
        """The last part. Text that was appended to it may be missing."""
        return self._parts[-1] if self._parts else None

    @property
    def part_count(self) -> int:
        """The number of parts so far."""
        return len(self._parts)

    @property
    def current_round(self) -> AnswerRound:
        """The last round."""
        return self.rounds[-1]

    @property
    def round_number(self) -> int:
        """The number of the last round, from 0."""
        return len(self.rounds) - 1

    @property
    def usage(self) -> Usage | None:
        """Token counts of all rounds together."""
        return total_usage(self.rounds)

    @property
    def queries(self) -> list[str]:
        """The search queries of the provider in all rounds."""
        return [query for one in self.rounds for query in one.queries]

    @property
    def parts_of_round(self) -> list[Part]:
        """The parts of the current round."""
        return [part for part in self.parts if part.round == self.round_number]

    @property
    def is_blank(self) -> bool:
        """Return whether no part of the current round counts as content of an answer (`Part.is_answer`)."""
        return not any(part.is_answer for part in self.parts_of_round)

    @property
    def calls(self) -> list[FunctionCall]:
        """The function calls of the current round, in order."""
        return [part for part in self.parts if part.round == self.round_number and isinstance(part, FunctionCall)]

    @property
    def unanswered_calls(self) -> list[FunctionCall]:
        """The function calls of the current round that have no response, in order."""
        own = self.parts_of_round
        answered = {part.call_id for part in own if isinstance(part, FunctionResponse)}
        return [call for call in self.calls if call.call_id not in answered]

    @property
    def text(self) -> str:
        """The text parts joined, with a marker on a line of its own for each received image."""
        return join_text(text_pieces(self.parts, self.attachments))[0]


def _other_chars(part: Part) -> int:
    """Return the characters of a part's `provider_data`, of a call's arguments and of a provider's tool's result."""
    chars = len(str(part.provider_data)) if part.provider_data else 0
    if isinstance(part, FunctionCall | ToolCall):
        chars += len(str(part.arguments))
    return chars + len(str(part.result)) if isinstance(part, ToolResponse) else chars
