"""Asks a model for the title of a conversation, in the background.

This happens after a complete answer, if the catalogue has a model for titles and the title is still made of the
question's first words. It stays so until the model's title arrives, and if the request fails.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from contextlib import aclosing
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import DecimalField, F
from django.db.models.functions import Coalesce
from django.utils import translation
from django.utils.safestring import SafeString

from chat.models import Conversation, Message, Turn
from chat.page.fragments import header_swaps
from chat.page.transcript.usage import conversation_usage
from chat.providers import get_provider
from chat.providers.catalogue.costs import calculate_cost
from chat.providers.catalogue.missing_models import mark_missing
from chat.providers.catalogue.setups import Setup, find_title_setup
from chat.providers.provider_errors import ModelNotFound, ProviderError
from chat.providers.requests import Content, GenerateRequest, Thinking
from chat.vocabulary.parts import Role, Text
from chat.vocabulary.sanitize import sanitize_text
from chat.vocabulary.stream_events import PartReceived, TextBecameThought, Usage, UsageReported
from chat.vocabulary.thinking import ThinkingLevel

logger = logging.getLogger(__name__)

TITLE_LIMIT_CHARS = 60
TEXT_LIMIT_CHARS = 4_000
"""Maximum number of characters that are read. Some servers mark only the end of the model's thoughts, which come before
the title.
"""
TITLE_LIMIT_S = 20.0
EXCERPT_CHARS = 2_000
"""Maximum length of the excerpts of question and answer that are sent to the model."""
INSTRUCTION = (
    "Write a title for this conversation: at most six words, in the language of the question, plain text without"
    " quotes, markup or a full stop. Answer with the title alone."
)


@dataclass(slots=True)
class TitleResult:
    """The result of asking for a title."""

    title: str = ""
    """The title; empty if none arrived in time."""
    usage: Usage | None = None
    is_model_missing: bool = False


async def ask_title(request: GenerateRequest, setup: Setup) -> TitleResult:
    """Ask the model for one line."""
    result, text = TitleResult(), ""
    try:
        async with (
            asyncio.timeout(TITLE_LIMIT_S),
            aclosing(get_provider(setup.provider, setup.endpoint).stream(request)) as stream,
        ):
            async for events in stream:
                for event in events:
                    if isinstance(event, PartReceived) and isinstance(event.part, Text):
                        text += event.part.text
                    elif isinstance(event, TextBecameThought):
                        text = ""
                    elif isinstance(event, UsageReported):
                        result.usage = event.usage
                if len(text) > TEXT_LIMIT_CHARS:
                    break
    except (ProviderError, TimeoutError) as error:
        logger.info("no title was made: %s", error)
        result.is_model_missing = isinstance(error, ModelNotFound)
        return result
    result.title = clean_title(text)
    return result


def clean_title(text: str) -> str:
    """Return the first line of a model's text as a title: without quotes, markup and full stop, and not too long."""
    line = next((line for line in text.splitlines() if line.strip()), "")
    words = " ".join(sanitize_text(line.replace("\x00", "")).split()).strip("#*_`\"'“”„«»「」 ").rstrip(".。")
    return words if len(words) <= TITLE_LIMIT_CHARS else words[: TITLE_LIMIT_CHARS - 1].rstrip() + "…"


def title_request(conversation_id: uuid.UUID) -> tuple[GenerateRequest, Setup] | None:
    """Return the request for a title of the first question and answer, and its setup; `None` if none is to be made."""
    unnamed = Conversation.objects.filter(pk=conversation_id, title_source=Conversation.TitleSource.WORDS)
    setup = find_title_setup()
    conversation = unnamed.select_related("project").first() if setup else None
    if setup is None or conversation is None:
        return None
    messages = list(Message.objects.filter(conversation_id=conversation_id, is_shown=True).order_by("index")[:2])
    if len(messages) < 2:
        return None
    if conversation.is_private and not Turn.objects.get(message=messages[1]).private_data:
        # The answer was written before the data became private, so it may quote them.
        return None
    excerpts = "\n\n".join(
        f"{word}:\n{message.text[:EXCERPT_CHARS]}"
        for word, message in zip(("Question", "Answer"), messages, strict=True)
    )
    level = ThinkingLevel(setup.thinking_level) if setup.thinking_level else None
    request = GenerateRequest(
        model=setup.model,
        contents=(Content(Role.USER, (Text(excerpts),)),),
        system_instruction=INSTRUCTION,
        thinking=Thinking(level, setup.thinking_budget, include_thoughts=False),
        protocol=setup.protocol,
    )
    return request, setup


def save_title(conversation_id: uuid.UUID, result: TitleResult, setup: Setup) -> SafeString | None:
    """Save the title unless somebody has named the conversation, and count its cost. Return the swaps that show it."""
    if result.is_model_missing:
        mark_missing(setup.provider, setup.endpoint, setup.model)
    rows = Conversation.objects.filter(pk=conversation_id)
    if result.usage:
        cost = calculate_cost(result.usage, setup.prices) or Decimal(0)
        rows.update(
            side_tokens=F("side_tokens") + (result.usage.total or 0),
            side_cost=Coalesce(F("side_cost"), Decimal(0), output_field=DecimalField()) + cost,
        )
    unnamed = rows.filter(title_source=Conversation.TitleSource.WORDS)
    if not result.title or not unnamed.update(title=result.title, title_source=Conversation.TitleSource.MODEL):
        return None
    conversation = rows.select_related("owner").get()
    with translation.override(conversation.owner.shown_language):
        return header_swaps(conversation, conversation_usage(conversation))
