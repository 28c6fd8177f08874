"""Reads the results of code, from an answer or a new execution, in the form in which two runs are compared."""

from __future__ import annotations

from attachments.store import BytesUnavailable, read_bytes
from chat.answering.turns.call_output import before_cut
from chat.messages.records import MessageRecord
from chat.python.kernels.outputs import Execution, ImageOutput
from chat.python.reruns.notes import without_notes
from chat.python.reruns.recorded_runs import RecordedRun, recorded_run
from chat.python.reruns.verdicts import RunOutput
from chat.python.sessions.outcomes import OUTCOMES
from chat.python.tool_set.outputs import joined_parts
from chat.vocabulary.code_outcomes import UNFINISHED
from chat.vocabulary.data_uris import extract_images
from chat.vocabulary.parts import ExecutableCode

NO_RESULT = "This code has no result to compare with: it was stopped."
NO_GRAPH = "A graph of this code could not be read from storage just now. Try again soon."
TOO_MANY_IMAGES = "This code gave too many images to compare them with new ones."

IMAGES_LIMIT = 200
"""Maximum number of images of one run. Comparing two takes some milliseconds, or 0.3 s for the largest."""
IMAGES_LIMIT_BYTES = 100 * 1024 * 1024
"""Maximum total size of the images of one run. All of them are in memory until the code has run."""


class RerunRefused(Exception):
    """The code cannot be run again. The text is a sentence that says why."""


def output_before(record: MessageRecord, run: RecordedRun) -> RunOutput:
    """Return the result of code in an answer. The images may have to be read from storage.

    Raises RerunRefused if there is no result, or if the images are too many or cannot be read.
    """
    if not run.outcome or run.outcome in UNFINISHED:
        raise RerunRefused(NO_RESULT)
    text, is_cut = before_cut(without_notes(run.text))
    return RunOutput(run.outcome, text, _images(record, run), is_cut)


def _images(record: MessageRecord, run: RecordedRun) -> tuple[bytes, ...]:
    """Return the bytes of the images that the code gave.

    Raises RerunRefused if they are too many or too large, or if one cannot be read.
    """
    by_index, of_parts = record.attachments_by_index(), record.attachments_of_parts()
    attachments = [of_parts.get(index) for index in run.image_parts]
    attachments += [by_index.get(index) for index in run.printed_images]
    images = [attachment for attachment in attachments if attachment and attachment.is_image]
    # Read each image once: an imported answer may name one image many times.
    by_id = {image.pk: image for image in images}
    if len(images) > IMAGES_LIMIT or sum(image.size_bytes for image in by_id.values()) > IMAGES_LIMIT_BYTES:
        raise RerunRefused(TOO_MANY_IMAGES)
    try:
        data = {pk: read_bytes(image) for pk, image in by_id.items()}
    except BytesUnavailable as error:
        raise RerunRefused(NO_GRAPH) from error
    return tuple(data[image.pk] for image in images)


def output_of(execution: Execution) -> RunOutput:
    """Return the result of an execution, in the form that is compared with the result in an answer."""
    # Make parts as for an answer, so that the line breaks before errors and after images are the same.
    run = recorded_run([ExecutableCode("", "PYTHON"), *joined_parts(execution.outputs)], 0)
    assert run is not None, "the first part is Python code"
    extraction = extract_images(run.text)
    images = [output.data for output in execution.outputs if isinstance(output, ImageOutput)]
    images += [image.data for image in extraction.images]
    return RunOutput(OUTCOMES[execution.status], extraction.text, tuple(images))
