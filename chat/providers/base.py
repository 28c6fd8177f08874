"""The protocol that every model API implements here. Its errors are in `providers.provider_errors`.

`docs/decisions/0016-the-provider-boundary.md` shows how the fields of three protocols map to this boundary.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from chat.providers.requests import GenerateRequest
from chat.vocabulary.stream_events import StreamEvent


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A file that the provider stores for some time, so that requests can name it instead of holding its bytes."""

    uri: str
    mime_type: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model in the provider's own list. A field is `None` if the provider does not say."""

    name: str
    label: str
    description: str
    context_tokens: int | None
    max_output_tokens: int | None
    functions: bool | None = None
    """Whether the model takes function declarations."""
    images: bool | None = None
    """Whether the model reads images."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an endpoint supports for one model, and the account that its requests use."""

    account: str
    """Digest of the address and the key. Files and signatures of one account mean nothing to another."""
    functions: bool
    """Whether requests may declare functions."""
    functions_beside_built_in: bool
    """Whether requests may declare functions together with built-in tools, if the model takes both (see `Setup`)."""
    stores_files: bool
    """Whether `Provider.upload_file` works."""
    accepted_type: Callable[[str], str]
    """Returns the MIME type under which a file of the given MIME type is sent; empty if it cannot be sent."""
    reads_thoughts: bool = False
    """Whether requests send a model's own thoughts back to it, even thoughts without `provider_data`."""
    reads_tool_images: bool = False
    """Whether a request may contain the images that a function made, after the response of the function."""
    context_tokens: int | None = None
    """The size of the model's context window that the endpoint reported; `None` if it reported none."""
    known: object = field(default=None, repr=False)
    """The provider's data behind these fields. `GenerateRequest.known` carries it, so that it is read only once."""


class Provider(Protocol):
    """A model API, reached with one address and one account."""

    name: str

    @property
    def is_demo(self) -> bool:
        """Whether the demo model answers in place of the provider's models. It costs nothing and is not an AI."""
        ...

    def capabilities(self, model: str) -> Capabilities:
        """Return what requests to this model may contain. May query the database.

        Raises LookupError if the endpoint does not exist any more.
        """
        ...

    def stream(self, request: GenerateRequest) -> AsyncGenerator[list[StreamEvent], None]:
        """Yield the events of one answer in wire order, in lists of any length, as they arrive.

        The caller reads ahead (`chat.answering.turns.read_ahead`). The generator itself reads only when it is asked for
        the next list, so a caller that stops asking makes the server wait. Closing the generator, or cancelling the
        task that iterates over it, closes the upstream request. A failed request is not repeated unchanged. Raises
        ProviderError; the events that were yielded before it are valid.
        """
        ...

    async def upload_file(self, data: bytes, *, mime_type: str, name: str) -> UploadedFile:
        """Have the provider store a file, and wait until it can be used. Raises ProviderError if that fails.

        `mime_type`: as `Capabilities.accepted_type` returned it.
        """
        ...

    async def list_models(self) -> list[ListedModel]:
        """Return the models of the service, without those that are known to write no text. Raises ProviderError."""
        ...

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        ...
