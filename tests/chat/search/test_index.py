"""The database's index finds what is said, as it is now, and nothing of other people."""

from __future__ import annotations

import uuid

import pytest
from django.contrib.auth.models import User
from django.db import connection
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chat.access import conversations_of
from chat.models import Conversation, Message
from chat.models.found import Found, found
from chat.parts import PartKind
from chat.search import index
from chat.search.query import parse
from tests.factories import make_conversation, make_model_message, make_user, make_user_message

pytestmark = pytest.mark.django_db

#: What a database can store as text; what a letter is that Unicode has yet to assign, is each one's guess.
TEXT = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\x00", exclude_categories=("Cn", "Co")))
SYNTAX = st.text(alphabet="ab图 \"'*^:(){}-+&|!<>~\\%_;,.ANDORNEAR", max_size=30)


@pytest.fixture
def owner() -> User:
    return make_user("owner")


def search(user: User, question: str) -> list[Conversation]:
    """Newest first."""
    return list(conversations_of(user).holding(parse(question)).newest_first())


def show(user: User, question: str) -> Found:
    """The one that was found."""
    (conversation,) = search(user, question)
    return found([conversation], parse(question))[0]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Plot a sine wave", "sine"),
        ("Plot a sine wave", "wave PLOT"),
        ("Plot a sine wave", '"sine wave"'),
        ("Plot a sine wave", "sin"),
        ("Ein Bericht über Größen", "grö"),
        ("Ein Bericht über Größen", "uber BERICHT"),
        ("हिन्दी में लिखो", "हिन्दी"),
        ("שָׁלוֹם עולם", "שָׁלוֹם"),
        ("我想要一个机器学习的图表", "图表"),
        ("我想要一个机器学习的图表", "机器学习"),
        ("我想要一个机器学习的图表", "的"),
        ("我想要一个机器学习的图表", "想要 图表"),
        ("用Python画图", "python 画图"),
        ("see numpy.random.rand", "random"),
        ("see https://a.example/some/path", "path"),
        ("a@b.example and 3.14 and x_1", "example 14 x"),
        ("one\n[GRAPH:0]\ntwo", '"one two"'),
    ],
)
def test_what_was_said_is_found(owner: User, text: str, question: str) -> None:
    conversation = make_conversation(owner)
    make_user_message(conversation, text)
    assert search(owner, question) == [conversation]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Plot a sine wave", "cosine"),
        ("Plot a sine wave", '"wave sine"'),
        ("Plot a sine wave", '"sin"'),
        ("Plot a sine wave", "sine missing"),
        ("机器的学习", "机器学习"),
        ("表图", "图表"),
        ("one\n[GRAPH:0]\ntwo", "graph"),
        ("Plot a sine wave", "!?"),
        ("Plot a sine wave", ""),
    ],
)
def test_what_was_not_said_is_not_found(owner: User, text: str, question: str) -> None:
    make_user_message(make_conversation(owner), text)
    assert search(owner, question) == []


def test_words_may_stand_in_different_messages_and_in_the_title(owner: User) -> None:
    conversation = make_conversation(owner, title="Primes below 100")
    make_user_message(conversation, "List them")
    make_model_message(conversation, parts=[(PartKind.TEXT, "2, 3, 5 and so on")])
    other = make_conversation(owner)
    make_user_message(other, "primes")
    assert search(owner, "primes list so") == [conversation]
    assert search(owner, "primes") == [other, conversation]


def test_index_follows_every_way_of_writing(owner: User) -> None:
    conversation = make_conversation(owner)
    message = make_user_message(conversation, "")
    assert search(owner, "first") == []
    Message.objects.filter(pk=message.pk).update(text="first")
    assert search(owner, "first") == [conversation]
    message.text = "second"
    message.save()
    assert (search(owner, "first"), search(owner, "second")) == ([], [conversation])
    Message.objects.bulk_create(
        [Message(conversation=conversation, parent=message, index=1, role="user", text="third")]
    )
    assert search(owner, "second third") == [conversation]
    conversation.title = "fourth"
    conversation.save()
    assert search(owner, "fourth third") == [conversation]
    conversation.title = ""
    conversation.save(update_fields=["title"])
    assert search(owner, "fourth") == []
    Message.objects.filter(text="third").delete()
    assert search(owner, "third") == []
    assert search(owner, "second") == [conversation]


def test_versions_that_are_out_of_view_are_not_found(owner: User) -> None:
    conversation = make_conversation(owner)
    message = make_user_message(conversation, "hidden")
    Message.objects.filter(pk=message.pk).update(is_shown=False)
    assert search(owner, "hidden") == []
    Message.objects.filter(pk=message.pk).update(is_shown=True)
    assert search(owner, "hidden") == [conversation]


def test_nobody_finds_what_is_not_theirs(owner: User) -> None:
    make_user_message(make_conversation(owner, title="secret title"), "secret words")
    stranger = make_user()
    mine = make_conversation(stranger)
    make_user_message(mine, "words of my own")
    assert search(stranger, "secret") == []
    assert search(stranger, "title") == []
    assert search(stranger, "words") == [mine]


def test_what_is_shown_is_the_newest_message_with_all_words_or_else_with_one(owner: User) -> None:
    conversation = make_conversation(owner, title="A walk in the park")
    make_user_message(conversation, "blue sky")
    both = make_user_message(conversation, "red roses under a blue sky")
    newest = make_user_message(conversation, "red wine")
    assert show(owner, "red blue").message_id == both.pk
    assert show(owner, "red walk").message_id == newest.pk
    title_alone = show(owner, "park")
    assert (title_alone.message_id, title_alone.excerpt) == (None, ())
    assert [piece.text for piece in title_alone.title if piece.is_match] == ["park"]


def test_deletion_leaves_nothing_in_the_index(owner: User) -> None:
    conversation = make_conversation(owner, title="Gone")
    make_model_message(conversation)
    kept = make_conversation(owner, title="Kept")
    conversation.delete_with_attachments()
    assert search(owner, "gone") == []
    assert search(owner, "answer") == []
    assert search(owner, "kept") == [kept]
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            for table in ("chat_searchentry", "chat_searchwords"):
                cursor.execute(f"SELECT count(*) FROM {table}")
                assert cursor.fetchone() == (1,)


def test_index_is_filled_with_what_is_there(owner: User) -> None:
    conversation = make_conversation(owner, title="Titled")
    make_user_message(conversation, "said")
    hidden = make_user_message(conversation, "hidden")
    Message.objects.filter(pk=hidden.pk).update(is_shown=False)
    # PostgreSQL changes no table that has rows whose references are still to be checked.
    connection.check_constraints()
    index.drop(connection)
    index.create(connection)
    assert search(owner, "titled said") == [conversation]
    assert search(owner, "hidden") == []


@pytest.mark.skipif(connection.vendor != "sqlite", reason="only SQLite has triggers")
def test_triggers_stand_after_the_last_migration() -> None:
    def triggers() -> set[str]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE '%_search_%'")
            return {name for (name,) in cursor.fetchall()}

    expected = {
        f"chat_{table}_search_{event}"
        for table in ("message", "conversation")
        for event in ("insert", "update", "delete")
    }
    assert triggers() == expected, "the last migration remade a table: call restore_triggers at its end"
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER chat_message_search_update")
    index.restore_triggers(connection)
    assert triggers() == expected


def test_very_long_messages_are_stored_and_found_by_their_beginning(owner: User) -> None:
    conversation = make_conversation(owner)
    # The worst there is for one entry of PostgreSQL: words that are all different, of letters of four bytes.
    letters = [chr(0x10400 + 40 + number) for number in range(40)]
    text = "begin " + " ".join(a + b + c + d for a in letters for b in letters for c in letters for d in letters[:12])
    make_user_message(conversation, text)
    make_user_message(conversation, "x" * 1_000_000)
    make_user_message(conversation, "\ufdfa" * 300_000)
    assert search(owner, "begin") == [conversation]


@settings(max_examples=80)
@given(TEXT | SYNTAX)
@example('" OR 1=1 --')
@example("words:a NEAR(b c) {x}:^y")
@example("'); DROP TABLE chat_message; --")
@example("%s %(a)s %%")
def test_any_question_is_harmless(question: str) -> None:
    terms = parse(question)
    rows = Conversation.objects.owned_by(0).holding(terms)
    assert found(list(rows), terms) == []
    # What is asked for one conversation goes another way.
    assert found([Conversation(pk=uuid.uuid4(), title=question)], terms)[0].message_id is None


@settings(max_examples=80)
@given(st.lists(TEXT, max_size=6), st.data())
def test_a_conversation_is_found_by_the_words_in_it(pieces: list[str], data: st.DataObject) -> None:
    conversation = make_conversation()
    make_user_message(conversation, " ".join(pieces))
    # Without those that quote something: quotes part what stands in them from the rest.
    spoken = [piece for piece in " ".join(pieces).split() if [term.typed for term in parse(piece)] == [piece]]
    if not spoken:
        return
    asked = data.draw(st.lists(st.sampled_from(spoken), min_size=1, max_size=4))
    assert search(conversation.owner, " ".join(asked)) == [conversation]
    assert search(conversation.owner, f'"{asked[0]}"') == [conversation]
