"""Selects what a model gets of code that the user ran: its output, as text of the user."""

from __future__ import annotations

from collections.abc import Iterator

from attachments.models import Attachment
from chat.answering.prompt.answers import ReplayedImages, image_parts, left_out_contents
from chat.messages.code_results import shown_text
from chat.messages.records import MessageRecord
from chat.providers.requests import Content
from chat.vocabulary.bounded_output import shortened
from chat.vocabulary.code_outcomes import outcome_words
from chat.vocabulary.parts import OUTCOME_ABORTED, CodeExecutionResult, InlineData, Part, Role, Text

PRIVATE = "Its output is private, so only I see it."
RAN = "[I ran this code myself. It {outcome}. {output}]"


def own_code_contents(record: MessageRecord, graphs: ReplayedImages) -> list[Content]:
    """Return the results of the user's code as a content of the user. It follows the content with the code."""
    results = (part for part in reversed(record.parts) if isinstance(part, CodeExecutionResult))
    # Code of an ended answer cannot run any more, so a result without an outcome counts as aborted.
    result = next((part for part in results if not part.is_running), CodeExecutionResult(outcome=OUTCOME_ABORTED))
    outcome = outcome_words(result).for_model
    if graphs.are_private:
        return [Content(Role.USER, (Text(RAN.format(outcome=outcome, output=PRIVATE)),))]
    output = shortened(shown_text(record.parts))
    said = f"Its output:\n{output}\n" if output else "It printed nothing."
    text = Text(RAN.format(outcome=outcome, output=said))
    left_out: list[Attachment] = []
    images = tuple(_images(record, graphs, left_out))
    return [Content(Role.USER, (text, *images)), *left_out_contents(left_out)]


def _images(record: MessageRecord, graphs: ReplayedImages, left_out: list[Attachment]) -> Iterator[Part]:
    of_parts = record.attachments_of_parts()
    for index, part in enumerate(record.parts):
        attachment = of_parts.get(index) if isinstance(part, InlineData) else None
        if attachment is not None:
            yield from image_parts(InlineData(attachment.mime_type, ""), attachment, graphs, left_out)
