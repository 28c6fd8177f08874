"""Every end of a turn in words: what happened, and what the person who waited can do. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from chat.providers.base import ProviderError


@dataclass(frozen=True, slots=True)
class Notice:
    """What a person must know about how a turn ended."""

    level: str
    """info, warning or error."""
    sentence: str
    action: str = ""
    """continue, regenerate or empty: the `data-action` of its button."""


def _error_sentences() -> dict[str, str]:
    sentences = {ProviderError.code: ProviderError.sentence}
    sentences.update({error.code: error.sentence for error in ProviderError.__subclasses__()})
    return sentences


ERRORS = _error_sentences() | {
    "limit": "The answer grew too long or took too long, so it was ended here. What came is kept.",
    "storage": "The answer could not be stored, so it was ended. Whoever runs this server must look at its database.",
    "file_unavailable": "An attached file could not be read from storage just now. Try again soon.",
    "files_too_large": "The attached files are too large together: a question can have at most 14 MB of them.",
    "internal": "Something went wrong on this server while it answered. What came is kept.",
}

BLOCKED = {
    "SAFETY": "The answer was ended by the model's safety filter.",
    "RECITATION": "The answer was ended because it came too close to an existing text.",
    "LANGUAGE": "The answer was ended because the model does not support this language.",
    "BLOCKLIST": "The answer was ended because it held a forbidden term.",
    "PROHIBITED_CONTENT": "The answer was ended because the model's service prohibits its content.",
    "SPII": "The answer was ended because it may hold sensitive personal data.",
    "MODEL_ARMOR": "The answer was ended by the service's Model Armor policy.",
    "IMAGE_SAFETY": "The image was withheld by the model's safety filter.",
}

FINISHES = {
    "MAX_TOKENS": Notice("warning", "The answer reached its length limit.", "continue"),
    "TOO_MANY_TOOL_CALLS": Notice("warning", "The model ran its tools too often and gave up.", "continue"),
    "MALFORMED_FUNCTION_CALL": Notice("warning", "The model made a faulty tool call and gave up.", "continue"),
    "UNEXPECTED_TOOL_CALL": Notice("warning", "The model called a tool it was not given.", "continue"),
    "MALFORMED_RESPONSE": Notice("warning", "The model's answer was malformed.", "continue"),
}


def notice_of(
    *, status: str, finish_reason: str = "", finish_message: str = "", error_code: str = "", is_empty: bool = False
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
            return Notice("error", ERRORS.get(error_code, ProviderError.sentence), again)
        case "done":
            return _notice_of_done(finish_reason, finish_message, is_empty=is_empty)
        case _:
            return None


def _notice_of_done(finish_reason: str, finish_message: str, *, is_empty: bool) -> Notice | None:
    said = f" ({finish_message.rstrip('.')}.)" if finish_message else ""
    if finish_reason in BLOCKED:
        sentence = (
            BLOCKED[finish_reason].replace("The answer was ended", "The question was refused")
            if is_empty
            else (BLOCKED[finish_reason])
        )
        return Notice("warning", sentence + said)
    if finish_reason in FINISHES:
        return FINISHES[finish_reason]
    if finish_reason not in ("", "STOP"):
        return Notice("warning", f"The model ended its answer for a reason unknown here: {finish_reason}.{said}")
    if is_empty:
        return Notice("info", "The model gave an empty answer. Ask again, perhaps in other words.", "regenerate")
    return None
