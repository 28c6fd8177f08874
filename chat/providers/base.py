"""What a model API must be able to do here, and how it fails.

ProviderError                 code, user-facing text, and what may be done next
├── RateLimited               429; retry_after_s when the provider said so
├── Overloaded                5xx; 408 and 499, which the provider gave up on
├── Unreachable               no connection, or it broke
├── Stalled                   no byte for too long
├── Unauthorised              401, 403, a bad key
├── ModelNotFound             404
├── SignatureRefused          400: a thought signature is missing, altered, or of another model or key
├── FileGone                  403, 404: a file that the provider kept is there no more
├── ContextTooLong            400: the conversation has more tokens than the model reads
├── InvalidRequest            any other 4xx, or what cannot even be sent
└── MalformedResponse         what came was not the provider's protocol
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Protocol, TypeAlias

from chat.parts import GenerateRequest, StreamEvent


class ProviderError(Exception):
    """A generation failed; `sentence` is written for the person who waits for it."""

    code: ClassVar[str] = "provider_error"
    sentence: ClassVar[str] = "The model's service failed."
    may_retry: ClassVar[bool] = False
    """Whether the same request may work later."""

    def __init__(self, detail: str = "", *, retry_after_s: float | None = None) -> None:
        """`detail` is what the provider itself said, for the log and the admin."""
        super().__init__(detail or self.sentence)
        self.detail = detail
        self.retry_after_s = retry_after_s


class RateLimited(ProviderError):
    """The quota of this key or model is used up for now."""

    code = "rate_limited"
    sentence = "The model's service is at its limit for this key. Wait a little, then try again."
    may_retry = True


class Overloaded(ProviderError):
    """The provider's own failure."""

    code = "overloaded"
    sentence = "The model's service is overloaded or failing. Try again in a moment."
    may_retry = True


class Unreachable(ProviderError):
    """No connection could be made, or it broke."""

    code = "unreachable"
    sentence = "The connection to the model's service could not be made, or broke. Try again."
    may_retry = True


class Stalled(ProviderError):
    """Connected, but silent for too long."""

    code = "stalled"
    sentence = "The model's service went silent, so the answer was ended. What came is kept; you can continue."
    may_retry = True


class Unauthorised(ProviderError):
    """The key or the credentials were refused."""

    code = "unauthorised"
    sentence = "The model's service refused this server's key. Whoever runs this server must check GEMINI_API_KEY."


class ModelNotFound(ProviderError):
    """The provider has no such model, or no longer."""

    code = "model_not_found"
    sentence = "The model's service does not know this model. Choose another one."


class SignatureRefused(ProviderError):
    """A thought signature that goes back with the history was not accepted."""

    code = "signature_refused"
    sentence = "The model's service refused what it had signed earlier in this conversation. Try again."


class FileGone(ProviderError):
    """A file that the provider kept for this conversation is there no more."""

    code = "file_gone"
    sentence = "The model's service no longer keeps a file of this conversation. Try again; it is sent anew."
    may_retry = True


class ContextTooLong(ProviderError):
    """The request has more tokens than the model reads."""

    code = "context_too_long"
    sentence = "This is more than the model can read at once. Shorten the message, or attach less."


class InvalidRequest(ProviderError):
    """The provider refused the request itself."""

    code = "invalid_request"
    sentence = "The model's service refused this request."


class MalformedResponse(ProviderError):
    """The bytes that came were not the provider's protocol."""

    code = "malformed_response"
    sentence = "The model's service sent something that could not be read. What came before is kept."
    may_retry = True


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A file that the provider keeps, to be named in requests until it expires."""

    uri: str
    mime_type: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model as the provider's own list shows it; None is "not said"."""

    name: str
    label: str
    description: str
    context_tokens: int | None
    max_output_tokens: int | None


Take: TypeAlias = Callable[[list[StreamEvent]], None]
"""Takes events of a stream that came together, without waiting."""

Rest: TypeAlias = Callable[[], Awaitable[None]]
"""Returns when more can be made use of; what comes meanwhile may then be read as one."""


class Provider(Protocol):
    """A model API."""

    name: str
    stand_in_signature: bytes | None
    """Goes with a function call of foreign history, where an own one would bear a thought signature."""

    @property
    def account(self) -> str:
        """Digest of address and key: files that one account keeps are unknown to another."""
        ...

    @property
    def keeps_files(self) -> bool:
        """Whether `keep_file` works here; Vertex AI has no such thing."""
        ...

    def accepted_type(self, mime_type: str) -> str:
        """The type under which a file of this type is sent; empty: it cannot be sent."""
        ...

    async def keep_file(self, data: bytes, *, mime_type: str, name: str) -> KeptFile:
        """Have the provider keep a file, and wait until it is ready; `mime_type` as accepted. Raises ProviderError."""
        ...

    async def list_models(self) -> list[ListedModel]:
        """Every model that can generate content, as listed now. Raises ProviderError."""
        ...

    async def generate(self, request: GenerateRequest, take: Take, rest: Rest | None = None) -> None:
        """Hand over the events of one generation in wire order, and return when the provider's stream ends.

        Nothing stands between the wire and `take`, so it must not wait. A provider that can read all that has come at
        once waits for `rest` before it reads on. Cancelling the task that runs this closes the
        upstream request at once, and so does whatever `take` raises, which is raised as it is.
        Raises ProviderError; events handed over before it stand.
        """
        ...

    async def aclose(self) -> None:
        """Let go of connections."""
        ...
