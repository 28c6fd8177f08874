"""Sentences about how a turn ended: what happened, and what the person who waited can do. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.conf import settings

from chat.providers.provider_errors import InvalidRequest, ProviderError
from chat.vocabulary.stream_events import Finish


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence about how a turn ended."""

    level: str
    """`info`, `warning` or `error`."""
    sentence: str
    action: str = ""
    """What the button of the notice does: `continue`, `answer` (now, without tools), `regenerate` or `edit` (the
    question). Empty if it has no button.
    """


def _error_sentences(base: type[ProviderError]) -> dict[str, str]:
    sentences = {base.code: base.sentence}
    for error in base.__subclasses__():
        sentences |= _error_sentences(error)
    return sentences


ERRORS = _error_sentences(ProviderError) | {
    "limit": "The answer grew too long or took too long, so it was ended here. The text received so far is saved.",
    "storage": "The answer could not be stored, so it was ended. The operator must look at the server's database.",
    "file_unavailable": "An attached file could not be read from storage just now. Try again soon.",
    "became_private": "The data of this conversation became private while this answer waited. Ask again.",
    "files_too_large": (
        "The attached files are too large together: a question can have at most"
        f" {settings.REQUEST_FILES_LIMIT_BYTES // 1024**2} MB of them."
    ),
    "internal": "Something went wrong on this server while it answered. The text received so far is saved.",
}

BLOCKED = {
    Finish.SAFETY: "by the model's safety filter",
    Finish.RECITATION: "because it came too close to an existing text",
    Finish.LANGUAGE: "because the model does not support this language",
    Finish.BLOCKLIST: "because it held a forbidden term",
    Finish.PROHIBITED_CONTENT: "because the model's service prohibits its content",
    Finish.PERSONAL_DATA: "because it may hold sensitive personal data",
    Finish.POLICY: "by a policy of the model's service",
    Finish.ESCALATION: "because the model's service handed it to a person",
    Finish.BLOCKED: "by the model's service, which does not say why",
}
"""Finish -> why the provider ended an answer, or, if the answer is empty, why it refused the question."""

WITHHELD = {
    Finish.IMAGE_SAFETY: "The image was withheld by the model's safety filter.",
    Finish.IMAGE_PROHIBITED_CONTENT: "The image was withheld because the model's service prohibits its content.",
    Finish.IMAGE_RECITATION: "The image was withheld because it came too close to an existing one.",
    Finish.IMAGE_WITHHELD: "The image was withheld by the model's service, which does not say why.",
    Finish.NO_IMAGE: "The model made no image. Ask for one in other words.",
}

FINISHES = {
    Finish.LENGTH: Notice("warning", "The answer reached its length limit.", "continue"),
    Finish.CONTINUATION: Notice("warning", "The answer is longer than one generation can be.", "continue"),
    Finish.ROUND_LIMIT: Notice(
        "warning", "The model called functions in every round that one answer may have, and did not finish.", "answer"
    ),
    Finish.TOO_MANY_TOOL_CALLS: Notice("warning", "The model ran its tools too often and gave up.", "answer"),
    Finish.MALFORMED_CALL: Notice("warning", "The model made a faulty tool call and gave up.", "continue"),
    Finish.CALL_AS_TEXT: Notice(
        "warning",
        "The model wrote a tool call as text, so nothing was run: tool calling is not set up for it on its server. The"
        " operator of that server must turn it on.",
        "answer",
    ),
    Finish.UNEXPECTED_CALL: Notice("warning", "The model called a tool it was not given.", "continue"),
    Finish.MALFORMED_RESPONSE: Notice("warning", "The model's answer was malformed.", "continue"),
    Finish.MISSING_SIGNATURE: Notice(
        "warning", "The model's service missed a signature in this conversation.", "regenerate"
    ),
}

INTERRUPTIONS = {
    "": "This answer was interrupted. The text received so far is saved.",
    "restart": "The server was restarted before this answer was complete. The text received so far is saved.",
}
"""Error code -> the sentence about an interrupted answer."""

LEFT_OUT = " It is not sent again with later questions."
"""The sentence that is added to the notice of a refused question. The provider would refuse each prompt that repeats
the question.
"""
NO_ANSWER = "The model gave an empty answer. Ask again, perhaps in other words."
NO_ANSWER_AFTER_WORK = "The model thought or searched, but wrote no answer. Ask again, perhaps in other words."
ONLY_THOUGHTS = (
    "The answer is empty, because thinking used up its length limit. Its tokens are billed all the same. Ask for less"
    " at once, or choose a model that thinks less."
)


def notice_of(
    *,
    status: str,
    finish: str = "",
    finish_reason: str = "",
    finish_message: str = "",
    error_code: str = "",
    retry_after_s: float | None = None,
    is_empty: bool = False,
    has_work: bool = False,
) -> Notice | None:
    """Return the notice of a turn; `None` if there is nothing to say.

    `finish`: a value of `Finish`. `finish_reason`: the finish reason in the provider's own word. `finish_message`: the
    provider's text about the end, or about a refused request. `is_empty`: whether the answer has no content.
    `has_work`: whether it has thoughts, or calls of the provider's tools.
    """
    # An answer without content cannot be continued, so the question is asked again.
    action = "regenerate" if is_empty else "continue"
    match status:
        case "stopped":
            return Notice("info", "You stopped this answer. The text received so far is saved.", action)
        case "interrupted":
            return Notice("warning", INTERRUPTIONS.get(error_code, INTERRUPTIONS[""]), action)
        case "failed":
            sentence = ERRORS.get(error_code, ProviderError.sentence) + _wait_sentence(retry_after_s)
            if error_code == InvalidRequest.code and finish_message:
                sentence += f" The service says: “{finish_message}”"
            return Notice("error", sentence, action)
        case "done":
            return _notice_of_done(finish, finish_reason, finish_message, is_empty=is_empty, has_work=has_work)
        case _:
            return None


def _wait_sentence(retry_after_s: float | None) -> str:
    if retry_after_s is None:
        return ""
    if retry_after_s < 100:
        return f" The service asks to wait {max(1, round(retry_after_s))} seconds."
    return f" The service asks to wait {round(retry_after_s / 60)} minutes."


def is_refusal(finish: str) -> bool:
    """Return whether an empty answer with this finish means that the provider refused the question."""
    return finish in BLOCKED or (finish in WITHHELD and finish != Finish.NO_IMAGE)


def _refusal(sentence: str, *, is_empty: bool) -> Notice:
    return Notice("warning", sentence + LEFT_OUT, "edit") if is_empty else Notice("warning", sentence)


def _notice_of_done(finish: str, reason: str, message: str, *, is_empty: bool, has_work: bool) -> Notice | None:
    kind = Finish(finish) if finish else Finish.STOP
    addition = f" ({message.rstrip('.')}.)" if message else ""
    if kind in BLOCKED:
        what = "The question was refused" if is_empty else "The answer was ended"
        return _refusal(f"{what} {BLOCKED[kind]}.{addition}", is_empty=is_empty)
    if kind in WITHHELD:
        return _refusal(WITHHELD[kind] + addition, is_empty=is_empty and is_refusal(kind))
    if kind is Finish.LENGTH and is_empty:
        return Notice("warning", ONLY_THOUGHTS, "regenerate")
    if kind in FINISHES:
        # An answer without content cannot be continued.
        return replace(FINISHES[kind], action="regenerate") if is_empty else FINISHES[kind]
    if kind is Finish.UNKNOWN:
        return Notice("warning", f"The model ended its answer for a reason unknown here: {reason}.{addition}")
    if is_empty:
        return Notice("info", (NO_ANSWER_AFTER_WORK if has_work else NO_ANSWER) + addition, "regenerate")
    return None
