"""Changes: the steps in which an answer grows. Each change is stored before a page shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from attachments.images import MaybeImage
from chat.vocabulary.markers import Marker
from chat.vocabulary.parts import FunctionResponse, Part
from chat.vocabulary.stream_events import Report


@dataclass(frozen=True, slots=True)
class AnswerAttachment(MaybeImage):
    """A file that appears in an answer for the first time."""

    index: int
    """The number n of the attachment's marker."""
    part_index: int
    """The part after which it is shown."""
    attachment_id: str
    name: str
    mime_type: str
    size_bytes: int
    sha256: str
    width: int | None
    """Width in pixels; `None` for a file that is not an image."""
    height: int | None
    is_graph: bool
    data: bytes | None = None
    """The file's content; `None` when read back from the log."""
    scale: int = 1
    """Number of image pixels for one CSS pixel, in each direction."""

    @property
    def marker(self) -> Marker | None:
        """The marker of the attachment in the message's text; `None` for a file that is not an image."""
        if not self.is_image:
            return None
        return Marker("GRAPH" if self.is_graph else "IMAGE", self.index)


@dataclass(frozen=True, slots=True)
class PartStarted:
    """A new part. Its text may grow."""

    index: int
    part: Part
    attachment: int | None = None
    """Index of the attachment that holds the part's bytes."""


@dataclass(frozen=True, slots=True)
class TextAppended:
    """Text is appended to the last part."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class PartReplaced:
    """An earlier or the last part is replaced by another form: a result of code that has ended, or a text that was a
    thought.
    """

    index: int
    part: Part


@dataclass(frozen=True, slots=True)
class OutputCut:
    """Code that runs has changed earlier output: the last parts of the answer are removed. New parts may follow."""

    index: int
    """The last part that stays; -1 if none does."""
    chars: int | None = None
    """Number of characters of this part that are kept. `None` if its text is not cut."""
    text: str = ""
    """The text that is appended to the cut text."""
    cleared: tuple[str, ...] = ()
    """Texts that were shown before and are now cleared. The details of the answer show them."""
    left_out: int = 0
    """Number of cleared texts that are not kept."""


@dataclass(frozen=True, slots=True)
class ThoughtEnded:
    """The model has stopped thinking. The thought need not be the last part."""

    index: int
    duration_ms: int


@dataclass(frozen=True, slots=True)
class AttachmentAdded:
    """A new attachment. It is stored in the same transaction as the part that shows it."""

    attachment: AnswerAttachment


@dataclass(frozen=True, slots=True)
class Reported:
    """The provider reports something about the response of the current round."""

    report: Report


@dataclass(frozen=True, slots=True)
class RoundStarted:
    """The results of the last round's function calls are sent to the provider, which answers with another round."""

    round: int
    """The number of the round, at least 1. Round 0 begins without this change."""


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool begins to run a function call. After a crash, the log shows that the call may have run."""

    call_id: str


@dataclass(frozen=True, slots=True)
class ResultHeld:
    """The result of a function is held back. The model gets it only if a person releases it."""

    response: FunctionResponse


@dataclass(frozen=True, slots=True)
class ApprovalRequested:
    """The turn waits until a person decides whether a function call may run, or whether its result is released."""

    call_id: str
    approval_id: str
    """The id by which a person's decision refers to this request. Plotline makes it, because a model may use a
    `call_id` again.
    """
    is_result: bool = False


@dataclass(frozen=True, slots=True)
class CallDecided:
    """A person has decided about a function call or its result, or the time limit has ended the wait."""

    call_id: str
    approval_id: str
    """The id of the request that the decision answers."""
    is_approved: bool
    code: str | None = None
    """The code that the person wrote in place of the call's code. `None` if the person did not change it."""
    is_result: bool = False
    is_timeout: bool = False


@dataclass(frozen=True, slots=True)
class Waited:
    """The provider could not answer and will be asked again. The sentence is shown until the next part arrives."""

    sentence: str


@dataclass(frozen=True, slots=True)
class EngineMoved:
    """The engine changes: from the current round on, code runs in the Python session, or nowhere."""

    reason: str
    """A sentence for the reader."""
    is_off: bool = False
    """True if code runs nowhere."""


@dataclass(frozen=True, slots=True)
class StateSent:
    """The request of the current round ends with this text about the state of the tools."""

    text: str


@dataclass(frozen=True, slots=True)
class MessagesLeftOut:
    """The oldest messages were not sent, because the conversation is longer than the model can read."""

    messages: int


@dataclass(frozen=True, slots=True)
class AttemptRestarted:
    """The request is repeated, after a failure or an answer without content. The first `kept` parts remain."""

    kept: int


Change: TypeAlias = (
    PartStarted
    | TextAppended
    | PartReplaced
    | OutputCut
    | ThoughtEnded
    | AttachmentAdded
    | Reported
    | RoundStarted
    | ToolStarted
    | ResultHeld
    | ApprovalRequested
    | CallDecided
    | Waited
    | EngineMoved
    | StateSent
    | MessagesLeftOut
    | AttemptRestarted
)
