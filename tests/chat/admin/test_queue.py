"""The review queue: filters, search, neighbours of a conversation, and a constant number of queries."""

from __future__ import annotations

import re
from datetime import timedelta
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.models import Conversation, Feedback, NumberLedger, Part, Review, ReviewDecision, Turn
from chat.vocabulary.parts import OUTCOME_FAILED, OUTCOME_OK, CodeExecutionResult
from tests.chat.admin.factories import admin_url, make_account, review_url
from tests.chat.admin.large_queue import make_large_queue
from tests.factories import make_conversation, make_graph, make_model_message, make_user, make_user_message

pytestmark = pytest.mark.django_db

QUEUE_URL = admin_url(Conversation)


def list_titles(client: Client, query: str = "") -> set[str]:
    """Return the titles on the first page of the list."""
    response = client.get(f"{QUEUE_URL}{query}")
    assert response.status_code == 200, query
    return {row.title for row in response.context["cl"].result_list}


# --- number of queries

LIST_QUERIES = (
    "",
    "?p=2",
    "?o=-8",
    "?q=question",
    "?q=question+please",
    "?state=unreviewed",
    "?state=in_review",
    "?assigned=nobody",
    "?feedback=good",
    "?feedback=none",
    "?last_turn=failed",
    "?last_turn=done",
    "?failed_code=yes",
    "?failed_code=no",
    "?graphs=yes",
    "?user=user",
    "?label=none",
    "?from=2000-01-01&to=2100-01-01",
    "?model=plotline-demo",
    "?tokens=1k",
    "?tokens=10k",
)
PAGE_QUERIES = ("", "?as=sent", f"?{urlencode({'_changelist_filters': 'state=unreviewed&q=question'})}")


def count_queries(client: Client, path: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(path).status_code == 200, path
    return len(queries)


@pytest.mark.drill
def test_number_of_queries_does_not_depend_on_the_number_of_conversations(reviewer: Client) -> None:
    def count_all(conversation: Conversation) -> dict[str, int]:
        reviewer.get(review_url(conversation))  # The first read also adds an entry to the access log.
        paths = [QUEUE_URL + query for query in LIST_QUERIES]
        counts = {path: count_queries(reviewer, path) for path in paths}
        for query in PAGE_QUERIES:
            counts[f"page{query}"] = count_queries(reviewer, review_url(conversation, f"change/{query}"))
        return counts

    few = make_large_queue(240)
    Review.objects.filter(pk=few[0].pk).update(assignee=make_account("staff"))
    reviewer.get(QUEUE_URL)  # The first request fills Django's cache of content types.
    counts_of_few = count_all(few[40])
    many = make_large_queue(10_000)
    assert count_all(many[5_000]) == counts_of_few


# --- filters and search


def test_filters_select_the_matching_conversations(reviewer: Client) -> None:
    reviewer_id = reviewer.session["_auth_user_id"]
    anna, bert = make_user("anna"), make_user("bert")
    rows = {title: make_conversation(bert if title > "f" else anna, title=title) for title in "abcdefghij"}
    answers = {title: make_model_message(rows[title]) for title in "abcdefgh"}
    boss = make_account("superuser")
    Review.objects.decide([rows["a"].pk], boss, ReviewDecision.APPROVED, labels=["Good one"])
    Review.objects.decide([rows["b"].pk], boss, ReviewDecision.FLAGGED)
    Review.objects.decide([rows["c"].pk], boss, ReviewDecision.TAKEN)
    Review.objects.filter(pk=rows["c"].pk).update(assignee=reviewer_id)
    for title, is_good in (("a", True), ("b", False)):
        Feedback.objects.create(message=answers[title], user=anna, is_good=is_good)
    for title, outcome in (("d", OUTCOME_FAILED), ("e", OUTCOME_OK), ("f", ""), ("g", "OUTCOME_OF_TOMORROW")):
        Part.from_value(CodeExecutionResult(outcome=outcome), index=9, message=answers[title]).save()
    make_graph(answers["g"])
    for title, number in (("a", 0), ("b", 2)):
        NumberLedger.objects.create(message=answers[title], version=1, numbers=[], without_source=number)
    make_model_message(rows["h"], status=Turn.Status.FAILED)
    Turn.objects.filter(conversation=rows["e"]).update(usage={"total": 5_000}, model="gemini-x")
    Turn.objects.filter(conversation=rows["f"]).update(usage={"total": 100_000})
    Conversation.objects.filter(pk=rows["j"].pk).update(updated_at=timezone.now() - timedelta(days=400))
    every_title = set(rows)
    today = timezone.now().date()
    for query, expected in {
        "": every_title,
        "state=approved": {"a"},
        "state=flagged": {"b"},
        "state=in_review": {"c"},
        "state=unreviewed": every_title - set("abc"),
        "state=nonsense": every_title,
        "assigned=me": {"c"},
        "assigned=anyone": {"c"},
        "assigned=nobody": every_title - {"c"},
        "label=good one": {"a"},
        "user=ANN": set("abcdef"),
        "user=ber": set("ghij"),
        "user=%00": every_title,
        "feedback=good": {"a"},
        "feedback=bad": {"b"},
        "feedback=none": every_title - set("ab"),
        "failed_code=yes": {"d"},
        "failed_code=no": every_title - {"d"},
        "graphs=yes": {"g"},
        "unsourced_numbers=yes": {"b"},
        "unsourced_numbers=no": every_title - {"b"},
        "last_turn=failed": {"h"},
        "last_turn=done": set("abcdefg"),
        "model=gemini-x": {"e"},
        "tokens=1k": every_title - set("ef"),
        "tokens=10k": {"e"},
        "tokens=more": {"f"},
        "tokens=100k": set(),
        f"from={today}": every_title - {"j"},
        f"to={today - timedelta(days=300)}": {"j"},
        "state=unreviewed&user=anna&graphs=no&q=": set("def"),
    }.items():
        assert list_titles(reviewer, f"?{query}") == expected, query


def test_invalid_date_redirects_to_the_unfiltered_list(reviewer: Client) -> None:
    assert reviewer.get(f"{QUEUE_URL}?from=soon").headers["Location"] == f"{QUEUE_URL}?e=1"


def test_search_finds_ids_and_words_of_the_full_text_index(reviewer: Client) -> None:
    conversation = make_conversation(title="Rainfall")
    make_user_message(conversation, "Wetter in Zürich, bitte; 我想要一个图表")
    make_conversation(title="Other")
    for text, expected in {
        "zurich": {"Rainfall"},
        "rain wett": {"Rainfall"},
        '"in zürich"': {"Rainfall"},
        '"zürich in"': set(),
        "图表": {"Rainfall"},
        "ain": set(),
        "!!!": set(),
        "   ": {"Rainfall", "Other"},
        str(conversation.pk): {"Rainfall"},
        conversation.pk.hex: {"Rainfall"},
    }.items():
        assert list_titles(reviewer, f"?{urlencode({'q': text})}") == expected, text


# --- neighbours


def test_previous_and_next_links_follow_the_filters_and_the_order_of_the_list(reviewer: Client) -> None:
    start = timezone.now()
    rows = [make_conversation(title=str(number)) for number in range(6)]
    for number, row in enumerate(rows):
        Conversation.objects.filter(pk=row.pk).update(
            updated_at=start + timedelta(minutes=number), created_at=start - timedelta(minutes=number)
        )
    Review.objects.decide([rows[2].pk], make_account("superuser"), ReviewDecision.APPROVED)

    def neighbours_of(number: int, filters: str = "") -> tuple[str | None, str | None]:
        query = urlencode({"_changelist_filters": filters})
        context = reviewer.get(review_url(rows[number], f"change/?{query}")).context
        titles = []
        for url in (context["previous_url"], context["next_url"]):
            titles.append(next(row.title for row in rows if str(row.pk) in url) if url else None)
            assert not url or not filters or query in url
        return titles[0], titles[1]

    assert neighbours_of(5) == (None, "4")
    assert neighbours_of(3) == ("4", "2")
    assert neighbours_of(0) == ("1", None)
    assert neighbours_of(3, "state=unreviewed") == ("4", "1")
    assert neighbours_of(2, "state=unreviewed") == ("3", "1"), "a conversation that no longer matches has neighbours"
    ascending = reviewer.get(f"{QUEUE_URL}?o=8").context["cl"].get_ordering(None, Conversation.objects.all())
    assert ascending[0] == "updated_at"
    assert neighbours_of(3, "o=8") == ("2", "4")
    assert neighbours_of(3, "q=nothing") == (None, None)


@pytest.mark.parametrize("filters", ["from=soon", "title__contains=x", "q=%00", "o=99.-1", "p=x", "%ff"])
def test_invalid_list_filters_cause_no_server_error(reviewer: Client, filters: str) -> None:
    query = urlencode({"_changelist_filters": filters})
    response = reviewer.get(review_url(make_conversation(), f"change/?{query}"))
    assert response.status_code in (200, 400)


def test_review_page_links_back_to_the_filtered_list(reviewer: Client) -> None:
    make_conversation(title="one")
    page = reviewer.get(f"{QUEUE_URL}?state=unreviewed").content.decode()
    link = re.search(r'href="([^"]*/change/[^"]*)"', page)
    assert link
    assert f'href="{QUEUE_URL}?state=unreviewed"' in reviewer.get(link[1]).content.decode()
