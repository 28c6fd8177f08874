"""The review queue: the list of conversations with filters, search and the order in which reviewers work.

A page of the list needs a constant number of queries. The page of one conversation is in `review_page`.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ChangeList
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery, Sum
from django.http import HttpRequest, HttpResponse, QueryDict
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy

from chat.admin import filters, input_filters
from chat.admin.base import ReadOnlyAdmin, count_related
from chat.admin.read_access import get_visible_title, list_ids_with_reason, may_read_conversations
from chat.models import Conversation, Feedback, Message, Review, ReviewState, Turn
from chat.models.full_text.query import parse
from chat.models.search import ContainsTerm
from chat.models.sql_functions import TotalTokens

SEARCH_LIMIT = 200
"""Maximum length of a search text, in characters; the rest is ignored."""


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """A conversation's values in the list that are not columns of the conversation."""

    state: str = ReviewState.UNREVIEWED
    assignee: str = ""
    labels: tuple[str, ...] = ()
    messages: int = 0
    last_turn_status: str = ""
    """Empty if there is no turn."""
    tokens: int = 0
    good_answers: int = 0
    bad_answers: int = 0


EMPTY_ENTRY = QueueEntry()


def load_entries(ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, QueueEntry]:
    """Return the entries of these conversations by id, in three queries. Deleted conversations are left out."""
    reviews = {
        review.pk: review
        for review in Review.objects.filter(pk__in=ids).select_related("assignee").prefetch_related("labels")
    }
    turns = Turn.objects.filter(conversation=OuterRef("pk"))
    tokens = turns.order_by().values("conversation").annotate(tokens=Sum(TotalTokens("usage"))).values("tokens")
    rows = (
        Conversation.objects.filter(pk__in=ids)
        .order_by()
        .values_list(
            "pk",
            count_related(Message, "conversation"),
            Subquery(turns.order_by("-created_at").values("status")[:1]),
            Subquery(tokens),
            _count_feedback(is_good=True),
            _count_feedback(is_good=False),
        )
    )
    entries = {}
    for pk, messages, last_turn_status, used_tokens, good_answers, bad_answers in rows:
        review = reviews.get(pk)
        entries[pk] = QueueEntry(
            state=review.state if review else ReviewState.UNREVIEWED,
            assignee=review.assignee.get_username() if review and review.assignee else "",
            labels=tuple(label.name for label in review.labels.all()) if review else (),
            messages=messages or 0,
            last_turn_status=last_turn_status or "",
            tokens=used_tokens or 0,
            good_answers=good_answers or 0,
            bad_answers=bad_answers or 0,
        )
    return entries


def _count_feedback(*, is_good: bool) -> Subquery:
    rows = Feedback.objects.filter(message__conversation=OuterRef("pk")).order_by().values("message__conversation")
    return Subquery(rows.annotate(count=Count("pk", filter=Q(is_good=is_good))).values("count"))


class QueueChangeList(ChangeList):
    """A page of the queue. A title that the user must not see yet is replaced by the short id."""

    def get_results(self, request: HttpRequest) -> None:
        """Load the rows of the page and their entries."""
        super().get_results(request)
        rows = list(self.result_list)
        entries = load_entries([row.pk for row in rows])
        for row in rows:
            row.queue_entry = entries.get(row.pk, EMPTY_ENTRY)
            row.title = get_visible_title(request, row)
        self.result_list = rows


class FilteredChangeList(QueueChangeList):
    """Has the filters and the order of the queue, but loads no rows. `find_neighbours` uses it."""

    def get_results(self, request: HttpRequest) -> None:
        """Load no rows."""
        self.result_list, self.result_count, self.full_result_count = [], 0, None
        self.multi_page, self.can_show_all = False, False


class QueueAdmin(ReadOnlyAdmin[Conversation]):
    """The list of conversations."""

    list_display = (
        "visible_title",
        "owner_name",
        "state",
        "labels",
        "feedback",
        "last_turn",
        "message_and_token_count",
        "last_change",
    )
    list_display_links = ("visible_title",)
    empty_value_display = ""
    list_filter = (
        filters.StateFilter,
        filters.AssigneeFilter,
        filters.FeedbackFilter,
        filters.LastTurnFilter,
        filters.FailedCodeFilter,
        filters.GraphsFilter,
        filters.NumbersFilter,
        input_filters.UserFilter,
        input_filters.LabelFilter,
        input_filters.PeriodFilter,
        filters.ModelFilter,
        filters.TokensFilter,
    )
    list_per_page = 25
    list_max_show_all = 25
    # Makes Django show the search box; `get_search_results` decides what is searched.
    search_fields = ("title",)
    search_help_text = gettext_lazy(
        "An id, or words of titles and messages; “quotes” keep words together."
        " Where reasons are asked for, only what you have opened with one is searched for words."
    )
    ordering = ("-updated_at", "-pk")
    sortable_by = ("last_change",)

    def has_review_permission(self, request: HttpRequest) -> bool:
        """Return whether the user may write verdicts."""
        return may_read_conversations(request) and bool(request.user.has_perm("chat.change_review"))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conversation]:
        """Return the conversations with their owners, of whom only the name is loaded."""
        rows = Conversation.objects.kept().select_related("owner").order_by(*self.ordering)
        return rows.defer("system_instruction", "owner__password", "owner__email")

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> HttpResponse:
        """Render the list over the full width of the window."""
        context = {
            "title": gettext("Conversations to review"),
            "is_nav_sidebar_enabled": False,
            **(extra_context or {}),
        }
        return super().changelist_view(request, context)

    def get_changelist(self, request: HttpRequest, **kwargs: object) -> type[ChangeList]:
        """Return the class that loads a page of rows. For `find_neighbours`, return the class that loads no rows."""
        return FilteredChangeList if getattr(request, "needs_only_filters", False) else QueueChangeList

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Conversation], search_term: str
    ) -> tuple[QuerySet[Conversation], bool]:
        """Search by id, or in the full-text index.

        If reasons are required, the index search covers only conversations for which the user has entered one. A search
        in all conversations would reveal who wrote what, without an entry in the access log.
        """
        if not search_term.strip():
            return queryset, False
        try:
            return queryset.filter(pk=uuid.UUID(search_term.strip())), False
        except ValueError:
            pass
        terms = parse(search_term[:SEARCH_LIMIT])
        if settings.REVIEW_NEEDS_REASON:
            queryset = queryset.filter(pk__in=list_ids_with_reason(request))
        return (queryset.filter(*(ContainsTerm(term) for term in terms)) if terms else queryset.none()), False

    @admin.display(description=gettext_lazy("conversation"))
    def visible_title(self, conversation: Conversation) -> str:
        """Title, or its replacement by `QueueChangeList` if the user may not read it."""
        return str(conversation)

    @admin.display(description=gettext_lazy("user"))
    def owner_name(self, conversation: Conversation) -> str:
        """Username of the owner."""
        return conversation.owner.get_username()

    @admin.display(description=gettext_lazy("review"))
    def state(self, conversation: Conversation) -> SafeString:
        """State of the review, and its assignee."""
        entry = _entry_of(conversation)
        context = {"state": ReviewState(entry.state), "name": entry.assignee}
        return render_to_string("admin/chat/conversation/_state.html", context)

    @admin.display(description=gettext_lazy("labels"))
    def labels(self, conversation: Conversation) -> str:
        """Labels of the review, separated by commas."""
        return ", ".join(_entry_of(conversation).labels)

    @admin.display(description=gettext_lazy("feedback"))
    def feedback(self, conversation: Conversation) -> str:
        """Number of answers that the owner rated as good and as bad."""
        entry = _entry_of(conversation)
        counts = ((entry.good_answers, gettext("good")), (entry.bad_answers, gettext("bad")))
        return ", ".join(f"{count} {word}" for count, word in counts if count)

    @admin.display(description=gettext_lazy("last turn"))
    def last_turn(self, conversation: Conversation) -> str:
        """Status of the newest turn."""
        status = _entry_of(conversation).last_turn_status
        return gettext(status) if status else ""

    @admin.display(description=gettext_lazy("messages / tokens"))
    def message_and_token_count(self, conversation: Conversation) -> str:
        """Number of messages, and tokens of all answers."""
        entry = _entry_of(conversation)
        return f"{entry.messages:,} / {entry.tokens:,}"

    @admin.display(description=gettext_lazy("last change"), ordering="updated_at")
    def last_change(self, conversation: Conversation) -> str:
        """Time of the last change, in the server's time zone."""
        return f"{timezone.localtime(conversation.updated_at):%Y-%m-%d %H:%M}"

    def find_neighbours(
        self, request: HttpRequest, conversation: Conversation, list_filters: str
    ) -> tuple[uuid.UUID | None, uuid.UUID | None]:
        """Return the ids of the previous and the next conversation in the list, or `None` at an end of it.

        `list_filters` is the query string of the list. The conversation itself may no longer match the filters; only
        its position in the list's order counts.
        """
        changelist_request: Any = copy(request)
        changelist_request.GET, changelist_request.needs_only_filters = QueryDict(list_filters), True
        try:
            changelist = self.get_changelist_instance(changelist_request)
        except IncorrectLookupParameters:
            changelist_request.GET = QueryDict()
            changelist = self.get_changelist_instance(changelist_request)
        # The list can only be sorted by its last change; the newest come first by default.
        is_ascending = changelist.get_ordering(changelist_request, changelist.root_queryset)[0] == "updated_at"
        at = conversation.updated_at
        older, newer = Q(updated_at__lt=at), Q(updated_at__gt=at)
        is_next = (newer if is_ascending else older) | Q(updated_at=at, pk__lt=conversation.pk)
        is_previous = (older if is_ascending else newer) | Q(updated_at=at, pk__gt=conversation.pk)
        forwards, backwards = ("updated_at", "-updated_at") if is_ascending else ("-updated_at", "updated_at")
        rows = changelist.queryset.select_related(None).values_list("pk", flat=True)
        return (
            rows.filter(is_previous).order_by(backwards, "pk").first(),
            rows.filter(is_next).order_by(forwards, "-pk").first(),
        )


def _entry_of(conversation: Conversation) -> QueueEntry:
    """Return the entry that `QueueChangeList` has attached to the row."""
    entry: QueueEntry = getattr(conversation, "queue_entry", EMPTY_ENTRY)
    return entry
