"""How answers end, over a real server and socket: the sentence that a person reads, and the actions it offers."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from websockets.sync.client import ClientConnection

from tests.dom import Page
from tests.emulator_server import running_emulator
from tests.live_server import LiveServer, Visitor, running_server, send
from tests.parsed_html import Element, ParsedHtml
from tests.sampling import sampled

LIMIT_S = 60.0


@pytest.fixture(scope="module")
def emulator_url() -> Iterator[str]:
    with running_emulator(strict=True) as url:
        yield url


@pytest.fixture(scope="module")
def server(emulator_url: str) -> Iterator[LiveServer]:
    with running_server(
        GOOGLE_GEMINI_BASE_URL=emulator_url,
        SETTING_PROVIDER_ATTEMPTS="2",
        SETTING_PROVIDER_RETRY_LIMIT_S="2",
        SETTING_PROVIDER_IDLE_LIMIT_S="3",
    ) as running:
        yield running


@pytest.fixture(scope="module")
def demo(server: LiveServer) -> Visitor:
    return Visitor(server)


@dataclass
class Tab:
    """A tab that shows a conversation with one scenario."""

    visitor: Visitor
    conversation_id: str
    socket: ClientConnection
    page: Page

    @property
    def article(self) -> str:
        """The last article."""
        html = self.page.transcript
        return html[html.rindex("<article ") : html.rindex("</article>")]

    @property
    def status(self) -> str:
        """The status of its turn."""
        return ParsedHtml(self.article).only("article").attributes["data-status"]

    @property
    def notices(self) -> list[Element]:
        """Its notice, if it has one."""
        return ParsedHtml(self.article).select("div", class_="notice")

    @property
    def sentence(self) -> str:
        """The sentence of its notice; empty if it has none."""
        return "".join(notice.select("p")[0].text for notice in self.notices)

    @property
    def offers(self) -> list[str]:
        """The actions of its notice."""
        return [button["data-action"] for notice in self.notices for button in notice.find_all("button")]

    def act(self, **message: str) -> None:
        """Send an action."""
        self.socket.send(json.dumps(message))

    def read(self, *, articles: int = 0, until: str = "") -> None:
        """Apply frames until the page has so many articles and the text `until`, and its last turn has ended.

        Then compare the page with a reload.
        """
        give_up_at = time.monotonic() + LIMIT_S
        while (
            self.page.transcript.count("<article ") < articles
            or until not in self.page.transcript
            or self.status in ("queued", "running")
        ):
            self.page.apply(str(self.socket.recv(timeout=max(0.1, give_up_at - time.monotonic()))))
        assert self.visitor.transcript(self.conversation_id) == self.page.transcript


@contextmanager
def asked(visitor: Visitor, scenario: str, code_execution: str = "on") -> Iterator[Tab]:
    """Ask a scenario once, and wait for the end."""
    conversation_id = visitor.new_conversation()
    visitor.post(f"/c/{conversation_id}/settings/", model=f"scenario-{scenario}", code_execution=code_execution)
    with visitor.socket(conversation_id) as socket:
        tab = Tab(visitor, conversation_id, socket, Page())
        send(socket, "first")
        tab.read(articles=2)
        yield tab


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
        "The model used its whole length for thinking, and wrote no answer.",
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
    # Words of the provider that Plotline does not know are stored and tab.
    ("unknown-finish", "done", "The model ended its answer for a reason unknown here: NEWLY_INVENTED.", []),
    ("unknown-part", "done", "", []),
]


@pytest.mark.parametrize("end", sampled(ENDS, 20, lambda end: end[0]))
def test_end_of_an_answer_is_explained(demo: Visitor, end: tuple[str, str, str, list[str]]) -> None:
    scenario, status, sentence, offers = end
    with asked(demo, scenario) as tab:
        assert tab.status == status
        assert sentence in tab.sentence if sentence else not tab.sentence
        assert tab.offers == offers


def test_wait_before_a_retry_is_shown(demo: Visitor) -> None:
    conversation_id = demo.new_conversation()
    demo.post(f"/c/{conversation_id}/settings/", model="scenario-unavailable-once")
    with demo.socket(conversation_id) as socket:
        page = Page()
        # Another text than elsewhere: the scenario refuses the first of equal calls.
        send(socket, "how long?")
        was_shown = []
        while 'data-status="done"' not in page.transcript.rpartition("<article")[2]:
            page.apply(str(socket.recv(timeout=LIMIT_S)))
            was_shown.append("Asking again in" in page.transcript)
    assert any(was_shown)
    assert not was_shown[-1]
    assert demo.transcript(conversation_id) == page.transcript


def test_continue_goes_on_after_the_length_limit(demo: Visitor) -> None:
    with asked(demo, "max-tokens") as tab:
        tab.act(action="continue")
        tab.read(articles=4)
        assert "Continue." in tab.page.transcript


def test_answer_without_tools_can_be_requested(demo: Visitor) -> None:
    with asked(demo, "too-many-tool-calls") as tab:
        assert 'data-code-execution="off"' in tab.article
        tab.act(action="continue", code_execution="off")
        tab.read(articles=4)
        assert (tab.status, tab.sentence) == ("done", "")
        assert "You asked for an answer without tools." in tab.article


def test_unknown_part_is_shown_as_such_and_the_next_turn_works(demo: Visitor) -> None:
    with asked(demo, "unknown-part") as tab:
        send(tab.socket, "second")
        tab.read(articles=4)
        assert tab.status == "done"
        assert 'data-part-kind="unsupported"' in tab.page.transcript


def test_code_without_a_result_says_so(demo: Visitor) -> None:
    with asked(demo, "code-without-result") as tab:
        assert 'data-end="none">no result</span>' in tab.article


def test_unknown_outcome_of_code_is_not_called_a_failure(demo: Visitor) -> None:
    with asked(demo, "code-unknown-outcome") as tab:
        assert 'data-end="unknown">ended; its service does not say how</span>' in tab.article
        assert "failed" not in tab.article


def test_sources_are_numbered_and_only_web_addresses_are_links(demo: Visitor) -> None:
    with asked(demo, "grounded") as tab:
        assert '<aside class="grounding"' in tab.article
        assert "javascript:" not in tab.article
        assert 'rel="noopener noreferrer nofollow ugc"' in tab.article


def test_images_of_an_image_model_are_shown_inline(demo: Visitor) -> None:
    with asked(demo, "image-model", code_execution="off") as tab:
        assert "data-image-index" in tab.article
        assert "data-graph-index" not in tab.article
        [(text,)] = demo.server.rows(
            "SELECT m.text FROM chat_message m JOIN chat_turn t ON t.message_id = m.id WHERE t.conversation_id = ?",
            tab.conversation_id.replace("-", ""),
        )
        assert "\n[IMAGE:0]\n" in text


def test_code_mode_of_one_message_does_not_change_the_conversation(demo: Visitor, server: LiveServer) -> None:
    with asked(demo, "text", code_execution="auto") as tab:
        assert "no code" in tab.article
        send(tab.socket, "tell me a story", code_execution="on")
        tab.read(articles=4)
        assert "may run code" in tab.article
        assert "Code execution is turned on." in tab.article
        [(saved,)] = server.rows(
            "SELECT code_execution FROM chat_conversation WHERE id = ?", tab.conversation_id.replace("-", "")
        )
        assert saved == "auto"


def test_edit_regenerate_and_switch_reach_another_tab(demo: Visitor) -> None:
    other = Page()
    with asked(demo, "text") as tab, demo.socket(tab.conversation_id) as watching:
        question = re.findall(r'data-message-id="([\w-]+)" data-role="user"', tab.page.transcript)[0]
        tab.act(action="edit", message_id=question, text="first, better", client_id="e1")
        tab.read(until="first, better")
        assert tab.page.transcript.count("2/2") == 1
        [answer] = re.findall(r'data-message-id="([\w-]+)" data-role="model"', tab.page.transcript)
        tab.act(action="regenerate", message_id=answer)
        while f'id="message-{answer}"' in tab.page.transcript:
            tab.page.apply(str(tab.socket.recv(timeout=LIMIT_S)))
        tab.read(articles=2)
        tab.act(action="switch", message_id=question)
        tab.read(until="1/2")
        while other.transcript != tab.page.transcript:
            other.apply(str(watching.recv(timeout=LIMIT_S)))
    assert demo.transcript(tab.conversation_id) == tab.page.transcript


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ({"action": "edit", "text": "x"}, "message_id"),
        ({"action": "edit", "message_id": "no", "text": "x"}, "no such message"),
        (
            {"action": "edit", "message_id": "00000000-0000-0000-0000-000000000000", "text": "x"},
            "in view can be changed",
        ),
        ({"action": "switch"}, "message_id"),
        ({"action": "switch", "message_id": "00000000-0000-0000-0000-000000000000"}, "no such version"),
        ({"action": "regenerate", "message_id": {"a": 1}}, "no such message"),
        ({"action": "send", "text": "x", "code_execution": "sometimes"}, "auto, on or off"),
        ({"action": "send", "text": "x", "model": "../secrets"}, "not the name of a model"),
    ],
)
def test_malformed_action_gets_a_sentence(demo: Visitor, message: dict[str, object], sentence: str) -> None:
    with asked(demo, "text") as tab:
        tab.socket.send(json.dumps(message))
        while sentence not in tab.page.root.html():
            tab.page.apply(str(tab.socket.recv(timeout=LIMIT_S)))
