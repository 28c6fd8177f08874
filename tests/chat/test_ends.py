"""Every end of an answer, over a real server and socket: the sentence that a person reads, and what it offers."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape

import pytest
from websockets.sync.client import ClientConnection

from tests.dom import Page
from tests.emulator_server import running_emulator
from tests.live_server import LiveServer, Visitor, running_server, send

LIMIT_S = 20.0


@pytest.fixture(scope="module")
def emulator_url() -> Iterator[str]:
    with running_emulator(strict=True) as url:
        yield url


@pytest.fixture(scope="module")
def server(emulator_url: str) -> Iterator[LiveServer]:
    with running_server(
        GOOGLE_GEMINI_BASE_URL=emulator_url,
        PROVIDER_ATTEMPTS="2",
        PROVIDER_RETRY_LIMIT_S="2",
        PROVIDER_IDLE_LIMIT_S="1",
    ) as running:
        yield running


@pytest.fixture(scope="module")
def demo(server: LiveServer) -> Visitor:
    return Visitor(server)


@dataclass
class Talk:
    """A conversation with one scenario, seen through one tab."""

    visitor: Visitor
    conversation_id: str
    socket: ClientConnection
    page: Page

    @property
    def article(self) -> str:
        """The last article."""
        *_, last = re.finditer(r"<article .*?</article>", self.page.transcript, flags=re.DOTALL)
        return last[0]

    @property
    def status(self) -> str:
        """How its turn stands."""
        return self.article.partition('data-status="')[2].partition('"')[0]

    @property
    def sentence(self) -> str:
        """What its notice says; empty where there is none."""
        notice = re.search(r'<div class="notice"[^>]*><p>(.*?)</p>', self.article, flags=re.DOTALL)
        return unescape(notice[1]) if notice else ""

    @property
    def offers(self) -> list[str]:
        """What its notice offers to do."""
        notice = re.search(r'<div class="notice".*?</div>', self.article, flags=re.DOTALL)
        return re.findall(r'data-action="(\w+)"', notice[0]) if notice else []

    def act(self, **message: str) -> None:
        """Send an action."""
        self.socket.send(json.dumps(message))

    def read(self, *, articles: int = 0, until: str = "") -> None:
        """Apply frames until so many articles are there, `until` too, and the last turn has ended.

        The reload must equal it.
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
def talk(visitor: Visitor, scenario: str, code_execution: str = "on") -> Iterator[Talk]:
    """Ask a scenario once, and wait for the end."""
    conversation_id = visitor.new_conversation()
    visitor.post(f"/c/{conversation_id}/settings/", model=f"scenario-{scenario}", code_execution=code_execution)
    with visitor.socket(conversation_id) as socket:
        started = Talk(visitor, conversation_id, socket, Page())
        send(socket, "first")
        started.read(articles=2)
        yield started


ENDS = [
    # Blocked: the reason, and no retry.
    ("prompt-blocked", "done", "The question was refused because the model's service prohibits its content.", []),
    ("model-armor", "done", "The question was refused by the service's Model Armor policy.", []),
    ("safety", "done", "The answer was ended by the model's safety filter.", []),
    ("recitation", "done", "The answer was ended because it came too close to an existing text.", []),
    ("spii", "done", "The answer was ended because it may hold sensitive personal data.", []),
    ("escalation", "done", "The answer was ended because the model's service handed it to a person.", []),
    ("image-safety", "done", "The image was withheld by the model's safety filter.", []),
    # Cut: it can go on.
    ("max-tokens", "done", "The answer reached its length limit.", ["continue"]),
    (
        "max-tokens-without-text",
        "done",
        "The model used its whole length for thinking, and wrote no answer.",
        ["regenerate"],
    ),
    ("continuation", "done", "The answer is longer than one generation can be.", ["continue"]),
    ("without-finish", "interrupted", "This answer was interrupted. Everything that had come is kept.", ["continue"]),
    # The model's own faults: asked once more, then said.
    ("malformed-function-call", "done", "The model made a faulty tool call and gave up.", ["regenerate"]),
    ("malformed-function-call-once", "done", "", []),
    ("malformed-response-once", "done", "", []),
    ("unexpected-tool-call", "done", "The model called a tool it was not given.", ["regenerate"]),
    ("too-many-tool-calls", "done", "The model ran its tools too often and gave up.", ["continue"]),
    ("missing-signature", "done", "", []),
    ("empty-answer", "done", "The model gave an empty answer. Ask again, perhaps in other words.", ["regenerate"]),
    ("empty-answer-once", "done", "", []),
    ("empty-answer-thoughts-once", "done", "", []),
    # Failures before the first byte: waited out, then said.
    ("unavailable-once", "done", "", []),
    ("unavailable", "failed", "The model's service is overloaded or failing. Try again in a moment.", ["regenerate"]),
    ("internal-error", "failed", "The model's service is overloaded or failing.", ["regenerate"]),
    ("rate-limited-once", "done", "", []),
    ("rate-limited", "failed", "then try again. It asks to wait 34 seconds.", ["regenerate"]),
    # Failures that no waiting mends.
    ("bad-request", "failed", "The model's service refused this request.", ["regenerate"]),
    ("bad-key", "failed", "Whoever runs this server must check GEMINI_API_KEY.", ["regenerate"]),
    ("forbidden", "failed", "Whoever runs this server must check GEMINI_API_KEY.", ["regenerate"]),
    ("not-found", "failed", "The model's service does not know this model. Choose another one.", ["regenerate"]),
    # Failures after the first byte: what came stays, and nothing is asked twice.
    ("error-in-stream", "failed", "The model's service is overloaded or failing.", ["continue"]),
    ("error-in-stream-bare", "failed", "The model's service is overloaded or failing.", ["continue"]),
    ("malformed-json", "failed", "sent something that could not be read. What came before is kept.", ["continue"]),
    ("cut", "failed", "The connection to the model's service could not be made, or broke.", ["continue"]),
    ("stall", "failed", "The model's service went silent, so the answer was ended.", ["continue"]),
    ("stall-at-start", "failed", "The model's service went silent, so the answer was ended.", ["regenerate"]),
    # Nothing to say.
    ("text", "done", "", []),
    ("code-only", "done", "", []),
    ("two-finishes", "done", "", []),
    # Not known here: said, and kept.
    ("unknown-finish", "done", "The model ended its answer for a reason unknown here: NEWLY_INVENTED.", []),
    ("unknown-part", "done", "", []),
]


@pytest.mark.parametrize(("scenario", "status", "sentence", "offers"), ENDS, ids=[end[0] for end in ENDS])
def test_end_is_told_in_words(demo: Visitor, scenario: str, status: str, sentence: str, offers: list[str]) -> None:
    with talk(demo, scenario) as shown:
        assert shown.status == status
        assert sentence in shown.sentence if sentence else not shown.sentence
        assert shown.offers == offers


def test_wait_is_told_while_it_lasts(demo: Visitor) -> None:
    conversation_id = demo.new_conversation()
    demo.post(f"/c/{conversation_id}/settings/", model="scenario-unavailable-once")
    with demo.socket(conversation_id) as socket:
        page = Page()
        # Another text than elsewhere: the scenario refuses the first of equal calls.
        send(socket, "how long?")
        told = []
        while 'data-status="done"' not in page.transcript.rpartition("<article")[2]:
            page.apply(str(socket.recv(timeout=LIMIT_S)))
            told.append("Asking again in" in page.transcript)
    assert any(told)
    assert not told[-1]
    assert demo.transcript(conversation_id) == page.transcript


def test_continue_goes_on_after_the_length_limit(demo: Visitor) -> None:
    with talk(demo, "max-tokens") as shown:
        shown.act(action="continue")
        shown.read(articles=4)
        assert "Continue." in shown.page.transcript


def test_answer_now_asks_without_tools(demo: Visitor) -> None:
    with talk(demo, "too-many-tool-calls") as shown:
        assert 'data-code-execution="off"' in shown.article
        shown.act(action="continue", code_execution="off")
        shown.read(articles=4)
        assert (shown.status, shown.sentence) == ("done", "")
        assert "The answer was wanted without tools." in shown.article


def test_unknown_part_is_shown_as_such_and_the_next_turn_works(demo: Visitor) -> None:
    with talk(demo, "unknown-part") as shown:
        send(shown.socket, "second")
        shown.read(articles=4)
        assert shown.status == "done"
        assert 'data-part-kind="unsupported"' in shown.page.transcript


def test_sources_are_numbered_and_only_the_web_is_linked(demo: Visitor) -> None:
    with talk(demo, "grounded") as shown:
        assert '<aside class="grounding"' in shown.article
        assert "javascript:" not in shown.article
        assert 'rel="noopener noreferrer nofollow ugc"' in shown.article


def test_images_of_an_image_model_stand_inline(demo: Visitor) -> None:
    with talk(demo, "image-model", code_execution="off") as shown:
        assert "data-image-index" in shown.article
        assert "data-graph-index" not in shown.article
        [(text,)] = demo.server.rows(
            "SELECT m.text FROM chat_message m JOIN chat_turn t ON t.message_id = m.id WHERE t.conversation_id = ?",
            shown.conversation_id.replace("-", ""),
        )
        assert "\n[IMAGE:0]\n" in text


def test_mode_of_one_message_leaves_the_conversation_as_it_is(demo: Visitor, server: LiveServer) -> None:
    with talk(demo, "text", code_execution="auto") as shown:
        assert "no code" in shown.article
        send(shown.socket, "tell me a story", code_execution="on")
        shown.read(articles=4)
        assert "may run code" in shown.article
        assert "Code execution is turned on." in shown.article
        [(saved,)] = server.rows(
            "SELECT code_execution FROM chat_conversation WHERE id = ?", shown.conversation_id.replace("-", "")
        )
        assert saved == "auto"


def test_edit_regenerate_and_switch_reach_another_tab(demo: Visitor) -> None:
    other = Page()
    with talk(demo, "text") as shown, demo.socket(shown.conversation_id) as watching:
        question = re.findall(r'data-message-id="([\w-]+)" data-role="user"', shown.page.transcript)[0]
        shown.act(action="edit", message_id=question, text="first, better", client_id="e1")
        shown.read(until="first, better")
        assert shown.page.transcript.count("2/2") == 1
        [answer] = re.findall(r'data-message-id="([\w-]+)" data-role="model"', shown.page.transcript)
        shown.act(action="regenerate", message_id=answer)
        while f'id="message-{answer}"' in shown.page.transcript:
            shown.page.apply(str(shown.socket.recv(timeout=LIMIT_S)))
        shown.read(articles=2)
        shown.act(action="switch", message_id=question)
        shown.read(until="1/2")
        while other.transcript != shown.page.transcript:
            other.apply(str(watching.recv(timeout=LIMIT_S)))
    assert demo.transcript(shown.conversation_id) == shown.page.transcript


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
def test_malformed_control_gets_a_sentence(demo: Visitor, message: dict[str, object], sentence: str) -> None:
    with talk(demo, "text") as shown:
        shown.socket.send(json.dumps(message))
        while sentence not in shown.page.root.html():
            shown.page.apply(str(shown.socket.recv(timeout=LIMIT_S)))
