"""Headings and sentences that exports add to messages. Pure."""

from __future__ import annotations

from chat.messages.files_of_code import written_files
from chat.messages.records import MessageRecord
from chat.models import Turn
from chat.page.number_list import IN_RESULTS
from chat.page.rendering.provider_tools import tool_work
from chat.page.transcript.turn_notices import turn_notice
from chat.vocabulary.parts import FunctionCall, FunctionResponse, Refusal, Role, ToolCall

LIVE_SENTENCE = (
    "The last answer was still being written when this was exported. It contains the text received until then."
)
"""Sentence at the top of a conversation whose last answer is unfinished."""


EDITED_SENTENCE = "This code was changed before it ran"
NO_RESULT_SENTENCE = "The code has no result"


def message_heading(record: MessageRecord) -> str:
    """Return the heading of a message, which says who wrote it."""
    if record.message.role == Role.USER:
        return "You"
    model = (record.turn.parameters.get("label") or record.turn.model) if record.turn else ""
    return f"Answer ({model})" if model else "Answer"


def end_sentences(record: MessageRecord) -> list[str]:
    """Return the sentences below a message."""
    return [one for one in (files_sentence(record), numbers_sentence(record), notice_sentence(record)) if one]


def notice_sentence(record: MessageRecord) -> str:
    """Return a sentence about how an answer ended; empty if it ended normally."""
    if record.turn is None:
        return ""
    if record.turn.status == Turn.Status.WAITING:
        return "This answer waited for a decision when this was exported."
    if record.is_live:
        return "This answer was still being written when this was exported."
    notice = turn_notice(record.turn, record.parts)
    return notice.sentence if notice else ""


def files_sentence(record: MessageRecord) -> str:
    """Return a sentence with the files that the code of an answer wrote; empty if it wrote none."""
    files = [
        f"{file.name} ({file.size_bytes:,} bytes, {'new' if file.is_new else 'changed'})"
        for file in written_files(record.parts)
    ]
    return f"Files that the code wrote: {', '.join(files)}" if files else ""


def numbers_sentence(record: MessageRecord) -> str:
    """Return a sentence with how many numbers of an answer are in results, and which have no source.

    Return an empty string if no numbers were traced.
    """
    numbers = record.numbers or ()
    if not numbers:
        return ""
    known = sum(one["verdict"] in IN_RESULTS for one in numbers)
    without = ", ".join(dict.fromkeys(one["text"] for one in numbers if one["verdict"] == "nowhere"))
    sentence = f"{known} of {len(numbers)} numbers are in the results"
    return f"{sentence}. Without a source: {without}" if without else sentence


def function_sentence(part: FunctionCall | FunctionResponse) -> str:
    """Return a sentence that says that a function was called, or how the call ended."""
    if isinstance(part, FunctionCall):
        return f"Function called: {part.name}"
    match part.refusal:
        case Refusal.DENIED:
            return f"Function not allowed: {part.name}"
        case Refusal.WITHHELD:
            return f"Result not sent to the model: {part.name}"
        case Refusal.NOT_RUN:
            return f"Function not run: {part.name}"
        case Refusal.ABORTED:
            return f"Function stopped: {part.name}"
        case Refusal.LOST:
            return f"Function cut off: {part.name}"
        case Refusal.PRIVATE:
            return f"What the model got: {part.name}"
        case None:
            return f"Function failed: {part.name}" if part.is_error else f"Function returned: {part.name}"


def tool_sentence(part: ToolCall) -> str:
    """Return a sentence that says which tool of the provider the model used, and for what."""
    work = tool_work(part)
    return f"{work.title}: {work.subject}" if work.subject else work.title
