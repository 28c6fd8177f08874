"""The errors of every model API. `providers.base` is the protocol that raises them.

ProviderError                 a code, a sentence for the user, and the provider's own message
├── RateLimited               429; `retry_after_s` if the provider says how long to wait
├── OutOfCredit               402, or 429 that waiting does not end
├── Overloaded                5xx, 408 and 499: the provider gave up
├── Unreachable               the connection could not be made, or broke
│   └── ConnectionBroken      the connection broke after something was received
├── Stalled                   no byte arrived for too long
├── NotConfigured             this server has neither a key nor an emulator
├── Unauthorised              401, 403, or a bad key
├── CredentialsRefused        the same, where credentials of the machine are used in place of a key
├── ModelNotFound             404
├── ProtocolUnavailable       the service does not offer the model's protocol to this server
├── SignatureRefused          400: a thought signature is missing, altered, or belongs to another model or key
├── FileGone                  403 or 404: a file that the provider stored no longer exists
├── ContextTooLong            400: the request has more tokens than the model reads
├── ToolsRefused              400: the model does not take functions together with tools of its service
├── InvalidRequest            any other 4xx, or a request that cannot be sent
│   ├── FileRefused           400: a file or an image in the request cannot be read
│   └── ToolsUnsupported      400: the model takes no tools
├── EmptyResponse             the response ended without any content and without a reason
└── MalformedResponse         the response does not follow the provider's protocol
"""

from __future__ import annotations

import re
from typing import ClassVar, Self

from chat.vocabulary.sanitize import one_line, sanitize_text

HTTP_STATUSES = range(100, 600)
_TOOLS = (
    r"(?<!\w)(?:(?:tools?|tool[ _-]?(?:use|calls?|calling)|function[ _-]?(?:calls?|calling|tools?|declarations?)"
    r"|functions|code[ _-]?execution)(?![\w\[]|\.\w)|google search|search grounding|url[ _]context)"
)
_NOT_TAKEN = (
    r"(?:\bnot (?:\w+ ){0,2}(?:supported|enabled|available|allowed|permitted)\b|\bunsupported\b"
    r"|\b(?:does not|doesn't|do not|cannot|can't) (?:\w+ )?(?:support|allow|accept|take)\b)"
)
_TOOLS_MESSAGE = re.compile(
    rf"{_TOOLS}.{{0,100}}?{_NOT_TAKEN}|{_NOT_TAKEN}.{{0,40}}?{_TOOLS}|tools param requires --jinja"
    r"|requires --enable-auto-tool-choice|no endpoints found that support tool use",
    re.IGNORECASE,
)
_OTHER_FEATURE = re.compile(
    r"\b(?:when|while) using|\btogether with|\bwith (?:thinking|reasoning|tools)|\bin combination|\bplan\b"
    r"|\bparallel\b|\bfile type",
    re.IGNORECASE,
)
"""Words of a refusal that is not about tools alone, but about tools together with something else."""
_QUOTED = re.compile(r"\"[^\"]{12,}\"|“[^”]{12,}”")
_OTHER_PROTOCOL = re.compile(r"/responses\b|\b(?:responses|interactions|messages) api\b", re.IGNORECASE)
MESSAGE_START_CHARS = 500
"""Maximum number of characters that are searched for what the model refuses. The rest may repeat the request."""


class ProviderError(Exception):
    """A request to a provider failed. `sentence` is shown to the person who waits for the answer."""

    code: ClassVar[str] = "provider_error"
    sentence: ClassVar[str] = "The model's service failed. Try again, or choose another model."

    def __init__(
        self, detail: str = "", *, status: int | None = None, retry_after_s: float | None = None, reason: str = ""
    ) -> None:
        """`detail`: the provider's own message, on one line. It holds no key, but it may quote what people wrote.

        So only reviewers see it, and operators who test an endpoint. The log and tracebacks have the text of the
        exception, which is the code and the `status`.
        `status`: that of the HTTP response, or the one named by an error inside a stream. Other numbers become `None`.
        `reason`: for the reader, why the provider refused the request or gave up, as `reasons.clean_reason` returns it.
        """
        status = status if status in HTTP_STATUSES else None
        super().__init__(self.code if status is None else f"{self.code}, status {status}")
        self.detail = one_line(detail)
        self.status = status
        self.retry_after_s = retry_after_s
        self.reason = sanitize_text(reason)

    def with_response(self, status: int | None, detail: str | None = None) -> Self:
        """Return the error with `detail`, if given. Set `status` if the error has no status of its own."""
        return type(self)(
            self.detail if detail is None else detail,
            status=status if self.status is None else self.status,
            retry_after_s=self.retry_after_s,
            reason=self.reason,
        )


class RateLimited(ProviderError):
    """The quota of this key or model is used up."""

    code = "rate_limited"
    sentence = (
        "Too many requests were sent to the model's service. Wait a little, then try again, or choose another model."
    )


class OutOfCredit(ProviderError):
    """The account has no credit left, so a later attempt fails too."""

    code = "out_of_credit"
    sentence = (
        "The account of this server at the model's service has no credit left. The operator of this server must add"
        " some, or another model must be chosen."
    )


class Overloaded(ProviderError):
    """The provider failed, although the request was valid."""

    code = "overloaded"
    sentence = "The model's service is overloaded or failing. Try again in a moment."


class Unreachable(ProviderError):
    """The connection could not be made, or broke."""

    code = "unreachable"
    sentence = "The connection to the model's service could not be made, or broke. Try again."


class ConnectionBroken(Unreachable):
    """The connection broke after something was received. Providers raise `Unreachable`; the engine tells them apart."""

    code = "connection_broken"
    sentence = (
        "The connection to the model's service broke, so the answer was ended."
        " The text received so far is saved; you can continue."
    )


class Stalled(ProviderError):
    """The provider sent nothing for too long."""

    code = "stalled"
    sentence = (
        "The model's service stopped sending, so the answer was ended."
        " The text received so far is saved; you can continue."
    )


class NotConfigured(ProviderError):
    """The server has neither a key nor the address of an emulator."""

    code = "not_configured"
    sentence = (
        "This server has no key for the model's service, and the demo model is not running. The operator of this"
        " server must set the key (see .env.example), or start it with “make run”, which starts the demo model too."
    )


class Unauthorised(ProviderError):
    """The key or the credentials were refused."""

    code = "unauthorised"
    sentence = "The model's service refused this server's key. The operator of this server must check its key."


class CredentialsRefused(ProviderError):
    """The credentials of the machine were refused, or there are none."""

    code = "credentials_refused"
    sentence = (
        "The model's service did not accept the credentials of this server. The operator of this server must check the"
        " credentials, the project and the location that it uses there."
    )


class ProtocolUnavailable(ProviderError):
    """The service does not offer the model's protocol to this server's kind of access."""

    code = "protocol_unavailable"
    sentence = (
        "The model's service does not offer the chosen protocol to this server. The operator of this server must choose"
        " another protocol for this model."
    )


class ModelNotFound(ProviderError):
    """The provider has no such model."""

    code = "model_not_found"
    sentence = "The model's service does not know this model. Choose another one."


class SignatureRefused(ProviderError):
    """The provider rejected a thought signature in the history."""

    code = "signature_refused"
    sentence = "The model's service refused what it had signed earlier in this conversation. Try again."


class FileGone(ProviderError):
    """A file that the provider stored for this conversation no longer exists."""

    code = "file_gone"
    sentence = "The model's service no longer stores a file of this conversation. Try again; it will be sent once more."


class ContextTooLong(ProviderError):
    """The request has more tokens than the model can read."""

    code = "context_too_long"
    sentence = (
        "This is more than the model can read at once. Shorten the message, attach fewer files, or start a new"
        " conversation."
    )


class ToolsRefused(ProviderError):
    """The model does not take functions together with tools of its service."""

    code = "tools_refused"
    sentence = (
        "The model's service does not take this combination of tools for this model. Turn off code or the web search"
        " for this conversation, or choose another model."
    )


class InvalidRequest(ProviderError):
    """The provider refused the request."""

    code = "invalid_request"
    sentence = "The model's service refused this request. Change the question, or choose another model."


class EmptyResponse(ProviderError):
    """The provider answered with success, but sent neither content nor a reason for its absence."""

    code = "empty_response"
    sentence = (
        "The model's service sent an empty response, also when it was asked once more. Try again in a moment, or choose"
        " another model."
    )


class FileRefused(InvalidRequest):
    """The provider could not read a file or an image in the request. It does not say which."""

    code = "file_refused"
    sentence = (
        "The model's service could not read an attached file or image. It is not sent again."
        " Attach it in another form, or choose another model."
    )


class ToolsUnsupported(InvalidRequest):
    """The model takes no tools, or not those of the request."""

    code = "tools_unsupported"


class MalformedResponse(ProviderError):
    """The response does not follow the provider's protocol."""

    code = "malformed_response"
    sentence = "The model's service sent something that could not be read. The text received before it is saved."


def refuses_tools(message: str) -> bool:
    """Return whether the words of an error say that the model takes no tools, such as functions or code execution.

    Return False if the message names another protocol, in which the model takes tools, or is about tools together with
    something else.
    """
    # Remove quoted text, which may repeat what a person wrote.
    start = _QUOTED.sub(" ", message[:MESSAGE_START_CHARS])
    has_other_cause = _OTHER_FEATURE.search(start) or _OTHER_PROTOCOL.search(message)
    return _TOOLS_MESSAGE.search(start) is not None and not has_other_cause
