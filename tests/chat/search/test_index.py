"""The index of the database finds the current texts of the user's own conversations."""

from __future__ import annotations

import uuid
from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.db import connection
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chat.access import conversations_of
from chat.models import Conversation, Message, User
from chat.models.deletion import delete_conversation
from chat.models.search_results import SearchResult, load_search_results
from chat.parts import PartKind
from chat.search.query import parse
from tests.factories import make_conversation, make_model_message, make_user, make_user_message

pytestmark = pytest.mark.django_db

MIGRATION = import_module("chat.migrations.0003_search_index")

#: Text that both databases can store. Unassigned characters are left out: each database classifies them differently.
TEXT = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\x00", exclude_categories=("Cn", "Co")))
SYNTAX = st.text(alphabet="ab图 \"'*^:(){}-+&|!<>~\\%_;,.ANDORNEAR", max_size=30)


@pytest.fixture
def owner() -> User:
    return make_user("owner")


def search(user: User, query: str) -> list[Conversation]:
    """Return the user's conversations that match, newest first."""
    return list(conversations_of(user).holding(parse(query)).newest_first())


def search_one(user: User, query: str) -> SearchResult:
    """Return the result for the only conversation that matches."""
    (conversation,) = search(user, query)
    return load_search_results([conversation], parse(query))[0]


@pytest.mark.parametrize(
    ("text", "query"),
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
def test_matching_text_is_found(owner: User, text: str, query: str) -> None:
    conversation = make_conversation(owner)
    make_user_message(conversation, text)
    assert search(owner, query) == [conversation]


@pytest.mark.parametrize(
    ("text", "query"),
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
def test_other_text_is_not_found(owner: User, text: str, query: str) -> None:
    make_user_message(make_conversation(owner), text)
    assert search(owner, query) == []


def test_terms_may_match_different_messages_and_the_title(owner: User) -> None:
    conversation = make_conversation(owner, title="Primes below 100")
    make_user_message(conversation, "List them")
    make_model_message(conversation, parts=[(PartKind.TEXT, "2, 3, 5 and so on")])
    other = make_conversation(owner)
    make_user_message(other, "primes")
    assert search(owner, "primes list so") == [conversation]
    assert search(owner, "primes") == [other, conversation]


def test_index_is_updated_by_every_kind_of_write(owner: User) -> None:
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


def test_hidden_versions_are_not_found(owner: User) -> None:
    conversation = make_conversation(owner)
    message = make_user_message(conversation, "hidden")
    Message.objects.filter(pk=message.pk).update(is_shown=False)
    assert search(owner, "hidden") == []
    Message.objects.filter(pk=message.pk).update(is_shown=True)
    assert search(owner, "hidden") == [conversation]


def test_user_finds_only_their_own_conversations(owner: User) -> None:
    make_user_message(make_conversation(owner, title="secret title"), "secret words")
    stranger = make_user()
    mine = make_conversation(stranger)
    make_user_message(mine, "words of my own")
    assert search(stranger, "secret") == []
    assert search(stranger, "title") == []
    assert search(stranger, "words") == [mine]


def test_result_shows_the_newest_message_with_all_terms_or_else_with_one(owner: User) -> None:
    conversation = make_conversation(owner, title="A walk in the park")
    make_user_message(conversation, "blue sky")
    with_both = make_user_message(conversation, "red roses under a blue sky")
    newest = make_user_message(conversation, "red wine")
    assert search_one(owner, "red blue").message_id == with_both.pk
    assert search_one(owner, "red walk").message_id == newest.pk
    title_match = search_one(owner, "park")
    assert (title_match.message_id, title_match.excerpt) == (None, ())
    assert [piece.text for piece in title_match.title if piece.is_match] == ["park"]


def test_deleted_conversation_is_removed_from_the_index(owner: User) -> None:
    conversation = make_conversation(owner, title="Gone")
    make_model_message(conversation)
    kept = make_conversation(owner, title="Kept")
    delete_conversation(conversation)
    assert search(owner, "gone") == []
    assert search(owner, "answer") == []
    assert search(owner, "kept") == [kept]
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            for table in ("chat_searchentry", "chat_searchwords"):
                cursor.execute(f"SELECT count(*) FROM {table}")
                assert cursor.fetchone() == (1,)


def test_new_index_is_filled_with_existing_texts(owner: User) -> None:
    conversation = make_conversation(owner, title="Titled")
    make_user_message(conversation, "said")
    hidden = make_user_message(conversation, "hidden")
    Message.objects.filter(pk=hidden.pk).update(is_shown=False)
    # PostgreSQL cannot alter a table while deferred constraints of its rows are unchecked.
    connection.check_constraints()
    schema_editor = SimpleNamespace(connection=connection)
    MIGRATION.drop(apps, schema_editor)
    MIGRATION.create(apps, schema_editor)
    assert search(owner, "titled said") == [conversation]
    assert search(owner, "hidden") == []


@pytest.mark.skipif(connection.vendor != "sqlite", reason="only SQLite has triggers")
def test_triggers_exist_after_the_last_migration() -> None:
    def read_triggers() -> set[str]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE '%_search_%'")
            return {name for (name,) in cursor.fetchall()}

    expected = {
        f"chat_{table}_search_{event}"
        for table in ("message", "conversation")
        for event in ("insert", "update", "delete")
    }
    assert read_triggers() == expected, "the migration that rebuilt a table must execute SQLITE_TRIGGERS again"


def test_long_message_is_found_by_its_beginning(owner: User) -> None:
    conversation = make_conversation(owner)
    # The largest possible index entry on PostgreSQL: distinct words whose letters have four bytes each.
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
def test_any_query_is_safe(query: str) -> None:
    terms = parse(query)
    rows = Conversation.objects.owned_by(0).holding(terms)
    assert load_search_results(list(rows), terms) == []
    # Matching messages of given conversations are loaded by a different query.
    assert load_search_results([Conversation(pk=uuid.uuid4(), title=query)], terms)[0].message_id is None


@settings(max_examples=80)
@given(st.lists(TEXT, max_size=6), st.data())
def test_conversation_is_found_by_any_of_its_words(pieces: list[str], data: st.DataObject) -> None:
    conversation = make_conversation()
    make_user_message(conversation, " ".join(pieces))
    # Pieces with quotation marks are left out, because quotes change how the query is split.
    searchable = [piece for piece in " ".join(pieces).split() if [term.source for term in parse(piece)] == [piece]]
    if not searchable:
        return
    chosen_words = data.draw(st.lists(st.sampled_from(searchable), min_size=1, max_size=4))
    assert search(conversation.owner, " ".join(chosen_words)) == [conversation]
    assert search(conversation.owner, f'"{chosen_words[0]}"') == [conversation]
