"""Every end of a turn in words: what happened, and what the person who waited can do. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.conf import settings

from chat.providers.base import ProviderError


@dataclass(frozen=True, slots=True)
class Notice:
    """What a person must know about how a turn ended."""

    level: str
    """info, warning or error."""
    sentence: str
    action: str = ""
    """continue, answer (now, without tools), regenerate or empty: what its button does."""


def _error_sentences() -> dict[str, str]:
    sentences = {ProviderError.code: ProviderError.sentence}
    sentences.update({error.code: error.sentence for error in ProviderError.__subclasses__()})
    return sentences


ERRORS = _error_sentences() | {
    "limit": "The answer grew too long or took too long, so it was ended here. What came is kept.",
    "storage": "The answer could not be stored, so it was ended. Whoever runs this server must look at its database.",
    "file_unavailable": "An attached file could not be read from storage just now. Try again soon.",
    "files_too_large": (
        "The attached files are too large together: a question can have at most"
        f" {settings.REQUEST_FILES_LIMIT_BYTES // 1024**2} MB of them."
    ),
    "internal": "Something went wrong on this server while it answered. What came is kept.",
}

BLOCKED = {
    "SAFETY": "by the model's safety filter",
    "RECITATION": "because it came too close to an existing text",
    "LANGUAGE": "because the model does not support this language",
    "BLOCKLIST": "because it held a forbidden term",
    "PROHIBITED_CONTENT": "because the model's service prohibits its content",
    "SPII": "because it may hold sensitive personal data",
    "MODEL_ARMOR": "by the service's Model Armor policy",
    "ESCALATION": "because the model's service handed it to a person",
    "OTHER": "by the model's service, which does not say why",
}
"""Why an answer was ended; the same reasons, before any answer, refuse the question."""

WITHHELD = {
    "IMAGE_SAFETY": "The image was withheld by the model's safety filter.",
    "IMAGE_PROHIBITED_CONTENT": "The image was withheld because the model's service prohibits its content.",
    "IMAGE_RECITATION": "The image was withheld because it came too close to an existing one.",
    "IMAGE_OTHER": "The image was withheld by the model's service, which does not say why.",
    "NO_IMAGE": "The model made no image. Ask for one in other words.",
}

FINISHES = {
    "MAX_TOKENS": Notice("warning", "The answer reached its length limit.", "continue"),
    "CONTINUATION": Notice("warning", "The answer is longer than one generation can be.", "continue"),
    "TOO_MANY_TOOL_CALLS": Notice("warning", "The model ran its tools too often and gave up.", "answer"),
    "MALFORMED_FUNCTION_CALL": Notice("warning", "The model made a faulty tool call and gave up.", "continue"),
    "UNEXPECTED_TOOL_CALL": Notice("warning", "The model called a tool it was not given.", "continue"),
    "MALFORMED_RESPONSE": Notice("warning", "The model's answer was malformed.", "continue"),
    "MISSING_THOUGHT_SIGNATURE": Notice(
        "warning", "The model's service missed a signature in this conversation.", "regenerate"
    ),
}

ALL_THOUGHT = "The model used its whole length for thinking, and wrote no answer. Try again, or ask for less at once."


def notice_of(
    *,
    status: str,
    finish_reason: str = "",
    finish_message: str = "",
    error_code: str = "",
    retry_after_s: float | None = None,
    is_empty: bool = False,
) -> Notice | None:
    """The notice of a turn in `status`; None where there is nothing to say. `is_empty`: no part came."""
    # Nothing came: the same question is asked again. Else the answer goes on from what came.
    again = "regenerate" if is_empty else "continue"
    match status:
        case "stopped":
            return Notice("info", "You stopped this answer. What came is kept.", again)
        case "interrupted":
            return Notice("warning", "This answer was interrupted. Everything that had come is kept.", again)
        case "failed":
            return Notice("error", ERRORS.get(error_code, ProviderError.sentence) + _wait_words(retry_after_s), again)
        case "done":
            return _notice_of_done(finish_reason, finish_message, is_empty=is_empty)
        case _:
            return None


def _wait_words(retry_after_s: float | None) -> str:
    if retry_after_s is None:
        return ""
    if retry_after_s < 100:
        return f" It asks to wait {max(1, round(retry_after_s))} seconds."
    return f" It asks to wait {round(retry_after_s / 60)} minutes."


def _notice_of_done(finish_reason: str, finish_message: str, *, is_empty: bool) -> Notice | None:
    said = f" ({finish_message.rstrip('.')}.)" if finish_message else ""
    if finish_reason in BLOCKED:
        what = "The question was refused" if is_empty else "The answer was ended"
        return Notice("warning", f"{what} {BLOCKED[finish_reason]}.{said}")
    if finish_reason in WITHHELD:
        return Notice("warning", WITHHELD[finish_reason] + said)
    if finish_reason == "MAX_TOKENS" and is_empty:
        return Notice("warning", ALL_THOUGHT, "regenerate")
    if finish_reason in FINISHES:
        # An answer of which nothing is there cannot be continued.
        return replace(FINISHES[finish_reason], action="regenerate") if is_empty else FINISHES[finish_reason]
    if finish_reason not in ("", "STOP"):
        return Notice("warning", f"The model ended its answer for a reason unknown here: {finish_reason}.{said}")
    if is_empty:
        return Notice("info", "The model gave an empty answer. Ask again, perhaps in other words.", "regenerate")
    return None
