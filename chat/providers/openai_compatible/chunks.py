"""Converts the chunks of all servers to one normal form. Pure.

A chunk is a JSON object of a stream, or the whole response of a server that does not stream. Values of an unexpected
type are ignored, because servers add fields and change their types without notice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from chat.providers.openai_compatible.usage import usage_reports
from chat.providers.reasons import GOOGLE_REFUSALS, clean_reason
from chat.providers.untrusted_json import WireObject, as_object, as_objects, as_text
from chat.vocabulary.parts import JSON, Part
from chat.vocabulary.stream_events import (
    Finish,
    MetadataReported,
    Report,
    ResponseIdentified,
    Source,
    SourcesReported,
)

CALL_KEYS = frozenset({"index", "id", "type", "function"})
METADATA_LIMIT_CHARS = 10_000
WORD_LIMIT_CHARS = 200
"""Maximum length of finish reasons, names of functions and models, ids of responses, and titles of pages."""
CHOICES_LIMIT = 8
"""Maximum number of choices of a chunk that are read. A request never asks for more than one."""
SOURCES_LIMIT = 200
URL_LIMIT_CHARS = 2_000
"""Maximum length of an address. A longer one is left out, because a cut address would lead elsewhere."""
MARKED_NAME = re.compile(r"(?:.*\bto=)?(?:(?:functions|default_api|tools?)[.:])?([^\s<:]+)")
NATIVE_FINISHES: Mapping[str, Finish] = {**GOOGLE_REFUSALS, "refusal": Finish.BLOCKED}
"""Words of services behind a server. The server's own words say less: `error`, `stop` or `content_filter`."""
METADATA = ("system_fingerprint", "service_tier", "provider", "prompt_filter_results", "timings")
"""Fields of a chunk that are kept with the answer."""
REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking")
PICTURE_LISTS = ("images", "image", "multi_mod_content")
"""Fields in which servers send the pictures of a message."""
PICTURE_HOLDERS = ("image_url", "image", "inline_data", "inlineData", "url", "source")
"""Fields in which servers send a picture or its address. The first four are used for nothing else."""
PICTURE_DATA_FIELDS = ("b64_json", "image_base64", "data")
PICTURE_TYPE_FIELDS = ("media_type", "mime_type", "mimeType")


@dataclass(frozen=True, slots=True)
class CallDelta:
    """A piece of a function call, or a whole one."""

    index: int | None = None
    """`None`: the server does not number its calls."""
    id: str = ""
    name: str = ""
    arguments: str = ""
    """The arguments as JSON, or a piece of them."""
    fields: Mapping[str, JSON] | None = None
    """Fields of the call that are not in the protocol, such as a signature."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """Text that is appended to the answer or to its reasoning."""

    text: str
    is_reasoning: bool = False
    is_refusal: bool = False


@dataclass(frozen=True, slots=True)
class PictureDelta:
    """A picture beside the text: a `data:` URI, base64 alone, or an address in the web."""

    url: str


@dataclass(frozen=True, slots=True)
class PartDelta:
    """A whole part of the answer, which follows the text so far."""

    part: Part


@dataclass(frozen=True, slots=True)
class ReasoningDetail:
    """A piece of reasoning that must be sent back unchanged (`reasoning_details` of OpenRouter)."""

    detail: Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class FinishReason:
    """Why the answer ended, in the server's own word."""

    reason: str
    native: str = ""
    """The word of the service behind the server, cleaned for people (`native_finish_reason` of OpenRouter)."""


@dataclass(frozen=True, slots=True)
class ErrorInStream:
    """The server reports an error, although the response began with status 200."""

    error: JSON


Delta: TypeAlias = (
    TextDelta | PictureDelta | PartDelta | ReasoningDetail | CallDelta | FinishReason | ErrorInStream | Report
)


class ChunkDecoder:
    """Decodes the chunks of one response. `reader.Decoder` says what a decoder is."""

    done_completes = True
    is_done = False

    def deltas_of(self, value: WireObject) -> Iterator[Delta]:
        """Yield the content of one chunk."""
        return deltas_of(value)

    def rest(self) -> Iterator[Delta]:
        """Yield nothing: each chunk is complete."""
        return iter(())


def deltas_of(chunk: WireObject) -> Iterator[Delta]:
    """Yield the content of one chunk: identity, text, pictures, calls, finish, metadata, usage, and an error last."""
    identity = ResponseIdentified(
        as_text(chunk.get("id"))[:WORD_LIMIT_CHARS], as_text(chunk.get("model"))[:WORD_LIMIT_CHARS]
    )
    if identity.response_id or identity.model_version:
        yield identity
    choices = as_objects(chunk.get("choices"))[:CHOICES_LIMIT]
    for choice in choices:
        if choice.get("index") in (0, None):
            yield from _choice_deltas(choice)
    yield from _reports(chunk)
    if chunk.get("error"):
        yield ErrorInStream(chunk["error"])
    elif chunk.get("object") == "error" or ("choices" not in chunk and ("message" in chunk or "detail" in chunk)):
        # Older servers send the fields of the error as fields of the chunk.
        yield ErrorInStream(dict(chunk))
    else:
        for choice in choices:
            native = _native_reason(choice)
            if choice.get("finish_reason") == "error" and native not in NATIVE_FINISHES:
                word = f" ({native})" if native else ""
                yield ErrorInStream(f"The server ended the answer with the finish reason “error”{word}.")


def _choice_deltas(choice: WireObject) -> Iterator[Delta]:
    delta = as_object(choice.get("delta")) or as_object(choice.get("message"))
    yield from _reasoning(delta)
    yield from _content(delta.get("content"))
    if refusal := as_text(delta.get("refusal")):
        yield TextDelta(refusal, is_refusal=True)
    for holder in (delta, as_object(choice.get("message"))):
        for images in map(holder.get, PICTURE_LISTS):
            yield from _pictures(images if isinstance(images, list) else [images])
    for call in as_objects(delta.get("tool_calls")):
        yield _call(call)
    if function := as_object(delta.get("function_call")):
        # This is an older form of the protocol, with a single call.
        yield _call({"index": 0, "function": function})
    pages = [as_object(annotation.get("url_citation")) for annotation in as_objects(delta.get("annotations"))]
    if sources := sources_of(pages):
        yield SourcesReported("annotations", sources)
    if reason := as_text(choice.get("finish_reason")):
        yield FinishReason(reason[:WORD_LIMIT_CHARS], _native_reason(choice))


def _native_reason(choice: WireObject) -> str:
    return clean_reason(as_text(choice.get("native_finish_reason")))


def _reasoning(delta: WireObject) -> Iterator[Delta]:
    """Yield the reasoning. Some servers send the same text in two fields, and also in `reasoning_details`."""
    details = as_objects(delta.get("reasoning_details"))
    text = next((text for name in REASONING_FIELDS if (text := as_text(delta.get(name)))), "")
    if not text:
        text = "".join(as_text(detail.get("text")) or as_text(detail.get("summary")) for detail in details)
    if text:
        yield TextDelta(text, is_reasoning=True)
    yield from (ReasoningDetail(detail) for detail in details)


def _content(content: object) -> Iterator[Delta]:
    """Yield the text. Some servers send a list of texts, thoughts and pictures in place of a string."""
    if isinstance(content, str):
        if content:
            yield TextDelta(content)
        return
    for item in as_objects(content):
        if item.get("type") == "thinking":
            thoughts = item.get("thinking")
            texts = [as_text(one.get("text")) for one in as_objects(thoughts)] or [as_text(thoughts)]
            yield TextDelta("".join(texts), is_reasoning=True)
        elif text := as_text(item.get("text")):
            yield TextDelta(text)
        elif "image" in as_text(item.get("type")) or not item.keys().isdisjoint(PICTURE_HOLDERS[:4]):
            yield from _pictures([item])


def _pictures(items: list[object]) -> Iterator[Delta]:
    for item in items:
        if url := _picture_url(item):
            yield PictureDelta(url)


def _picture_url(item: object) -> str:
    """Return the address of a picture, in any of the forms that servers use; empty if there is none."""
    if isinstance(item, str):
        return item
    fields = as_object(item)
    for name in PICTURE_HOLDERS:
        if name in fields and (url := _picture_url(fields[name])):
            return url
    data = next((text for name in PICTURE_DATA_FIELDS if (text := as_text(fields.get(name)))), "")
    if not data or data.startswith("data:"):
        return data
    mime_type = next((text for name in PICTURE_TYPE_FIELDS if (text := as_text(fields.get(name)))), "image/png")
    return f"data:{mime_type};base64,{data}"


def _call(wire: WireObject) -> CallDelta:
    function = as_object(wire.get("function"))
    arguments = function.get("arguments")
    return CallDelta(
        index=_index(wire.get("index")),
        id=as_text(wire.get("id")),
        name=function_name(as_text(function.get("name"))[:WORD_LIMIT_CHARS]),
        arguments=json.dumps(arguments) if isinstance(arguments, dict) else as_text(arguments),
        fields={key: value for key, value in wire.items() if key not in CALL_KEYS and value is not None} or None,
    )


def function_name(name: str) -> str:
    """Return the name without what gpt-oss writes around it: `to=functions.run_python<|channel|>commentary`."""
    match = MARKED_NAME.match(name)
    return match[1] if match else name


def _reports(chunk: WireObject) -> Iterator[Report]:
    for name in METADATA:
        if chunk.get(name) and len(str(chunk[name])) <= METADATA_LIMIT_CHARS:
            yield MetadataReported(name, chunk[name])
    # Perplexity sends addresses alone, or pages with titles.
    addresses = chunk.get("citations")
    pages = as_objects(chunk.get("search_results")) or [
        {"url": address} for address in (addresses if isinstance(addresses, list) else ())
    ]
    if sources := sources_of(pages):
        yield SourcesReported("citations", sources)
    # Groq and Moonshot report the usage in other fields: in `x_groq` and in the first choice.
    holders = [chunk, as_object(chunk.get("x_groq")), *as_objects(chunk.get("choices"))[:1]]
    usages = [as_object(holder.get("usage")) for holder in holders]
    yield from usage_reports(next(filter(None, usages), {}))


def sources_of(pages: list[WireObject]) -> tuple[Source, ...]:
    """Return the web pages, without addresses that are too long."""
    return tuple(
        Source(url, as_text(page.get("title"))[:WORD_LIMIT_CHARS])
        for page in pages[:SOURCES_LIMIT]
        if (url := as_text(page.get("url"))) and len(url) <= URL_LIMIT_CHARS
    )


def _index(value: object) -> int | None:
    """Return the number of a call, which some servers send as a string."""
    return int(text) if isinstance(value, int | str) and (text := str(value)).isdecimal() and len(text) < 9 else None
