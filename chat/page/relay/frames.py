"""Frames: the messages to every page that follows a conversation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Stored changes of a live turn."""

    conversation_id: str
    revision: int
    """The conversation's revision once this frame is applied. The last step of a turn increments it."""
    turn_id: str
    after: int
    """The `seq` of the frame before."""
    seq: int
    text: str
    """The socket message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRevision:
    """A change that increments the revision, such as a new turn. It follows the last frame of the revision before."""

    conversation_id: str
    revision: int
    text: str
    """The socket message."""
    turn_id: str = ""
    """The turn whose steps follow; empty: no steps follow."""
    replaced_from: int | None = None
    """Index of the first message that is removed, with all messages after it. `None`: no message is removed."""

    @property
    def seq(self) -> int:
        """The `seq` that the first step of the turn follows."""
        return 0


@dataclass(frozen=True, slots=True)
class UnorderedUpdate:
    """A change that may be lost and follows no other, such as a new title."""

    conversation_id: str
    text: str
    """The socket message."""


@dataclass(frozen=True, slots=True)
class Announcement:
    """The revision of the conversation. Pages that show another one read a snapshot."""

    conversation_id: str
    revision: int | None
    """`None`: every page reads a snapshot, but only of the live answer if the page has the newest revision."""
    is_whole: bool = False
    """Whether every page reads all messages that it shows. Then `revision` is `None`."""


@dataclass(frozen=True, slots=True)
class ExpectedPosition:
    """The position that pages should have reached. A page that is behind it reads a snapshot."""

    conversation_id: str
    revision: int
    turn_id: str = ""
    """Empty: no turn is live."""
    seq: int = 0


OrderedFrame: TypeAlias = Step | NewRevision
Frame: TypeAlias = OrderedFrame | UnorderedUpdate | Announcement | ExpectedPosition

KINDS: Mapping[str, type[Frame]] = {
    kind.__name__: kind for kind in (Step, NewRevision, UnorderedUpdate, Announcement, ExpectedPosition)
}


def frame_to_json(frame: Frame) -> dict[str, object]:
    """Return a frame as JSON, for another process."""
    return {"kind": type(frame).__name__, **asdict(frame)}


def frame_from_json(data: Mapping[str, Any]) -> Frame | None:
    """Return the frame of `frame_to_json`; `None` if it comes from a version of Plotline that has other frames."""
    fields = dict(data)
    kind = KINDS.get(fields.pop("kind", ""))
    try:
        return kind(**fields) if kind else None
    except TypeError:
        return None
