"""What a model API must be able to do here, and how it fails.

ProviderError                 code, user-facing text, and what may be done next
├── RateLimited               429; retry_after_s when the provider said so
├── Overloaded                5xx; 408 and 499, which the provider gave up on
├── Unreachable               no connection, or it broke
├── Stalled                   no byte for too long
├── Unauthorised              401, 403, a bad key
├── ModelNotFound             404
├── InvalidRequest            any other 4xx, or what cannot even be sent
└── MalformedResponse         what came was not the provider's protocol
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import ClassVar, Protocol

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


class InvalidRequest(ProviderError):
    """The provider refused the request itself."""

    code = "invalid_request"
    sentence = "The model's service refused this request."


class MalformedResponse(ProviderError):
    """The bytes that came were not the provider's protocol."""

    code = "malformed_response"
    sentence = "The model's service sent something that could not be read. What came before is kept."
    may_retry = True


class Provider(Protocol):
    """A model API."""

    name: str

    def stream(self, request: GenerateRequest) -> AsyncGenerator[StreamEvent, None]:
        """Yield the events of one generation in wire order until the provider's stream ends.

        Cancelling the task that iterates, or closing the generator, closes the upstream request at once.
        Raises ProviderError; events yielded before it stand.
        """
        ...

    async def aclose(self) -> None:
        """Let go of connections."""
        ...
