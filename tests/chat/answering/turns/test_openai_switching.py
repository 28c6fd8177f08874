"""A conversation that goes from Gemini to a server of chat completions, and back. Both sides are strict."""

from __future__ import annotations

import base64
import io
import random
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from channels.db import database_sync_to_async
from PIL import Image
from pytest_django import Settings

from attachments.store import read_bytes
from chat.models import Conversation, MessageAttachment
from chat.models import Part as PartRow
from chat.vocabulary.parts import FunctionCall, FunctionResponse, InlineData, Part, Text
from tests.attachments.conftest import png
from tests.chat.answering.tools import recording_tools
from tests.chat.answering.tools.recording_tools import RecordingTools
from tests.chat.turn_driver import Tab, ask_and_wait, calls_since, count_calls, fresh_page, new_conversation
from tests.openai_endpoints import make_endpoint_conversation, make_endpoint_model
from tests.openai_server.refusals import PROFILES
from tests.openai_server.server import JournalEntry, StandInServer
from tests.openai_server.violations import image_urls
from tests.sampling import sampled

pytestmark = pytest.mark.django_db(transaction=True)

GEMINI_MODEL = "scenario-image"
"""A model that runs code which draws a graph."""
IMAGE_MODEL = "vision/image"
"""A model that answers with the beginning of the last image. A preset has the name without the trait."""
FOREIGN_WORDS = ("thoughtSignature", "thought_signature", "extra_content", "provider_data", "executableCode")
READ_IMAGES = [name for name in PROFILES if name != "deepseek"]


class DrawingTools(RecordingTools):
    """A tool set whose function `draw` makes an image."""

    async def run(self, call: FunctionCall) -> AsyncGenerator[list[Part], None]:
        """Record the call, and yield an image as its result."""
        self.calls.append(call)
        yield [InlineData("image/png", "graph.png", png(3))]
        yield [FunctionResponse(call.name, {"output": "A graph was drawn."})]


async def use_model(conversation: Conversation, model: str) -> None:
    """Let the next turns use another model."""
    await Conversation.objects.filter(pk=conversation.pk).aupdate(model=model)


async def stored_parts(conversation: Conversation) -> list[tuple[int, Part]]:
    """Return all stored parts, with the index of their message."""
    rows = PartRow.objects.filter(message__conversation=conversation).select_related("message")
    return [(row.message.index, row.value) async for row in rows.order_by("message__index", "index")]


def graph_colour(conversation: Conversation) -> str:
    """Return the colour of the first pixel of the first graph, as the stand-in writes it."""
    placed = MessageAttachment.objects.filter(message__conversation=conversation).select_related("attachment").first()
    assert placed is not None
    return colour_of(read_bytes(placed.attachment))


def colour_of(data: bytes) -> str:
    """Return the colour of the first pixel of an image."""
    with Image.open(io.BytesIO(data)) as image:
        pixel: Any = image.convert("RGB").getpixel((0, 0))
    return "#" + bytes(pixel).hex()


def images_in(entry: JournalEntry) -> list[str]:
    """Return the URLs of all images in a request."""
    return [url for message in entry.messages for url in image_urls(message)]


def assert_plain(entry: JournalEntry) -> None:
    """Check that a request was accepted, and has nothing that belongs to Gemini."""
    assert entry.error is None
    assert [word for word in FOREIGN_WORDS if word in str(entry.body)] == []


async def gemini_turn(conversation: Conversation, settings: Settings, model: str, tab: Tab) -> list[dict[str, Any]]:
    """Ask a Gemini model, and return the requests that the emulator received. It must accept the last one."""
    await use_model(conversation, model)
    before = count_calls(settings.GOOGLE_GEMINI_BASE_URL)
    turn = await ask_and_wait(conversation, "Gemini?", tab)
    assert (turn.status, turn.provider) == ("done", "gemini")
    calls = calls_since(settings.GOOGLE_GEMINI_BASE_URL, before)
    assert [call["state"] for call in calls] == ["done"] * len(calls)
    return calls


def texts_in(call: dict[str, Any]) -> str:
    """Return the texts of a request to Gemini."""
    parts = [part for content in call["request"]["contents"] for part in content["parts"]]
    return "\n".join(part.get("text", "") for part in parts)


def has_signature(call: dict[str, Any]) -> bool:
    """Return whether any part of a request to Gemini has a signature."""
    return "thoughtSignature" in str(call["request"]["contents"])


@pytest.mark.parametrize("profile", READ_IMAGES)
async def test_graph_is_sent_as_an_image_after_switching_servers_and_back(
    endpoints: StandInServer, settings: Settings, profile: str
) -> None:
    await database_sync_to_async(make_endpoint_model)(endpoints, profile, IMAGE_MODEL)
    conversation = await new_conversation(model=GEMINI_MODEL, code_execution="on")
    tab = Tab(conversation.pk)
    await gemini_turn(conversation, settings, GEMINI_MODEL, tab)
    parts = await stored_parts(conversation)
    colour = await database_sync_to_async(graph_colour)(conversation)

    await use_model(conversation, IMAGE_MODEL)
    before = len(endpoints.journal)
    turn = await ask_and_wait(conversation, "Which colour?", tab)
    assert (turn.status, turn.provider, turn.endpoint) == ("done", "openai_compatible", profile)
    [entry] = endpoints.journal[before:]
    assert_plain(entry)
    assert len(images_in(entry)) == 1
    assert (await stored_parts(conversation))[-1][1] == Text(f"It begins with {colour}.")

    [last] = await gemini_turn(conversation, settings, GEMINI_MODEL, tab)
    assert has_signature(last)
    assert f"It begins with {colour}." in texts_in(last)
    assert (await stored_parts(conversation))[: len(parts)] == parts
    assert tab.page.transcript == await fresh_page(conversation)


@pytest.mark.parametrize(
    ("endpoint", "model", "statuses"),
    [
        ("deepseek", IMAGE_MODEL, [400, 200]),
        ("llamacpp", "text-only/image", [500, 200]),
        ("vllm", "text-only/image", [400, 200]),
        ("generic", "text-only/image", [400, 200]),
        # This server says which of its models read images.
        ("ollama", "text-only/image", [200]),
    ],
)
async def test_graph_is_left_out_for_a_model_that_reads_no_images(
    endpoints: StandInServer, settings: Settings, endpoint: str, model: str, statuses: list[int]
) -> None:
    await database_sync_to_async(make_endpoint_model)(endpoints, endpoint, model)
    conversation = await new_conversation(model=GEMINI_MODEL, code_execution="on")
    await gemini_turn(conversation, settings, GEMINI_MODEL, Tab(conversation.pk))
    await use_model(conversation, model)
    before = len(endpoints.journal)
    turn = await ask_and_wait(conversation, "Which colour?")
    assert turn.status == "done", turn.error_detail
    entries = endpoints.journal[before:]
    assert [entry.status for entry in entries] == statuses
    assert images_in(entries[-1]) == []
    # The next turn knows it.
    before = len(endpoints.journal)
    assert (await ask_and_wait(conversation, "And now?")).status == "done"
    assert [entry.status for entry in endpoints.journal[before:]] == [200]


@pytest.mark.parametrize("profile", sampled(PROFILES, 3))
async def test_calls_from_another_server_are_accepted_by_gemini_and_by_the_next_server(
    endpoints: StandInServer, settings: Settings, profile: str
) -> None:
    settings.TOOL_SETS = ["tests.chat.answering.tools.recording_tools.make"]
    recording_tools.choose(RecordingTools(["echo", "run"]))
    conversation = await database_sync_to_async(make_endpoint_conversation)(endpoints, profile, "function-calls")
    tab = Tab(conversation.pk)
    assert (await ask_and_wait(conversation, "first", tab)).status == "done"
    calls = await gemini_turn(conversation, settings, "scenario-function-call", tab)
    assert "functionCall" in str(calls[0]["request"]["contents"])
    # The calls of Gemini have ids that are not valid everywhere.
    for other in ("mistral", "openai", "deepseek"):
        model = f"o3+{other}/function-call"
        await database_sync_to_async(make_endpoint_model)(endpoints, other, model)
        await use_model(conversation, model)
        before = len(endpoints.journal)
        turn = await ask_and_wait(conversation, "next", tab)
        assert turn.status == "done", turn.error_detail
        entries = endpoints.journal[before:]
        assert len(entries) == 2
        for entry in entries:
            assert_plain(entry)
    await gemini_turn(conversation, settings, "scenario-function-call", tab)
    assert tab.page.transcript == await fresh_page(conversation)


@pytest.mark.parametrize("profile", READ_IMAGES)
async def test_image_of_a_function_is_sent_after_its_result(
    endpoints: StandInServer, settings: Settings, profile: str
) -> None:
    settings.TOOL_SETS = ["tests.chat.answering.tools.recording_tools.make"]
    recording_tools.choose(DrawingTools(["draw"]))
    conversation = await database_sync_to_async(make_endpoint_conversation)(endpoints, profile, "function-call")
    before = len(endpoints.journal)
    turn = await ask_and_wait(conversation, "Draw.")
    assert turn.status == "done", turn.error_detail
    _, second = endpoints.journal[before:]
    assert_plain(second)
    [url] = images_in(second)
    data = base64.b64decode(url.partition(",")[2])
    assert (await stored_parts(conversation))[-1][1].long_text.endswith(f"The image begins with {colour_of(data)}.")
    assert (await ask_and_wait(conversation, "Again.")).status == "done"
    assert all(entry.error is None for entry in endpoints.journal[before:])


GEMINI_SCENARIOS = ["image", "code", "code-two-rounds", "thoughts", "function-call", "function-calls-2", "text"]
SCENARIOS = [
    *(
        "text",
        "thoughts",
        "function-call",
        "function-calls",
        "function-unknown",
        "function-args-invalid",
        "reset",
        "error-in-data",
    ),
    *("refusal", "call-after-text", "call-with-broken-arguments", "call-cut-by-the-token-limit", "nothing-visible"),
    *("text-cut-by-the-token-limit", "calls-with-numbered-ids", "call-without-arguments", "image", "code-as-text"),
]


@pytest.mark.parametrize("seed", range(8))
async def test_every_server_accepts_a_conversation_that_began_at_other_servers(
    endpoints: StandInServer, settings: Settings, seed: int
) -> None:
    chance = random.Random(seed)
    settings.TOOL_SETS = ["tests.chat.answering.tools.recording_tools.make"]
    recording_tools.choose(DrawingTools(["echo", "draw"]))
    conversation = await new_conversation(model=GEMINI_MODEL, code_execution="auto")
    tab = Tab(conversation.pk)
    for number in range(8):
        if chance.random() < 0.25:
            await gemini_turn(conversation, settings, f"scenario-{chance.choice(GEMINI_SCENARIOS)}", tab)
            continue
        profile = chance.choice(list(PROFILES))
        model = f"turn-{number}+at-{profile}/{chance.choice(SCENARIOS)}"
        await database_sync_to_async(make_endpoint_model)(endpoints, profile, model)
        await use_model(conversation, model)
        before = len(endpoints.journal)
        turn = await ask_and_wait(conversation, f"Question {number}?", tab)
        entries = endpoints.journal[before:]
        assert entries[-1].error is None, (model, turn.error_detail)
        # DeepSeek reads no images, which only its refusal says.
        assert all("image_url" in str(entry.error) for entry in entries if entry.error), model
        assert_plain(entries[-1])
    assert tab.page.transcript == await fresh_page(conversation)
