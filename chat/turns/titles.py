"""A title made by a model, in the background: until it comes the conversation is named by its first words.

A conversation is named after its first question, as soon as an answer is whole, unless somebody has named it, and only
where the catalogue has a model for it. A title that does not come is no failure.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from dataclasses import dataclass
from decimal import Decimal

from django.conf import settings
from django.db.models import DecimalField, F
from django.db.models.functions import Coalesce
from django.utils.safestring import SafeString

from chat.catalogue.costs import cost_of
from chat.catalogue.missing import mark_missing
from chat.catalogue.setups import Setup, title_setup
from chat.fragments import beside_swaps
from chat.models import Conversation, Message
from chat.parts import Content, GenerateRequest, Part, PartKind, PartReceived, Role, StreamEvent, Usage, UsageReported
from chat.providers import get_provider
from chat.providers.base import ModelNotFound, ProviderError
from chat.turns.spending import conversation_usage

logger = logging.getLogger(__name__)

TITLE_LIMIT_CHARS = 60
TITLE_LIMIT_S = 20.0
EXCERPT_CHARS = 2_000
"""Of question and answer, each; a title needs no more."""
INSTRUCTION = (
    "Write a title for this conversation: at most six words, in the language of the question, plain text without"
    " quotes, markup or a full stop. Answer with the title alone."
)


@dataclass(slots=True)
class Made:
    """What came of asking for a title."""

    title: str = ""
    """Empty: none came in time."""
    usage: Usage | None = None
    is_model_missing: bool = False


class _Enough(Exception):
    """This is no title any more."""


async def ask_title(request: GenerateRequest, provider: str) -> Made:
    """One line from the model."""
    made, text = Made(), ""

    def take(said: list[StreamEvent]) -> None:
        nonlocal text
        for event in said:
            if isinstance(event, PartReceived) and event.part.kind is PartKind.TEXT:
                text += event.part.text or ""
            elif isinstance(event, UsageReported):
                made.usage = event.usage
        if len(text) > 4 * TITLE_LIMIT_CHARS:
            raise _Enough

    try:
        async with asyncio.timeout(TITLE_LIMIT_S):
            await get_provider(provider).generate(request, take)
    except _Enough:
        pass
    except (ProviderError, TimeoutError) as error:
        logger.info("no title was made: %s", error)
        made.is_model_missing = isinstance(error, ModelNotFound)
        return made
    made.title = tidy(text)
    return made


def tidy(text: str) -> str:
    """A model's title as one: first line, without quotes, markup and full stop, not too long."""
    line = next((line for line in text.splitlines() if line.strip()), "")
    words = " ".join(line.replace("\x00", "").split()).strip("#*_`\"'“”„«»「」 ").rstrip(".。")
    return words if len(words) <= TITLE_LIMIT_CHARS else words[: TITLE_LIMIT_CHARS - 1].rstrip() + "…"


def title_request(conversation_id: uuid.UUID) -> tuple[GenerateRequest, Setup] | None:
    """What to ask, after the first answer; None where no title is to be made."""
    waiting = Conversation.objects.filter(pk=conversation_id, title_source=Conversation.TitleSource.WORDS)
    # The demo model is no AI: what it would say is worse than the first words.
    setup = None if settings.GEMINI_EMULATED else title_setup()
    if setup is None or not waiting.exists():
        return None
    messages = list(Message.objects.filter(conversation_id=conversation_id, is_shown=True).order_by("index")[:2])
    if len(messages) < 2:
        return None
    said = "\n\n".join(
        f"{word}:\n{message.text[:EXCERPT_CHARS]}"
        for word, message in zip(("Question", "Answer"), messages, strict=True)
    )
    request = GenerateRequest(
        model=setup.model,
        contents=(Content(Role.USER, (Part(PartKind.TEXT, text=said),)),),
        system_instruction=INSTRUCTION,
        thinking_level=setup.thinking_level,
        thinking_budget=setup.thinking_budget,
        include_thoughts=False,
    )
    return request, setup


def give_title(conversation_id: uuid.UUID, made: Made, setup: Setup) -> SafeString | None:
    """Name the conversation, unless somebody has, and count what that cost; the swaps that show it."""
    if made.is_model_missing:
        mark_missing(setup.provider, setup.model)
    rows = Conversation.objects.filter(pk=conversation_id)
    if made.usage:
        cost = cost_of(made.usage, setup.prices) or Decimal(0)
        rows.update(
            side_tokens=F("side_tokens") + (made.usage.total or 0),
            side_cost=Coalesce(F("side_cost"), Decimal(0), output_field=DecimalField()) + cost,
        )
    named = rows.filter(title_source=Conversation.TitleSource.WORDS)
    if not made.title or not named.update(title=made.title, title_source=Conversation.TitleSource.MODEL):
        return None
    return beside_swaps(rows.get(), conversation_usage(conversation_id))
