"""Filters of the review queue by a choice. Each filter adds at most one subquery to the list's query."""

from __future__ import annotations

from typing import Any, TypeAlias

from django.conf import settings
from django.contrib import admin
from django.db.models import Exists, Model, OuterRef, Q, QuerySet, Sum
from django.http import HttpRequest
from django.utils.translation import gettext, gettext_lazy, gettext_noop, pgettext

from chat.models import (
    CLEARED_INDEX,
    Conversation,
    Feedback,
    LanguageModel,
    MessageAttachment,
    NumberLedger,
    Part,
    ReviewState,
    Turn,
)
from chat.models.sql_functions import TotalTokens
from chat.vocabulary.parts import OUTCOME_DEADLINE_EXCEEDED, OUTCOME_FAILED, PartKind

Choices: TypeAlias = list[tuple[str, str]]
Conversations: TypeAlias = QuerySet[Conversation]
AnyAdmin: TypeAlias = admin.ModelAdmin[Any]

TOKEN_RANGES: dict[str, tuple[int, int | None, str]] = {
    "1k": (0, 1_000, gettext_noop("under 1,000")),
    "10k": (1_000, 10_000, gettext_noop("1,000 to 10,000")),
    "100k": (10_000, 100_000, gettext_noop("10,000 to 100,000")),
    "more": (100_000, None, gettext_noop("100,000 and more")),
}
"""URL value -> minimum, exclusive maximum, label."""


class StateFilter(admin.SimpleListFilter):
    """Filters by the state of the review. A conversation without a review is unreviewed."""

    title = gettext_lazy("review")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: AnyAdmin) -> Choices:
        """Return all states."""
        return [(value, gettext(label)) for value, label in ReviewState.choices]

    def queryset(self, request: HttpRequest, queryset: Conversations) -> Conversations:
        """Return the conversations in the chosen state."""
        if self.value() == ReviewState.UNREVIEWED:
            return queryset.filter(Q(review__isnull=True) | Q(review__state=ReviewState.UNREVIEWED))
        return queryset.filter(review__state=self.value()) if self.value() in ReviewState else queryset


class AssigneeFilter(admin.SimpleListFilter):
    """Filters by the assignee of the review."""

    title = gettext_lazy("assigned to")
    parameter_name = "assigned"

    def lookups(self, request: HttpRequest, model_admin: AnyAdmin) -> Choices:
        """Return the choices; `me` is the user of the request."""
        return [("me", gettext("me")), ("anyone", gettext("anyone")), ("nobody", gettext("nobody"))]

    def queryset(self, request: HttpRequest, queryset: Conversations) -> Conversations:
        """Return the conversations with the chosen assignee."""
        match self.value():
            case "me":
                return queryset.filter(review__assignee=request.user.pk)
            case "anyone":
                return queryset.filter(review__assignee__isnull=False)
            case "nobody":
                return queryset.filter(review__assignee__isnull=True)
        return queryset


class ModelFilter(admin.SimpleListFilter):
    """Filters by a language model that answered in the conversation."""

    title = gettext_lazy("model")
    parameter_name = "model"

    def lookups(self, request: HttpRequest, model_admin: AnyAdmin) -> Choices:
        """Return the models of the catalogue, and those of the settings, which may not be in the catalogue."""
        configured = {settings.DEFAULT_MODEL, *settings.OPENAI_MODELS}
        names = {*LanguageModel.objects.values_list("name", flat=True), *configured} - {""}
        return [(name, name) for name in sorted(names)]

    def queryset(self, request: HttpRequest, queryset: Conversations) -> Conversations:
        """Return the conversations with an answer of this model."""
        name = (self.value() or "").replace("\x00", "")
        if not name:
            return queryset
        return queryset.filter(pk__in=Turn.objects.filter(model=name).order_by().values("conversation"))


class YesNoFilter(admin.SimpleListFilter):
    """Base class of filters by a property that a conversation has or does not have."""

    def lookups(self, request: HttpRequest, model_admin: AnyAdmin) -> Choices:
        """Return both choices."""
        return [("yes", gettext("yes")), ("no", gettext("no"))]

    def conversation_ids(self) -> QuerySet[Model, object]:
        """Return the ids of the conversations that have the property."""
        raise NotImplementedError

    def queryset(self, request: HttpRequest, queryset: Conversations) -> Conversations:
        """Return the conversations with or without the property."""
        if self.value() == "yes":
            return queryset.filter(pk__in=self.conversation_ids())
        return queryset.exclude(pk__in=self.conversation_ids()) if self.value() == "no" else queryset


class FailedCodeFilter(YesNoFilter):
    """Filters by whether code of an answer failed. Answers in other versions count too."""

    title = gettext_lazy("failed code")
    parameter_name = "failed_code"

    def conversation_ids(self) -> QuerySet[Model, object]:
        """Return the conversations with an outcome that is known to be a failure."""
        failures = [OUTCOME_FAILED, OUTCOME_DEADLINE_EXCEEDED]
        results = Part.objects.filter(kind=PartKind.CODE_EXECUTION_RESULT, data__outcome__in=failures)
        return results.order_by().values("message__conversation")


class GraphsFilter(YesNoFilter):
    """Filters by whether code drew a graph."""

    title = gettext_lazy("graphs")
    parameter_name = "graphs"

    def conversation_ids(self) -> QuerySet[Model, object]:
        """Return the conversations with a graph."""
        links = MessageAttachment.objects.filter(attachment__is_graph=True, index__lt=CLEARED_INDEX)
        return links.order_by().values("message__conversation")


class NumbersFilter(YesNoFilter):
    """Filters by whether an answer has numbers without a source. Answers in other versions count too."""

    title = gettext_lazy("numbers without a source")
    parameter_name = "unsourced_numbers"

    def conversation_ids(self) -> QuerySet[Model, object]:
        """Return the conversations with such an answer, of those whose numbers were traced."""
        return NumberLedger.objects.filter(without_source__gt=0).order_by().values("message__conversation")


class FeedbackFilter(admin.SimpleListFilter):
    """Filters by the owner's feedback on any answer."""

    title = gettext_lazy("feedback")
    parameter_name = "feedback"

    def lookups(self, request: HttpRequest, model_admin: AnyAdmin) -> Choices:
        """Return the choices."""
        return [("good", gettext("good")), ("bad", gettext("bad")), ("none", pgettext("feedback", "none"))]

    def queryset(self, request: HttpRequest, queryset: Conversations) -> Conversations:
        """Return the conversations with the chosen feedback, or without any feedback."""
        feedback = Feedback.objects.order_by()
        if self.value() == "none":
            return queryset.exclude(pk__in=feedback.values("message__conversation"))
        if self.value() in ("good", "bad"):
            rows = feedback.filter(is_good=self.value() == "good")
            return queryset.filter(pk__in=rows.values("message__conversation"))
        return queryset


class TokensFilter(admin.SimpleListFilter):
    """Filters by the tokens of all answers together."""

    title = gettext_lazy("tokens")
    parameter_name = "tokens"

    def lookups(self, request: HttpRequest, model_admin: AnyAdmin) -> Choices:
        """Return all ranges."""
        return [(value, gettext(label)) for value, (_, _, label) in TOKEN_RANGES.items()]

    def queryset(self, request: HttpRequest, queryset: Conversations) -> Conversations:
        """Return the conversations in the range. A conversation without answers used 0 tokens."""
        if self.value() not in TOKEN_RANGES:
            return queryset
        minimum, maximum, _ = TOKEN_RANGES[self.value() or ""]
        sums = Turn.objects.order_by().values("conversation").annotate(tokens=Sum(TotalTokens("usage")))
        if not minimum:
            return queryset.exclude(pk__in=sums.filter(tokens__gte=maximum).values("conversation"))
        sums = sums.filter(tokens__gte=minimum)
        if maximum is not None:
            sums = sums.filter(tokens__lt=maximum)
        return queryset.filter(pk__in=sums.values("conversation"))


class LastTurnFilter(admin.SimpleListFilter):
    """Filters by the status of the last turn."""

    title = gettext_lazy("last turn")
    parameter_name = "last_turn"

    def lookups(self, request: HttpRequest, model_admin: AnyAdmin) -> Choices:
        """Return all statuses of turns."""
        return [(status.value, gettext(status.value)) for status in Turn.Status]

    def queryset(self, request: HttpRequest, queryset: Conversations) -> Conversations:
        """Return the conversations whose newest turn has this status."""
        if self.value() not in Turn.Status:
            return queryset
        later = Turn.objects.filter(conversation=OuterRef("conversation"), created_at__gt=OuterRef("created_at"))
        last = Turn.objects.filter(~Exists(later), status=self.value()).order_by()
        return queryset.filter(pk__in=last.values("conversation"))
