"""The queue: conversations as a list to be worked through. What its columns show is read for one page at a time.

Pages of the list cost the same number of queries whatever there is; a page of a conversation is `page`'s matter.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ChangeList
from django.db.models import BigIntegerField, Count, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.http import HttpRequest, HttpResponse, QueryDict
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString

from chat.admin import filters, guard
from chat.admin.guard import DeclaredLookups
from chat.admin.read_only import ModelAdmin, count_of
from chat.models import Conversation, Feedback, Message, Review, State, Turn
from chat.models.search import Holds
from chat.search.query import parse


@dataclass(frozen=True, slots=True)
class InQueue:
    """What the list shows of one conversation besides its own columns."""

    state: str
    assignee: str
    labels: tuple[str, ...]
    messages: int
    last_status: str
    tokens: int
    good: int
    bad: int


UNKNOWN = InQueue(State.UNREVIEWED, "", (), 0, "", 0, 0, 0)


def in_queue(ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, InQueue]:
    """Of a page's conversations, in three queries."""
    reviews = {
        review.pk: review
        for review in Review.objects.filter(pk__in=ids).select_related("assignee").prefetch_related("labels")
    }
    last = Turn.objects.filter(conversation=OuterRef("pk")).order_by("-created_at")
    turns = Turn.objects.filter(conversation=OuterRef("pk")).order_by().values("conversation")
    used = turns.annotate(used=Sum(Cast(KeyTextTransform("total", "usage"), BigIntegerField()))).values("used")
    rated = Feedback.objects.filter(message__conversation=OuterRef("pk")).order_by().values("message__conversation")
    rows = (
        Conversation.objects.filter(pk__in=ids)
        .order_by()
        .values_list(
            "pk",
            count_of(Message, "conversation"),
            Subquery(last.values("status")[:1]),
            Subquery(used),
            Subquery(rated.annotate(number=Count("pk", filter=Q(is_good=True))).values("number")),
            Subquery(rated.annotate(number=Count("pk", filter=Q(is_good=False))).values("number")),
        )
    )
    found = {}
    for pk, messages, status, tokens, good, bad in rows:
        review = reviews.get(pk)
        found[pk] = InQueue(
            state=review.state if review else State.UNREVIEWED,
            assignee=review.assignee.get_username() if review and review.assignee else "",
            labels=tuple(label.name for label in review.labels.all()) if review else (),
            messages=messages or 0,
            last_status=status or "",
            tokens=tokens or 0,
            good=good or 0,
            bad=bad or 0,
        )
    return found


class QueueList(ChangeList):
    """A page of the queue; without the reason that is asked for, titles are not in it at all."""

    def get_results(self, request: HttpRequest) -> None:
        """Read the page's rows, and what the columns show of them."""
        super().get_results(request)
        rows = list(self.result_list)
        known = in_queue([row.pk for row in rows])
        for row in rows:
            row.in_queue = known.get(row.pk, UNKNOWN)
            row.title = guard.shown_title(request, row)
        self.result_list = rows


class QueueWalk(QueueList):
    """The same filters and order, for the conversation that comes next."""

    def get_results(self, request: HttpRequest) -> None:
        """Nothing is listed."""
        self.result_list, self.result_count, self.full_result_count = [], 0, None
        self.multi_page, self.can_show_all = False, False


if TYPE_CHECKING:
    _Base = ModelAdmin
else:
    _Base = object


class QueueAdmin(DeclaredLookups, _Base):
    """The list of `ConversationAdmin`."""

    list_display = (
        "title_shown",
        "owner_name",
        "state",
        "labels",
        "feedback",
        "last_turn",
        "used",
        "changed",
    )
    list_display_links = ("title_shown",)
    empty_value_display = ""
    list_filter = (
        filters.StateFilter,
        filters.AssigneeFilter,
        filters.FeedbackFilter,
        filters.LastTurnFilter,
        filters.FailedCodeFilter,
        filters.GraphsFilter,
        filters.UserFilter,
        filters.LabelFilter,
        filters.PeriodFilter,
        filters.ModelFilter,
        filters.TokensFilter,
    )
    list_per_page = 25
    list_max_show_all = 25
    search_fields = ("title",)  # its box; what is searched, `get_search_results` says
    search_help_text = (
        "An id, or words of titles and messages; “quotes” keep words together."
        " Where reasons are asked for, only what you have opened with one is searched for words."
    )
    ordering = ("-updated_at", "-pk")
    sortable_by = ("changed",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conversation]:
        """With their owners, of whom the list needs the name."""
        rows = Conversation.objects.select_related("owner").order_by(*self.ordering)
        return rows.defer("system_instruction", "owner__password", "owner__email")

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The list takes all of the window's width."""
        context = {"title": "Conversations to review", "is_nav_sidebar_enabled": False, **(extra_context or {})}
        return super().changelist_view(request, context)

    def get_changelist(self, request: HttpRequest, **kwargs: object) -> type[ChangeList]:
        """As a page, or for what comes next."""
        return QueueWalk if getattr(request, "is_walk", False) else QueueList

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Conversation], search_term: str
    ) -> tuple[QuerySet[Conversation], bool]:
        """By an id, or by the index of words. Where reasons are asked for, only in what was opened with one.

        A search over all would tell who said what without a line in the log.
        """
        if not search_term.strip():
            return queryset, False
        try:
            return queryset.filter(pk=uuid.UUID(search_term.strip())), False
        except ValueError:
            pass
        terms = parse(search_term[:200])
        if settings.REVIEW_NEEDS_REASON:
            queryset = queryset.filter(pk__in=guard.opened_ids(request))
        return (queryset.filter(*map(Holds, terms)) if terms else queryset.none()), False

    @admin.display(description="conversation")
    def title_shown(self, conversation: Conversation) -> str:
        """Its title, if it may be shown."""
        return str(conversation)

    @admin.display(description="user")
    def owner_name(self, conversation: Conversation) -> str:
        """Whose it is."""
        return conversation.owner.get_username()

    @admin.display(description="review")
    def state(self, conversation: Conversation) -> SafeString:
        """Where its review stands, and who looks into it."""
        shown = _shown(conversation)
        context = {"state": State(shown.state), "name": shown.assignee}
        return render_to_string("admin/chat/conversation/_state.html", context)

    @admin.display(description="labels")
    def labels(self, conversation: Conversation) -> str:
        """What reviewers marked it with."""
        return ", ".join(_shown(conversation).labels)

    @admin.display(description="feedback")
    def feedback(self, conversation: Conversation) -> str:
        """How many answers its owner finds good and bad."""
        shown = _shown(conversation)
        counts = (f"{number} {word}" for number, word in ((shown.good, "good"), (shown.bad, "bad")) if number)
        return ", ".join(counts)

    @admin.display(description="last turn")
    def last_turn(self, conversation: Conversation) -> str:
        """How its last generation ended, or stands."""
        return _shown(conversation).last_status

    @admin.display(description="messages / tokens")
    def used(self, conversation: Conversation) -> str:
        """How long it is."""
        return f"{_shown(conversation).messages:,} / {_shown(conversation).tokens:,}"

    @admin.display(description="last change", ordering="updated_at")
    def changed(self, conversation: Conversation) -> str:
        """When something last happened in it."""
        return f"{timezone.localtime(conversation.updated_at):%Y-%m-%d %H:%M}"

    def beside(
        self, request: HttpRequest, conversation: Conversation, filters_kept: str
    ) -> tuple[uuid.UUID | None, uuid.UUID | None]:
        """Ids of the conversations before and after it in the list with these filters; None where there is none.

        It may have left the filter itself: its place in the list's order is what counts.
        """
        walked: Any = copy(request)
        walked.GET, walked.is_walk = QueryDict(filters_kept), True
        try:
            changelist = self.get_changelist_instance(walked)
        except IncorrectLookupParameters:
            walked.GET = QueryDict()
            changelist = self.get_changelist_instance(walked)
        # The one column that the list is sorted by; the newest come first unless the other way was chosen.
        is_rising = changelist.get_ordering(walked, changelist.root_queryset)[0] == "updated_at"
        at = conversation.updated_at
        lower, higher = Q(updated_at__lt=at), Q(updated_at__gt=at)
        after = (higher if is_rising else lower) | Q(updated_at=at, pk__lt=conversation.pk)
        before = (lower if is_rising else higher) | Q(updated_at=at, pk__gt=conversation.pk)
        onwards, back = ("updated_at", "-updated_at") if is_rising else ("-updated_at", "updated_at")
        rows = changelist.queryset.select_related(None).values_list("pk", flat=True)
        return (
            rows.filter(before).order_by(back, "pk").first(),
            rows.filter(after).order_by(onwards, "-pk").first(),
        )


def _shown(conversation: Conversation) -> InQueue:
    found: InQueue = getattr(conversation, "in_queue", UNKNOWN)
    return found
