"""How answers end: the status, the sentence that a person reads, and the actions it offers."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from chat.answering.turns.runner import start_turn
from chat.answering.turns.start import Continue
from chat.models import Conversation, Turn
from tests.chat.turn_driver import (
    Tab,
    ask_and_wait,
    calls_since,
    count_calls,
    fresh_page,
    make_question,
    new_conversation,
    start_and_wait,
)
from tests.parsed_html import Element, ParsedHtml
from tests.sampling import sampled

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def limits(emulated: Settings) -> Settings:
    """Settings with which an answer fails soon."""
    emulated.PROVIDER_ATTEMPTS = 2
    emulated.PROVIDER_IDLE_LIMIT_S = emulated.PROVIDER_FIRST_BYTE_LIMIT_S = 3
    return emulated


async def answer_of(scenario: str) -> tuple[Conversation, Element]:
    """Ask a scenario once; return the conversation, and the last article, which a reload must show alike."""
    conversation = await new_conversation(model=f"scenario-{scenario}", code_execution="on")
    tab = Tab(conversation.pk)
    # Scenarios that fail once know equal questions again.
    await ask_and_wait(conversation, f"How does {scenario} end?", tab)
    page = await fresh_page(conversation)
    assert tab.page.transcript == page
    return conversation, ParsedHtml(page).select("article")[-1]


ENDS = [
    # Blocked: the notice gives the reason and offers no retry, but to edit a question that was refused.
    (
        "prompt-blocked",
        "done",
        "The question was refused because the model's service prohibits its content.",
        ["edit-question"],
    ),
    ("model-armor", "done", "The question was refused by a policy of the model's service.", ["edit-question"]),
    ("safety", "done", "The answer was ended by the model's safety filter.", []),
    ("recitation", "done", "The answer was ended because it came too close to an existing text.", []),
    ("spii", "done", "The answer was ended because it may hold sensitive personal data.", []),
    ("escalation", "done", "The answer was ended because the model's service handed it to a person.", []),
    ("image-safety", "done", "The image was withheld by the model's safety filter.", ["edit-question"]),
    # Cut: the answer can be continued.
    ("max-tokens", "done", "The answer reached its length limit.", ["continue"]),
    (
        "max-tokens-without-text",
        "done",
        "The answer is empty, because thinking used up its length limit. Its tokens are billed all the same.",
        ["regenerate"],
    ),
    ("continuation", "done", "The answer is longer than one generation can be.", ["continue"]),
    ("without-finish", "interrupted", "This answer was interrupted. The text received so far is saved.", ["continue"]),
    # Faults of the model: the request is repeated once, then the notice names the fault.
    ("malformed-function-call", "done", "The model made a faulty tool call and gave up.", ["regenerate"]),
    ("malformed-function-call-once", "done", "", []),
    ("malformed-response-once", "done", "", []),
    ("unexpected-tool-call", "done", "The model called a tool it was not given.", ["regenerate"]),
    ("too-many-tool-calls", "done", "The model ran its tools too often and gave up.", ["continue"]),
    ("missing-signature", "done", "", []),
    ("empty-answer", "done", "The model gave an empty answer. Ask again, perhaps in other words.", ["regenerate"]),
    ("empty-answer-once", "done", "", []),
    ("empty-answer-thoughts-once", "done", "", []),
    (
        "empty-response",
        "failed",
        "The model's service sent an empty response, also when it was asked once more. Try again in a moment, or choose"
        " another model.",
        ["regenerate"],
    ),
    ("empty-response-once", "done", "", []),
    # Failures before the first byte: the request is repeated, then the notice names the failure.
    ("unavailable-once", "done", "", []),
    ("unavailable", "failed", "The model's service is overloaded or failing. Try again in a moment.", ["regenerate"]),
    ("internal-error", "failed", "The model's service is overloaded or failing.", ["regenerate"]),
    ("rate-limited-once", "done", "", []),
    ("rate-limited", "failed", "choose another model. The service asks to wait 34 seconds.", ["regenerate"]),
    # Failures that a retry cannot help.
    (
        "bad-request",
        "failed",
        "choose another model. The service says: “Thinking level MINIMAL is not supported for this model.”",
        ["regenerate"],
    ),
    ("bad-key", "failed", "The operator of this server must check its key.", ["regenerate"]),
    ("forbidden", "failed", "The operator of this server must check its key.", ["regenerate"]),
    ("not-found", "failed", "The model's service does not know this model. Choose another one.", ["regenerate"]),
    # Failures after the first byte: the received text stays, and the request is not repeated.
    ("error-in-stream", "failed", "The model's service is overloaded or failing.", ["continue"]),
    ("error-in-stream-bare", "failed", "The model's service is overloaded or failing.", ["continue"]),
    (
        "malformed-json",
        "failed",
        "sent something that could not be read. The text received before it is saved.",
        ["continue"],
    ),
    ("cut", "failed", "The connection to the model's service could not be made, or broke.", ["continue"]),
    ("stall", "failed", "The model's service stopped sending, so the answer was ended.", ["continue"]),
    ("stall-at-start", "failed", "The model's service stopped sending, so the answer was ended.", ["regenerate"]),
    # No notice.
    ("text", "done", "", []),
    ("code-only", "done", "", []),
    ("two-finishes", "done", "", []),
    # Words of the provider that Plotline does not know are stored and shown.
    ("unknown-finish", "done", "The model ended its answer for a reason unknown here: NEWLY_INVENTED.", []),
    ("unknown-part", "done", "", []),
]


@pytest.mark.parametrize("end", sampled(ENDS, 20, lambda end: end[0]))
async def test_notice_says_how_the_answer_ended_and_offers_the_right_buttons(
    end: tuple[str, str, str, list[str]],
) -> None:
    scenario, status, sentence, offers = end
    _, article = await answer_of(scenario)
    assert article.attributes["data-status"] == status
    notices = article.select("div", class_="notice")
    shown = "".join(notice.select("p")[0].text for notice in notices)
    assert sentence in shown if sentence else not shown
    assert [button["data-action"] for notice in notices for button in notice.find_all("button")] == offers


async def test_page_shows_the_wait_before_a_retry() -> None:
    conversation = await new_conversation(model="scenario-unavailable-once")
    tab = Tab(conversation.pk)
    await ask_and_wait(conversation, "how long?", tab)
    assert any("Asking again in" in frame.text for frame in tab.frames)
    assert "Asking again in" not in tab.page.transcript


async def test_continuation_without_tools_is_possible_after_too_many_tool_calls(limits: Settings) -> None:
    conversation, _ = await answer_of("too-many-tool-calls")
    before = count_calls(limits.GOOGLE_GEMINI_BASE_URL)
    second = await start_and_wait(start_turn(Continue(conversation.owner, conversation.pk, without_tools=True)))
    assert (second.status, second.finish_reason, second.code_execution) == (Turn.Status.DONE, "STOP", False)
    [call] = calls_since(limits.GOOGLE_GEMINI_BASE_URL, before)
    assert "tools" not in call["request"]
    assert "You asked for an answer without tools." in await fresh_page(conversation)


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        ("unknown-part", "of an unknown kind"),
        ("code-without-result", "no result"),
        ("code-unknown-outcome", "ended; its service does not say how"),
    ],
)
async def test_unknown_part_and_code_without_a_known_outcome_are_described_as_such(scenario: str, words: str) -> None:
    _, article = await answer_of(scenario)
    assert words in article.text
    assert "failed" not in article.text


async def test_only_web_addresses_of_sources_are_links() -> None:
    _, article = await answer_of("grounded")
    assert article.select("aside", class_="grounding")
    links = [link for link in article.find_all("a") if "grounding" not in link.get("class", "")]
    assert links
    assert not any("javascript:" in link.get("href", "") for link in links)
    assert any(link.get("rel") == "noopener noreferrer nofollow ugc" for link in links)


async def test_code_mode_of_one_message_does_not_change_the_conversation() -> None:
    conversation = await new_conversation(model="scenario-text", code_execution="auto")
    await ask_and_wait(conversation, "first")
    assert "so running code would not help." in await fresh_page(conversation)
    await start_and_wait(start_turn(make_question(conversation, "tell me a story", code_mode="on")))
    assert "Code execution is turned on." in await fresh_page(conversation)
    await conversation.arefresh_from_db()
    assert conversation.code_execution == "auto"
