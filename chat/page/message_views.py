"""Views that the templates of messages render: values without behaviour. `transcript.views` makes them."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import NamedTuple

from django.utils.safestring import SafeString

from chat.messages.approval import Approval
from chat.messages.notices import Notice
from chat.page.attachment_views import AttachmentView, ClearedOutputs, WrittenFileView
from chat.page.readers import Reader
from chat.page.rendering.displays import Block
from chat.page.rendering.durations import duration_text, thought_sentence
from chat.page.rendering.file_links import NO_FILE_LINKS, FileLinks
from chat.page.rendering.provider_tools import ToolWork
from chat.vocabulary.code_outcomes import ERROR, PREDICATES, SUCCESS, TIMEOUT, outcome_sentence
from chat.vocabulary.parts import CodeExecutionResult, Part

NO_HTML = SafeString("")


class RenderedText(NamedTuple):
    """The HTML of a text or an output that may still grow."""

    closed: SafeString
    """The HTML that later text does not change. Exception: an escape code in the output of code can still change it."""
    tail: SafeString


@dataclass(frozen=True, slots=True)
class RerunView:
    """The buttons that run a block of code again, and the verdict of its last run; or the output while it runs."""

    element_id: str
    index: int
    """The index of the part with the code."""
    verdict: str = ""
    """A `Verdict`. Empty: the code was not run again."""
    detail: str = ""
    output: str = ""
    """The end of the output of code that runs now."""
    is_running: bool = False
    is_unproved: bool = False
    """Whether the page says that this code of the session was never run again."""


@dataclass(frozen=True, slots=True)
class CodeEnd:
    """How code ended. Pages show this beside the number of its lines."""

    element_id: str
    outcome: str = ""
    """A key of `code_outcomes.PREDICATES`. Empty: the code has not ended."""
    duration_ms: int | None = None
    """`None`: the duration is not known."""

    @property
    def sentence(self) -> str:
        """A sentence that says how the code ended, and how long it ran."""
        words = PREDICATES[self.outcome]
        if self.outcome not in (SUCCESS, ERROR, TIMEOUT) or self.duration_ms is None:
            return words
        return f"{words} {'in' if self.outcome == SUCCESS else 'after'} {duration_text(self.duration_ms)}"


@dataclass(frozen=True, slots=True)
class ThoughtLine:
    """The line above a thought. The thought is folded below it."""

    element_id: str
    duration_ms: int | None = None
    """`None`: the model still thinks, or the time is not known."""

    @property
    def sentence(self) -> str:
        """The text of the line."""
        return thought_sentence(self.duration_ms)


@dataclass(frozen=True, slots=True)
class CodeContext:
    """What the other parts of a message determine about one part."""

    result: CodeExecutionResult | None = None
    """The result of this part, if it is code that has ended."""
    has_code: bool = False
    """True if this part is a result whose code is in the message."""
    is_without_result: bool = False
    """True if this part is code that has no result and will get none."""
    is_earlier_result: bool = False
    """True if this part is a result, and a later result of the same code shows how the code ended."""
    is_hidden: bool = False
    """Whether this part is a function call or response, and the code of the call shows the same."""
    file_links: FileLinks = NO_FILE_LINKS
    """The files that links in a text lead to."""
    place: str = ""
    """Where code runs, in words."""
    is_live: bool = False
    """Whether the message may still grow."""


NO_CONTEXT = CodeContext()


@dataclass(frozen=True, slots=True)
class PartView:
    """One part, and the attachments that are shown right after it."""

    element_id: str
    """`part-<message id>-<index>`. The open tail of a text, thought or output has the id `<element_id>-tail`."""
    part: Part
    text: RenderedText | None
    """The rendered text of a text or thought, or the rendered output of a result."""
    code: SafeString
    """The highlighted code of executable code."""
    outcome: str
    """How the code of a result ended: a word of `code_outcomes`. Empty: the code runs, or a later result says it."""
    attachments: tuple[AttachmentView, ...]
    reader: Reader
    code_end: CodeEnd | None = None
    """How the code ended; `None` if the part is no code."""
    has_code: bool = False
    """Whether the code of a code execution result is in the message. That code then says how it ended."""
    is_hidden: bool = False
    """Whether pages hide this call or response, because the code of the function call shows the same."""
    place: str = ""
    """Where code runs, in words. Empty for other parts."""
    rerun: RerunView | None = None
    """The buttons that run the code again. `None`: the part cannot be run again here."""
    display: tuple[Block, ...] = ()
    """The blocks that show a rich output."""
    tool_work: ToolWork | None = None
    """The request to a tool of the provider, or its result; `None` for other parts."""
    thought_line: ThoughtLine | None = None
    """The line above a thought. `None`: the part is no thought."""

    @property
    def outcome_sentence(self) -> str:
        """A sentence that says how the code of a result ended, without a full stop. Empty if `outcome` is empty."""
        return outcome_sentence(self.outcome)


@dataclass(frozen=True, slots=True)
class Versions:
    """The position of a message among its versions."""

    number: int
    """The number of the version, which counts from 1 for the oldest."""
    total: int
    previous_id: uuid.UUID | None
    next_id: uuid.UUID | None


@dataclass(frozen=True, slots=True)
class SourceView:
    """A web page that the provider names as a source of an answer."""

    url: str
    """http or https."""
    title: str
    host: str


@dataclass(frozen=True, slots=True)
class Grounding:
    """The sources of an answer, and the searches that found them."""

    sources: tuple[SourceView, ...]
    queries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnswerDetails:
    """How an answer was made. Fields that the reader may not see have their default value."""

    model: str
    """The model's label."""
    code_execution: bool
    duration_s: float | None
    """Duration of the turn. `None`: it is live, or ran a person's own code, which shows its duration itself."""
    engine: str = ""
    """Where code could run, in words. Empty: it could run nowhere, or the turn is live."""
    service: str = ""
    """The provider that answered, and its endpoint. Empty: no model answered."""
    code_reason: str = ""
    usage: tuple[tuple[str, int], ...] = ()
    """(label, tokens) of each count that the provider reported."""
    total: int | None = None
    cost: str = ""
    """US dollars as text. Empty: not known."""
    rounds: int = 0
    """Number of requests to the provider; 0 while the turn is live."""
    parameters: tuple[str, ...] = ()
    """The settings of the model, in words."""
    searches: str = ""
    """How often the web was searched, and what that cost, in words. Empty: it was not searched."""
    model_note: str = ""
    """A sentence that names the model that answered in place of the chosen one. Empty: the chosen one answered."""
    estimated: int | None = None
    """An estimate of the tokens that the provider did not report. The reported total does not include them."""
    is_uncounted: bool = False
    """Whether the number of tokens is not known, not even as an estimate."""
    ended: str = ""
    """Why the provider ended the answer, in its own words. Empty: it is complete, or the provider did not say why."""


@dataclass(frozen=True, slots=True)
class Rating:
    """The owner's feedback on an answer."""

    message_id: uuid.UUID
    is_good: bool | None = None
    """`None`: the answer is not rated."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ConversationUsage:
    """The usage of all answers of a conversation, hidden versions included."""

    tokens: int
    cost: str
    """US dollars as text. Empty: not known."""
    turns: int
    """Number of turns that have ended."""
    is_estimated: bool = False
    """Whether `tokens` includes estimates for answers whose provider reported no tokens."""


@dataclass(frozen=True, slots=True)
class MessageView:
    """One message of the transcript."""

    message_id: uuid.UUID
    reader: Reader
    role: str
    status: str
    """The status of an answer's turn; `done` for a user's message."""
    text: str
    """A user's text as it was typed."""
    parts: tuple[PartView, ...]
    attachments: tuple[AttachmentView, ...]
    """All attachments of a user's message; of an answer, those that are shown at its end."""
    notice: Notice | None
    created_at: str
    """ISO 8601."""
    text_html: SafeString = NO_HTML
    """A user's text as Markdown."""
    text_url: str = ""
    """Where the page gets the text of an answer as Markdown, to copy it. Empty: the reader may not get it."""
    numbers_url: str = ""
    """Where the page gets the numbers of an answer with their sources. Empty: no numbers, or none for this reader."""
    is_traced: bool = False
    """Whether the page asks for `numbers_url` without a click, because the sources were or are being looked for."""
    numbers_html: SafeString = NO_HTML
    """The list of the numbers of an answer, only in exports."""
    pdf_url: str = ""
    """Where the owner gets only this message as a PDF."""
    word_url: str = ""
    versions: Versions | None = None
    is_own_code: bool = False
    """Whether a user's message consists of code alone."""
    files: tuple[WrittenFileView, ...] = ()
    """Files that the code of an answer wrote. A file that was kept is listed here, not in `attachments`."""
    retry_notice: str = ""
    """The sentence that the page shows while the provider does not answer."""
    left_out: int = 0
    """Number of the oldest messages that were not sent to the model."""
    approval: Approval | None = None
    """The decision that a waiting answer needs from its owner; `None` if it does not wait."""
    earlier_readings: tuple[str, ...] = ()
    """Names of tables for which the owner has chosen another way of reading since this answer."""
    move_reason: str = ""
    """Why code moved to the Python session; empty if it did not."""
    grounding: Grounding | None = None
    details: AnswerDetails | None = None
    """How an answer was made."""
    cleared: ClearedOutputs | None = None
    """Outputs that the code has cleared. `None`: there are none, or the reader's page does not show them."""
    rating: Rating | None = None
    """The rating of an answer. `None`: the message cannot be rated here."""

    @property
    def loses_files(self) -> bool:
        """Whether the reader may download a file that is deleted when the session ends."""
        return any(file.url and not file.kept for file in self.files)

    @property
    def images(self) -> list[AttachmentView]:
        """Images that are not graphs. The message shows them as a gallery."""
        return [view for view in self.attachments if view.is_image and not view.is_graph]

    @property
    def other_attachments(self) -> list[AttachmentView]:
        """Graphs and files. The gallery shows only the other images (`images`)."""
        return [view for view in self.attachments if not view.is_image or view.is_graph]
