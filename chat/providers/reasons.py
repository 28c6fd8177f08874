"""Cleans a provider's reasons for giving no answer, which are words and messages, for the reader. Pure.

The log and the admin get the message unchanged. The reader gets one line of limited length, without secrets and
markup. Templates escape it like every other text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from chat.vocabulary.stream_events import Finish

GOOGLE_REFUSALS: Mapping[str, Finish] = {
    "SAFETY": Finish.SAFETY,
    "RECITATION": Finish.RECITATION,
    "LANGUAGE": Finish.LANGUAGE,
    "BLOCKLIST": Finish.BLOCKLIST,
    "PROHIBITED_CONTENT": Finish.PROHIBITED_CONTENT,
    "SPII": Finish.PERSONAL_DATA,
    "MALFORMED_FUNCTION_CALL": Finish.MALFORMED_CALL,
    "UNEXPECTED_TOOL_CALL": Finish.UNEXPECTED_CALL,
    "MALFORMED_RESPONSE": Finish.MALFORMED_RESPONSE,
}
"""Google's words for answers that ended badly. Gateways pass them on."""

REASON_LIMIT_CHARS = 300
READ_LIMIT_CHARS = 4_000
"""Maximum number of characters of a message that are read."""

SECRET = re.compile(
    r"\bAIza[\w-]{16,}|\bya29\.[\w.-]{5,}|\b(?:sk|gsk|xai|pk)(?:[-_][\w-]{12,}|[\w-]{16,})|\beyJ[\w-]{8,}[\w.-]*"
    r"|(?<=Bearer )\S+|(?<=[?&]key=)[^&\s\"']+|(?<=[?&]access_token=)[^&\s\"']+"
)
"""API keys, tokens of OAuth, and JSON web tokens."""
LONG_WORD = re.compile(r"[A-Za-z0-9+_=-]{40,}")
"""Base64 and other data that no person reads. A key of an unknown form is such a word too."""
ACCOUNT = re.compile(r"(?<![\w.+-])[\w.+-]{1,100}@[\w-]{1,100}\.[\w.-]{1,100}")
PROJECT = re.compile(r"\bprojects/[^/\s'\"`]+")
TAG = re.compile(r"</?[A-Za-z!][^<>]{0,300}>")
DOCUMENT = re.compile(r"\s{0,100}<(?:!doctype|html|\?xml)", re.IGNORECASE)


def without_secrets(text: str, *secrets: str) -> str:
    """Return the text without these secrets, and without anything that looks like one."""
    for secret in filter(None, secrets):
        text = text.replace(secret, "[removed]")
    return SECRET.sub("[removed]", text)


def clean_reason(message: str, *secrets: str) -> str:
    """Return a message as one short line, or an empty text if it holds no words for a person.

    `secrets`: texts that are removed everywhere; empty ones are ignored. A whole HTML page, as a gateway may send it,
    gives an empty text.
    """
    text = message[:READ_LIMIT_CHARS]
    if DOCUMENT.match(text):
        return ""
    text = SECRET.sub("[removed]", TAG.sub(" ", without_secrets(text, *secrets)))
    text = PROJECT.sub("projects/…", ACCOUNT.sub("[account]", LONG_WORD.sub("…", text)))
    # Remove control characters and characters that change the direction of text.
    text = "".join(" " if unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp") else char for char in text)
    text = " ".join(text.split())
    if not any(char.isalpha() for char in text):
        return ""
    return text if len(text) <= REASON_LIMIT_CHARS else f"{text[: REASON_LIMIT_CHARS - 1].rstrip()}…"
