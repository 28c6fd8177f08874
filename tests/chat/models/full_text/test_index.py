"""The index of the database finds the current texts of the user's own conversations."""

from __future__ import annotations

import itertools
import json
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.apps import apps
from django.db import connection, transaction
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chat.migrations import _script_search, _search, _search_fill, _signed_search
from chat.models import Conversation, Message, User
from chat.models import search as search_module
from chat.models.deletion import delete_conversation
from chat.models.full_text.query import Term, parse
from chat.models.full_text.words import extract_index_words, extract_words
from chat.models.ranked_search import search_page
from chat.models.search import ContainsTerm
from chat.models.search_results import SearchResult, load_search_results
from chat.people.access import conversations_of
from chat.vocabulary.parts import PartKind
from tests.factories import make_conversation, make_model_message, make_user, make_user_message
from tests.polling import wait_until

pytestmark = pytest.mark.django_db


#: Text that both databases can store. Unassigned characters are left out: each database classifies them differently.
MIXED = st.text(alphabet="aمه ۲\u200c\u200d\u093cकज़👩🇺🇦🏽ൻന്ำํ้าװ${(}+.", max_size=20)
TEXT = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\x00", exclude_categories=("Cn", "Co")))
SYNTAX = st.text(alphabet="ab图 \"'*^:(){}-+&|!<>~\\%_;,.ANDORNEAR", max_size=30)


PERSIAN = ("می‌خواهم", "میخواهم", "می خواهم")


def search(user: User, query: str) -> list[Conversation]:
    """Return the user's conversations that match, newest first."""
    return list(conversations_of(user).holding(parse(query), user.pk).newest_first())


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
        ("我想要一个机器学习的图表", "图表"),
        ("我想要一个机器学习的图表", "机器学习"),
        ("我想要一个机器学习的图表", "的"),
        ("我想要一个机器学习的图表", "想要 图表"),
        ("用Python画图", "python 画图"),
        ("see numpy.random.rand", "random"),
        ("see https://a.example/some/path", "path"),
        ("a@b.example and 3.14 and x_1", "example 14 x"),
        ("one\n[GRAPH:0]\ntwo", '"one two"'),
        ("اِشْرَحْ لِي قَوَاعِدَ مُحَمَّد في الإدارة", "قواعد محمد الاداره"),
        ("Templates in C++?", "C++"),
        ("Templates in C++17", '"c++"'),
        ("What is new in `C#`?", "c#"),
        ("Since .NET 8", ".net"),
        ("Where is /etc/nginx/nginx.conf?", "/etc/nginx"),
        ("Where is /etc/nginx/nginx.conf?", "nginx.conf"),
        ("pandas 2.2.3 vs 2.2.2", "2.2.3"),
        (r"\alpha and 100%", r"\alpha 100%"),
        ("🎉 ideas please", "🎉"),
        ("a family 👨‍👩‍👧 👍🏽", "👍 👨‍👩‍👧"),
        *((text, query) for text in PERSIAN for query in PERSIAN),
        ("این کتاب‌ها", "کتابها"),
        ("این کتابها", "کتاب ها"),
        ("क़लम और ज़रा", "क\u093cलम जरा"),
        ("cd ${HOME}", "$HOME"),
        ("🇺🇦🇩🇪", "🇩🇪"),
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
        ("Name three clouds", "C++"),
        ("C and C#", "C++"),
        ("internet and net", ".net"),
        ("etc nginx", "/etc/nginx"),
        ("pandas 2.2.2", "2.2.3"),
        ("Answer 129", "Answer 12."),
        ("🎈 balloons", "🎉"),
        ("🇺🇦🇩🇪", "🇦🇩"),
        ("👨‍👩‍👧", "👩"),
        ("my home", "${HOME}"),
        ("Plot a sine wave", "!?"),
        ("Plot a sine wave", ""),
    ],
)
def test_text_that_does_not_match_is_not_found(owner: User, text: str, query: str) -> None:
    make_user_message(make_conversation(owner), text)
    assert search(owner, query) == []


def test_search_terms_may_match_different_messages_and_the_title_of_a_conversation(owner: User) -> None:
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


@pytest.mark.parametrize("text", ["Hello there", "Numbers 7 8 9"])
def test_staff_search_does_not_match_ids_of_owners(owner: User, text: str) -> None:
    """The index holds the words of a text after their owner's id, too."""
    make_user_message(make_conversation(owner), text)
    assert not Conversation.objects.filter(ContainsTerm(Term(str(owner.pk), is_prefix=True)))
    assert not Conversation.objects.filter(ContainsTerm(Term(f"{extract_words(text)} {owner.pk}", is_prefix=True)))


def test_result_shows_the_newest_message_with_all_terms_or_else_with_one_term(owner: User) -> None:
    conversation = make_conversation(owner, title="A walk in the park")
    make_user_message(conversation, "blue sky")
    with_both = make_user_message(conversation, "red roses under a blue sky")
    newest = make_user_message(conversation, "red wine")
    assert search_one(owner, "red blue").message_id == with_both.pk
    assert search_one(owner, "red walk").message_id == newest.pk
    title_match = search_one(owner, "park")
    assert (title_match.message_id, title_match.excerpt) == (None, ())
    assert [piece.text for piece in title_match.title if piece.is_match] == ["park"]


def test_result_shows_the_message_that_matches_the_words_most_exactly(owner: User) -> None:
    conversation = make_conversation(owner)
    texts = ["Answer 12.", "12 of an answer", "Answers 12", "Answer 129."]
    messages = [make_user_message(conversation, text) for text in texts]
    for query, expected in (("answer 12", 0), ("Answer 12.", 0), ("12 answer", 1), ("answe 12", 3), ("Answers 1", 2)):
        assert search_one(owner, query).message_id == messages[expected].pk, query


def test_matching_titles_come_before_texts_and_whole_words_before_prefixes(owner: User) -> None:
    by_rank = [make_conversation(owner, title=title) for title in ("Art", "My artist", "", "", "")]
    for conversation, text in zip(by_rank[2:], ("older art", "newer art", "an artist"), strict=True):
        make_user_message(conversation, text)
    expected = [by_rank[0], by_rank[1], by_rank[3], by_rank[2], by_rank[4]]
    for size in (1, 2, 10):
        found: list[Conversation] = []
        after = None
        for _ in range(6):
            page = search_page(conversations_of(owner), parse("art"), owner.pk, size, after)
            found, after = found + page.conversations, page.end
            if after is None:
                break
        assert found == expected


@pytest.mark.django_db(transaction=True)
def test_migration_refills_the_index_even_after_an_interruption(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    conversation = make_conversation(owner, title="Old title")
    make_user_message(conversation, "old C++")
    restore_earlier_index()
    assert search(owner, "old") == []
    fills = {"sqlite": "INTO chat_searchwords", "postgresql": "UPDATE chat_searchentry"}
    begun = itertools.count()

    def stop_second(execute: Callable[..., object], sql: str, *arguments: object) -> object:
        if fills[connection.vendor] in sql and next(begun) == 1:
            raise KeyboardInterrupt
        return execute(sql, *arguments)

    monkeypatch.setattr(_search_fill, "SQLITE_BATCH_ENTRIES", 1)
    monkeypatch.setattr(_search_fill, "POSTGRESQL_BATCH_ENTRIES", 1)
    with pytest.raises(KeyboardInterrupt), connection.execute_wrapper(stop_second):
        _signed_search.fill(apps, connection.schema_editor(atomic=False))
    make_user_message(conversation, "new C#")
    with connection.execute_wrapper(stop_second):
        _signed_search.fill(apps, connection.schema_editor(atomic=False))
    assert search(owner, "title c++ c#") == [conversation]
    assert search_page(conversations_of(owner), parse("title"), owner.pk, 1).ranks == [0]
    assert read_triggers() == expected_triggers()


def restore_earlier_index() -> None:
    """Give the index the form of the earlier version, without any words."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("UPDATE chat_searchentry SET words = ''")
            return
        _signed_search.drop_triggers(apps, connection.schema_editor())
        cursor.execute("DROP TABLE chat_searchwords")
        for statement in (_search.SQLITE_CREATE[-1], *_search.SQLITE_TRIGGERS):
            cursor.execute(statement)


@pytest.mark.django_db(transaction=True)
def test_migration_refills_only_the_entries_that_a_changed_rule_affects(owner: User) -> None:
    concerned, _ = (make_conversation(owner, title=title) for title in ("सन् २०२४", "Plain"))
    with connection.cursor() as cursor:
        table = {"sqlite": "chat_searchwords", "postgresql": "chat_searchentry"}[connection.vendor]
        cursor.execute(f"UPDATE {table} SET words = 'earlier'")
    _script_search.fill(apps, connection.schema_editor(atomic=False))
    assert search(owner, "2024") == [concerned]
    assert search(owner, "plain") == []


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite's migration locks the database")
@pytest.mark.django_db(transaction=True)
def test_migration_keeps_entries_that_others_write_meanwhile(owner: User) -> None:
    conversation = make_conversation(owner)
    message = make_user_message(conversation, "before")

    def fill() -> None:
        _signed_search.fill(apps, connection.schema_editor(atomic=False))
        connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic(), connection.cursor() as cursor:
            Message.objects.filter(pk=message.pk).update(text="after")
            filled = pool.submit(fill)

            def is_waiting() -> bool:
                cursor.execute("SELECT FROM pg_locks WHERE NOT granted")
                return cursor.fetchone() is not None

            wait_until(is_waiting)
        filled.result(60)
    assert search(owner, "after") == [conversation]
    with connection.cursor() as cursor:
        # Servers of the earlier version may run on.
        cursor.execute("SELECT chat_owned_query(1, chat_query('a b', true))")
        assert cursor.fetchone() == ("'1:a' & '1:b':*",)


@settings(max_examples=150)
@given(TEXT | SYNTAX | MIXED)
@example("שָׁלוֹם עוֹלָם काल कील हिन्दी đường ışık २०२४ ٢٠٢٥ ２０２４ ๒")
@example("اِشْرَحْ Łódź ẞ İ Σίσυφος C++ /etc/nginx.conf? 👍🏽 کتاب ۱۲ 10–20")
def test_postgresql_splits_words_by_the_same_rules(text: str) -> None:
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT array_to_string(tsvector_to_array(chat_entry_words(1, %s)), ' ')", [text])
        assert set(cursor.fetchone()[0].split()) == set(extract_index_words(text).split())


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


def read_triggers() -> set[str]:
    """Return the names of the triggers that write the index."""
    tables = {"sqlite": "sqlite_master WHERE type = 'trigger' AND name", "postgresql": "pg_trigger WHERE tgname"}
    name = {"sqlite": "name", "postgresql": "tgname"}[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {name} FROM {tables[connection.vendor]} LIKE 'chat~_%~_search~_%' ESCAPE '~'")
        return {name for (name,) in cursor.fetchall()}


def expected_triggers() -> set[str]:
    """Return the names of the triggers that every database must have."""
    expected = {f"chat_message_search_{event}" for event in ("insert", "update", "delete")}
    expected |= {f"chat_conversation_search_{event}" for event in ("insert", "update", "owner", "delete")}
    if connection.vendor == "postgresql":
        expected.add("chat_conversation_search_truncate")
    return expected


def test_triggers_exist_after_the_last_migration() -> None:
    assert read_triggers() == expected_triggers(), "the migration that rebuilt a table must call restore_triggers"


def test_search_finds_a_conversation_of_a_new_owner_and_a_message_in_a_new_conversation(owner: User) -> None:
    conversation = make_conversation(owner, title="Title")
    make_user_message(conversation, "words")
    stranger = make_user()
    conversation.owner = stranger
    conversation.save()
    assert search(owner, "words") == search(owner, "title") == []
    assert search(stranger, "words title") == [conversation]
    other = make_conversation(owner)
    Message.objects.filter(conversation=conversation).update(conversation=other)
    assert search(stranger, "words") == []
    assert search(owner, "words") == [other]


@pytest.mark.parametrize("query", ["word", "w", '"word of"', "word missing", "missing"])
def test_search_does_not_read_the_messages_of_others(owner: User, query: str) -> None:
    for text in ("a word of mine", "others"):
        make_user_message(make_conversation(owner), text)
    found, read_alone = count_reads(owner, query)
    stranger = make_conversation(make_user(), title="Word of another")
    parent = make_user_message(stranger, "word")
    Message.objects.bulk_create(
        Message(conversation=stranger, parent=parent, index=index, role="user", text=f"word of {index}")
        for index in range(1, 300)
    )
    found_beside_others, read_beside_others = count_reads(owner, query)
    assert found_beside_others == found
    # SQLite also counts the steps that lead to the first word of the owner.
    assert read_beside_others <= 1.5 * read_alone + 20


def count_reads(user: User, query: str) -> tuple[list[Conversation], int]:
    """Return what a search finds, and what it reads: rows of the index in PostgreSQL, steps of SQLite's machine."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            # The planner would read all rows of a small table.
            cursor.execute("SET LOCAL enable_seqscan = off")
        rows = conversations_of(user).holding(parse(query), user.pk)
        [plan] = json.loads(rows.explain(analyze=True, format="json"))
        return search(user, query), sum_entries(plan["Plan"])
    with connection.cursor() as cursor:
        # Otherwise the steps would depend on the number of segments, and so on the number of writes.
        cursor.execute("INSERT INTO chat_searchwords (chat_searchwords) VALUES ('optimize')")
    steps = itertools.count()
    # The handler returns 0, because every other value would cancel the query.
    connection.connection.set_progress_handler(lambda: next(steps) * 0, 1)
    try:
        return search(user, query), next(steps)
    finally:
        connection.connection.set_progress_handler(None, 0)


def sum_entries(node: dict[str, Any]) -> int:
    """Return how many rows the scans of a plan read in the index of words."""
    is_scan = "chat_searchentry" in f"{node.get('Relation Name')} {node.get('Index Name')}"
    own = node["Actual Loops"] * (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) if is_scan else 0
    return own + sum(map(sum_entries, node.get("Plans", [])))


WORDS = st.lists(st.sampled_from(["a", "ab", "abc", "图", "表", "图表", "1", "1:a", "É"]), max_size=5)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.booleans(), WORDS), max_size=4), WORDS, st.booleans(), st.sampled_from([0, 500]))
def test_users_search_finds_the_same_as_the_search_of_staff(
    messages: list[tuple[bool, list[str]]], words: list[str], is_phrase: bool, rare_entries: int
) -> None:
    owners = [make_user(), make_user()]
    for is_first, text in messages:
        make_user_message(make_conversation(owners[is_first], title=" ".join(text[:1])), " ".join(text[1:]))
    terms = parse('"{}"'.format(" ".join(words)) if is_phrase else " ".join(words))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_module, "RARE_ENTRIES", rare_entries)
        for owner in owners:
            expected = conversations_of(owner).holding(terms).newest_first()
            assert list(conversations_of(owner).holding(terms, owner.pk).newest_first()) == list(expected)


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
def test_search_for_any_text_raises_no_error(query: str) -> None:
    terms = parse(query)
    rows = Conversation.objects.owned_by(0).holding(terms, 0)
    assert load_search_results(list(rows), terms) == []
    # Matching messages of given conversations are loaded by a different query.
    assert load_search_results([Conversation(pk=uuid.uuid4(), owner_id=0, title=query)], terms)[0].message_id is None


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
