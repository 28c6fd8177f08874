"""Rating answers on the page: who may rate, what is stored, and what open and reloaded pages show."""

from __future__ import annotations

import uuid

import pytest
from channels.db import database_sync_to_async
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import translation

from chat.answering.turns.feedback import Thumb, rate
from chat.models import Conversation, Feedback, Message, Turn
from chat.models.deletion import delete_conversation
from chat.page.fragments import message_html
from chat.page.message_views import MessageView
from chat.page.relay import broadcast
from chat.page.relay.frames import Frame, NewRevision, UnorderedUpdate
from chat.page.relay.stream_position import StreamPosition
from chat.page.transcript.snapshot import snapshot
from chat.vocabulary.parts import PartKind
from tests.dom import Page
from tests.factories import make_conversation, make_model_message, make_user, make_user_message

pytestmark = pytest.mark.django_db

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</button></span></article><script>",
    "{{ rating }} {% csrf_token %}",
    "\u202eevil \u2028 two\nlines",
]


@pytest.fixture
def answer() -> Message:
    """An answer in a conversation of the user `owner`."""
    return make_model_message(make_conversation(make_user("owner"), title="Secret plans"))


@pytest.fixture
def browser(answer: Message) -> Client:
    """A client that is logged in as the answer's owner."""
    client = Client()
    client.force_login(answer.conversation.owner)
    return client


def path_of(message: Message, conversation: Conversation | None = None) -> str:
    """Return the path at which a message is rated, or the path that it would have in another conversation."""
    return f"/c/{(conversation or message.conversation).pk}/messages/{message.pk}/feedback/"


def make_live(conversation: Conversation) -> Message:
    """Return an answer of a running turn that has no part yet."""
    message = make_model_message(conversation, parts=[], status=Turn.Status.RUNNING)
    message.turn.events.all().delete()
    return message


def view_of(message: Message) -> MessageView:
    """Return the view of a message in a snapshot of its conversation."""
    views = snapshot(message.conversation_id).messages
    return next(view for view in views if view.message_id == message.pk)


def reloaded_html(message: Message) -> str:
    """Return the HTML of a message as a reload shows it."""
    return message_html(view_of(message))


def test_rating_is_stored_replaced_and_removed(browser: Client, answer: Message) -> None:
    for thumb, reason, is_good in (("good", "", True), ("bad", " Graph wrong ", False), ("bad", "", False)):
        response = browser.post(path_of(answer), {"verdict": thumb, "reason": reason})
        assert response.status_code == 200
        [feedback] = Feedback.objects.all()
        assert (feedback.message, feedback.user) == (answer, answer.conversation.owner)
        assert (feedback.is_good, feedback.reason) == (is_good, reason.strip())
        # The response and a reload show the same HTML, byte for byte.
        assert response.content.decode() in reloaded_html(answer)
    for _ in range(2):
        response = browser.post(path_of(answer), {"verdict": "none"})
        assert response.content.decode() in reloaded_html(answer)
        assert not Feedback.objects.exists()


def test_button_of_the_chosen_rating_is_marked_and_would_remove_the_rating(browser: Client, answer: Message) -> None:
    html = browser.post(path_of(answer), {"verdict": "bad", "reason": "slow"}).content.decode()
    assert 'data-rating="good" aria-pressed="false" aria-label="Good answer" title="Good answer"' in html
    assert 'data-rating="none" aria-pressed="true" aria-label="Bad answer" title="Bad answer"' in html
    assert 'aria-label="Change why: slow" title="Change why: slow">' in html


def test_rating_does_not_move_a_conversation_up_in_lists(browser: Client, answer: Message) -> None:
    before = Conversation.objects.get()
    browser.post(path_of(answer), {"verdict": "good"})
    after = Conversation.objects.get()
    assert after.updated_at == before.updated_at
    assert after.revision == before.revision + 1


def test_only_the_owner_of_the_conversation_can_rate_an_answer(browser: Client, answer: Message) -> None:
    theirs = make_model_message(make_conversation(make_user("other")))
    own = make_conversation(answer.conversation.owner)
    absent = Message(pk=uuid.uuid4(), conversation=answer.conversation)
    # Another user's answer, the same one under a conversation of one's own, one's own answer under the wrong
    # conversation, and an answer that does not exist.
    for path in (path_of(theirs), path_of(theirs, answer.conversation), path_of(answer, own), path_of(absent)):
        response = browser.post(path, {"verdict": "bad", "reason": "not mine"})
        assert response.status_code == 404
    for stranger in (make_user(), make_user("staff", is_staff=True, is_superuser=True)):
        client = Client()
        client.force_login(stranger)
        assert client.post(path_of(answer), {"verdict": "bad"}).status_code == 404
    assert Client().post(path_of(answer), {"verdict": "bad"}).status_code == 302
    assert not Feedback.objects.exists()


def test_only_answers_that_have_ended_can_be_rated(browser: Client, answer: Message) -> None:
    question = make_user_message(answer.conversation)
    live = make_live(answer.conversation)
    for message, sentence in ((question, "Only answers can be rated."), (live, "This answer is still being written.")):
        response = browser.post(path_of(message), {"verdict": "good"})
        assert response.status_code == 400
        assert response.content.decode().startswith(sentence)
        assert 'class="rating"' not in reloaded_html(message)
    assert not Feedback.objects.exists()


@pytest.mark.parametrize("status", ["done", "stopped", "failed", "interrupted"])
def test_answers_with_parts_have_rating_buttons_whatever_their_status(status: str) -> None:
    conversation = make_conversation()
    assert 'class="rating"' in reloaded_html(make_model_message(conversation, status=Turn.Status(status)))
    assert 'class="rating"' not in reloaded_html(make_model_message(conversation, parts=[], status=Turn.Status(status)))


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, "Say what you think of the answer: good, bad or none."),
        ({"verdict": "fine"}, "An answer is good, bad or none."),
        ({"verdict": "bad", "reason": "x" * 1001}, "A reason can have at most 1,000 characters. Shorten it."),
        ({"verdict": "bad", "reason": "é" * 10_000}, "A reason can have at most 1,000 characters. Shorten it."),
        ({"verdict": "bad", "reason": "x" * 1024**2}, "A reason can have at most 1,000 characters. Shorten it."),
    ],
)
def test_invalid_rating_is_refused_with_an_error_message(
    browser: Client, answer: Message, fields: dict[str, str], sentence: str
) -> None:
    response = browser.post(path_of(answer), fields)
    assert (response.status_code, response.content.decode()) == (400, sentence)
    assert not Feedback.objects.exists()


@pytest.mark.parametrize("reason", HOSTILE)
def test_reason_of_a_rating_is_escaped_in_html(browser: Client, answer: Message, reason: str) -> None:
    html = browser.post(path_of(answer), {"verdict": "bad", "reason": reason}).content.decode()
    assert Feedback.objects.get().reason == reason
    assert html in reloaded_html(answer)
    for page in (html, browser.get(f"/c/{answer.conversation.pk}/").content.decode()):
        assert "<script>alert" not in page
        assert "<img src=x" not in page
        assert "</button></span></article>" not in page.partition("Change why")[2].partition("</button>")[0]


@pytest.mark.parametrize(
    ("body", "stored"),
    [(b"verdict=bad&reason=a%00b", "ab"), (b"verdict=bad&reason=%ED%A0%80x", "\ufffd\ufffd\ufffdx")],
)
def test_characters_that_a_database_cannot_store_are_removed_or_replaced(
    browser: Client, answer: Message, body: bytes, stored: str
) -> None:
    response = browser.post(path_of(answer), body, content_type="application/x-www-form-urlencoded")
    assert response.status_code == 200
    assert Feedback.objects.get().reason == stored


def test_number_of_queries_does_not_depend_on_the_number_of_ratings(browser: Client, answer: Message) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert browser.get(f"/c/{answer.conversation.pk}/").status_code == 200
        return len(captured)

    none = queries()
    for _ in range(5):
        message = make_model_message(answer.conversation)
        Feedback.objects.give(message, answer.conversation.owner_id, is_good=False, reason="slow")
    assert queries() == none


class OpenPage:
    """A tab that loads a page and applies the frames that follow it."""

    def __init__(self, conversation: Conversation) -> None:
        read = snapshot(conversation.pk)
        html = "".join(message_html(view) for view in read.messages)
        self.page = Page(f'<div id="transcript">{html}</div>')
        self.position = StreamPosition(read.revision)
        self.unordered_frames = 0

    def deliver(self, frame: Frame) -> None:
        """Apply a frame as a socket does."""
        assert isinstance(frame, NewRevision | UnorderedUpdate)
        if isinstance(frame, UnorderedUpdate):
            self.unordered_frames += 1
        else:
            assert self.position.precedes(frame)
            self.position = StreamPosition.of(frame)
        self.page.apply(frame.text)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_live", [False, True])
async def test_open_page_shows_a_new_rating_like_a_reloaded_page(*, is_live: bool) -> None:
    def make_answer() -> Message:
        conversation = make_conversation(make_user("owner"))
        message = make_model_message(conversation, parts=[(PartKind.TEXT, "Hello.\n")])
        if is_live:
            make_live(conversation)
        return message

    message = await database_sync_to_async(make_answer)()
    conversation = message.conversation
    tab = await database_sync_to_async(OpenPage)(conversation)
    broadcast.subscribe(conversation.pk, tab)
    for thumb in (Thumb(is_good=False), Thumb(is_good=False, reason="<b>"), Thumb(is_good=True), None):
        await database_sync_to_async(rate)(message, conversation.owner, thumb)
        reloaded = await database_sync_to_async(OpenPage)(conversation)
        assert tab.page.transcript == reloaded.page.transcript
        assert tab.position.revision == reloaded.position.revision
    broadcast.unsubscribe(conversation.pk, tab)
    # The frames of a live answer follow one another by revision, so a rating must not increment it meanwhile.
    assert tab.unordered_frames == (4 if is_live else 0)


@pytest.mark.django_db(transaction=True)
async def test_open_page_gets_a_rating_in_its_owners_language_whatever_the_callers_language() -> None:
    def make_answer() -> tuple[Message, OpenPage]:
        owner = make_user("owner")
        owner.language = "de"
        owner.save()
        message = make_model_message(make_conversation(owner), parts=[(PartKind.TEXT, "Hello.\n")])
        with translation.override("de"):
            return message, OpenPage(message.conversation)

    def reload() -> OpenPage:
        with translation.override("de"):
            return OpenPage(message.conversation)

    message, tab = await database_sync_to_async(make_answer)()
    broadcast.subscribe(message.conversation_id, tab)
    await database_sync_to_async(rate)(message, message.conversation.owner, Thumb(is_good=True))
    broadcast.unsubscribe(message.conversation_id, tab)
    assert tab.page.transcript == (await database_sync_to_async(reload)()).page.transcript


def test_answer_of_a_deleted_conversation_cannot_be_rated(answer: Message) -> None:
    owner = answer.conversation.owner
    stale = Message.objects.select_related("turn").get(pk=answer.pk)
    delete_conversation(answer.conversation)
    with pytest.raises(Conversation.DoesNotExist):
        rate(stale, owner, Thumb(is_good=True))
