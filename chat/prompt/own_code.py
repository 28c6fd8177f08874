"""What a model is sent of code that the user ran in the Python session: the output, as the user's own words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attachments.models import Attachment
from chat.kernels.display_bundles import plain_text
from chat.parts import OUTCOME_DEADLINE_EXCEEDED, OUTCOME_OK, CodeExecutionResult, Display, InlineData, Part, Role, Text
from chat.prompt.answers import ReplayedImages, left_out_contents
from chat.providers.requests import Content
from chat.python_sessions.results import shortened
from chat.transcript.records import MessageRecord

RAN = "[I ran this code myself in the Python session. {outcome} {output}]"
OUTCOMES = {OUTCOME_OK: "It ran.", OUTCOME_DEADLINE_EXCEEDED: "It ran out of time.", "": "It was stopped."}


def own_code_contents(record: MessageRecord, graphs: ReplayedImages) -> list[Content]:
    """Return the results of the user's code as a content of the user, which follows the one with the code."""
    outcome = next((part.outcome for part in reversed(record.parts) if isinstance(part, CodeExecutionResult)), "")
    output = shortened("".join(_texts(record.parts)))
    said = f"Its output:\n{output}\n" if output else "It printed nothing."
    text = Text(RAN.format(outcome=OUTCOMES.get(outcome, "It failed."), output=said))
    left_out: list[Attachment] = []
    images = tuple(_images(record, graphs, left_out))
    return [Content(Role.USER, (text, *images)), *left_out_contents(left_out)]


def _texts(parts: Iterable[Part]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, CodeExecutionResult):
            yield part.output or ""
        elif isinstance(part, Display):
            yield plain_text(part.bundle)


def _images(record: MessageRecord, graphs: ReplayedImages, left_out: list[Attachment]) -> Iterator[Part]:
    for index, part in enumerate(record.parts):
        attachment = record.attachment_of(index) if isinstance(part, InlineData) else None
        if attachment is None or graphs.is_sent(attachment):
            continue
        data = graphs.read(attachment)
        if data is None:
            left_out.append(attachment)
        else:
            yield InlineData(attachment.mime_type, "", data)
