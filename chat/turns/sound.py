"""What a provider says, without the characters that no database stores. Pure."""

from __future__ import annotations

from dataclasses import replace

from chat.parts import (
    JSON,
    FinishReported,
    MetadataReported,
    Part,
    PartReceived,
    PromptBlocked,
    ResponseDescribed,
    StreamEvent,
    Usage,
    UsageReported,
)

TOKENS_LIMIT = 10**12
"""More than any answer has; sums of it fit into every database."""


def sound_event(event: StreamEvent) -> StreamEvent:
    """The event without what no database stores, in any of its texts."""
    # What comes with each chunk first.
    match event:
        case PartReceived(part):
            clean = sound_part(part)
            return event if clean is part else PartReceived(clean)
        case UsageReported(usage):
            return event if is_sound_usage(usage) else UsageReported(Usage(*map(sound_count, counts_of(usage))))
        case FinishReported(reason, message):
            return FinishReported(sound_text(reason), sound_text(message))
        case PromptBlocked(reason, message):
            return PromptBlocked(sound_text(reason), sound_text(message))
        case ResponseDescribed(response_id, model_version):
            return ResponseDescribed(sound_text(response_id), sound_text(model_version))
        case MetadataReported(name, value):
            return MetadataReported(sound_text(name), sound_json(value))
        case _:
            return event


def counts_of(usage: Usage) -> tuple[int | None, ...]:
    """Its numbers; many times faster than `dataclasses.astuple`, and asked of each chunk."""
    return usage.prompt, usage.tool_use, usage.thoughts, usage.candidates, usage.cached, usage.total


def is_sound_usage(usage: Usage) -> bool:
    """Whether all its numbers can be."""
    known = [tokens for tokens in counts_of(usage) if tokens is not None]
    return not known or (min(known) >= 0 and max(known) <= TOKENS_LIMIT)


def sound_count(tokens: int | None) -> int | None:
    """A number of tokens; none where it cannot be one."""
    return tokens if tokens is not None and 0 <= tokens <= TOKENS_LIMIT else None


def sound_part(part: Part) -> Part:
    """A part without what no database stores; the same object where there is nothing of that kind."""
    if part.is_open_text:
        text = sound_text(part.text or "")
        return part if text == part.text else replace(part, text=text)
    return replace(
        part,
        text=None if part.text is None else sound_text(part.text),
        language=sound_text(part.language),
        outcome=sound_text(part.outcome),
        call_id=sound_text(part.call_id),
        mime_type=sound_text(part.mime_type),
        fields={sound_text(key): sound_json(value) for key, value in part.fields.items()},
    )


def sound_json(value: JSON) -> JSON:
    """JSON without such text, at any depth."""
    match value:
        case str():
            return sound_text(value)
        case list():
            return [sound_json(item) for item in value]
        case dict():
            return {sound_text(key): sound_json(item) for key, item in value.items()}
        case _:
            return value


def sound_text(text: str) -> str:
    """PostgreSQL cannot store NUL, and no database half a surrogate pair: both become U+FFFD."""
    if "\0" not in text:
        try:
            text.encode()
        except UnicodeEncodeError:
            pass
        else:
            return text
    return text.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
