"""Verdicts: decisions with notes and labels, their history, and conflicts between reviewers."""

from __future__ import annotations

import uuid

import pytest
from django.test import Client

from chat.models import Conversation, Review, ReviewDecision, User, Verdict
from chat.models.reviews import ReviewQuerySet
from tests.chat.admin.factories import client_of, make_account, review_url
from tests.factories import make_conversation

pytestmark = pytest.mark.django_db


def post_verdict(client: Client, conversation: Conversation, decision: str, **fields: object) -> int:
    """Submit the verdict form and return the status."""
    return client.post(review_url(conversation, "verdict/"), {"decision": decision, **fields}).status_code


def test_verdicts_are_added_to_the_review_history_in_order(reviewer: Client) -> None:
    conversation = make_conversation()
    assert post_verdict(reviewer, conversation, "taken") == 302
    flagged = {"note": "Wrong sum.\nSee turn 1", "labels": "maths, Maths ,  odd  word"}
    assert post_verdict(reviewer, conversation, "flagged", **flagged) == 302
    boss = client_of(make_account("superuser"))
    newest = Verdict.objects.latest("pk")
    assert post_verdict(boss, conversation, "approved", labels="maths", seen=newest.pk) == 302
    review = Review.objects.get()
    assert review.assignee
    assert (review.state, review.assignee.username) == ("approved", "reviewer")
    assert [label.name for label in review.labels.all()] == ["maths"]
    history = [
        (verdict.reviewer_name, verdict.decision, verdict.state, verdict.note, verdict.labels)
        for verdict in Verdict.objects.order_by("pk")
    ]
    assert history == [
        ("reviewer", "taken", "in_review", "", []),
        ("reviewer", "flagged", "flagged", "Wrong sum.\nSee turn 1", ["maths", "odd word"]),
        ("superuser", "approved", "approved", "", ["maths"]),
    ]
    page = reviewer.get(review_url(conversation)).content.decode()
    assert "Wrong sum.<br>See turn 1" in page


def test_review_page_suggests_only_labels_that_reviews_have_now(reviewer: Client) -> None:
    conversation = make_conversation()
    post_verdict(reviewer, conversation, "noted", labels="maths, odd word")
    post_verdict(reviewer, conversation, "noted", labels="maths")
    page = reviewer.get(review_url(conversation)).content.decode()
    assert 'data-label="maths"' in page
    assert 'data-label="odd word"' not in page


def test_verdict_that_is_only_a_note_does_not_change_the_review_state(reviewer: Client) -> None:
    conversation = make_conversation()
    post_verdict(reviewer, conversation, "approved")
    assert post_verdict(reviewer, conversation, "noted", note="later") == 302
    assert Review.objects.get().state == "approved"


def test_verdict_is_refused_until_the_reviewer_has_seen_the_newer_verdict_of_another_reviewer(reviewer: Client) -> None:
    conversation = make_conversation()
    seen = reviewer.get(review_url(conversation)).context["newest_verdict_id"]
    Review.objects.decide([conversation.pk], make_account("superuser"), ReviewDecision.FLAGGED)
    fields = {"seen": seen, "note": "typed <b>", "labels": "kept", "_changelist_filters": "q=x"}
    response = reviewer.post(review_url(conversation, "verdict/"), {"decision": "approved", **fields})
    page = response.content.decode()
    assert response.status_code == 400
    assert "superuser flagged it since you opened this page" in page
    assert "typed &lt;b&gt;</textarea>" in page
    assert 'value="kept"' in page
    assert 'name="_changelist_filters" value="q=x"' in page
    assert Review.objects.get().state == "flagged"
    newest = Verdict.objects.latest("pk")
    assert post_verdict(reviewer, conversation, "approved", seen=newest.pk) == 302
    assert Review.objects.get().state == "approved"


def test_if_two_verdicts_are_sent_at_once_the_second_is_refused(
    reviewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation, boss, decide = make_conversation(), make_account("superuser"), ReviewQuerySet.decide

    def decide_after_the_other(
        reviews: ReviewQuerySet,
        ids: list[uuid.UUID],
        user: User,
        decision: ReviewDecision,
        *,
        note: str,
        labels: list[str],
        seen: int,
    ) -> int:
        decide(reviews, ids, boss, ReviewDecision.FLAGGED, note="Wrong sum.")
        return decide(reviews, ids, user, decision, note=note, labels=labels, seen=seen)

    monkeypatch.setattr(ReviewQuerySet, "decide", decide_after_the_other)
    response = reviewer.post(review_url(conversation, "verdict/"), {"decision": "approved", "labels": "good"})
    assert response.status_code == 400
    assert "superuser flagged it since you opened this page" in response.content.decode()
    assert Review.objects.get().state == "flagged"
    assert [verdict.decision for verdict in Verdict.objects.all()] == ["flagged"]


@pytest.mark.parametrize(
    "fields",
    [
        {"decision": ""},
        {"decision": "assigned"},
        {"decision": "nonsense"},
        {"decision": "approved", "note": "x" * 5_001},
        {"decision": "approved", "labels": "x" * 41},
        {"decision": "approved", "labels": ",".join(map(str, range(21)))},
        {"decision": "approved", "seen": "x"},
        {"decision": "approved", "seen": "9" * 40},
    ],
)
def test_invalid_verdict_is_refused_with_a_sentence(reviewer: Client, fields: dict[str, str]) -> None:
    response = reviewer.post(review_url(make_conversation(), "verdict/"), fields)
    assert response.status_code == 400
    assert 'class="errornote" role="alert"' in response.content.decode()
    assert not Verdict.objects.exists()
    assert not Review.objects.exists()


def test_labels_of_a_verdict_may_contain_any_characters(reviewer: Client) -> None:
    conversation = make_conversation()
    assert post_verdict(reviewer, conversation, "noted", labels="Ünicode, 图表, a\x00b, ', <b>") == 302
    assert {label.name for label in Review.objects.get().labels.all()} == {"Ünicode", "图表", "ab", "'", "<b>"}
