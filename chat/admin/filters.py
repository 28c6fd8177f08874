"""What the queue is narrowed by. Each filter is one subquery, which a page of ten thousand conversations bears."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time
from typing import Any, ClassVar

from django.conf import settings
from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.auth.models import User
from django.db.models import BigIntegerField, Exists, OuterRef, Q, QuerySet, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.http import HttpRequest
from django.utils import timezone

from chat.models import Conversation, Feedback, LanguageModel, MessageAttachment, Part, Review, State, Turn
from chat.parts import OUTCOME_OK, PartKind

Choices = list[tuple[str, str]]
Queue = QuerySet[Conversation]

YES_NO: Choices = [("yes", "yes"), ("no", "no")]
TOKENS: dict[str, tuple[int, int | None, str]] = {
    "1k": (0, 1_000, "under 1,000"),
    "10k": (1_000, 10_000, "1,000 to 10,000"),
    "100k": (10_000, 100_000, "10,000 to 100,000"),
    "more": (100_000, None, "100,000 and more"),
}


class StateFilter(admin.SimpleListFilter):
    """Without a row it is unreviewed."""

    title = "review"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:  # noqa: ANN401 - as Django has it
        """All states."""
        return State.choices

    def queryset(self, request: HttpRequest, queryset: Queue) -> Queue:
        """In this state."""
        if self.value() == State.UNREVIEWED:
            return queryset.filter(Q(review__isnull=True) | Q(review__state=State.UNREVIEWED))
        return queryset.filter(review__state=self.value()) if self.value() in State else queryset


class AssigneeFilter(admin.SimpleListFilter):
    """Whose it is."""

    title = "assigned to"
    parameter_name = "assigned"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:  # noqa: ANN401
        """From where the reader stands."""
        return [("me", "me"), ("anyone", "anyone"), ("nobody", "nobody")]

    def queryset(self, request: HttpRequest, queryset: Queue) -> Queue:
        """Theirs."""
        match self.value():
            case "me":
                return queryset.filter(review__assignee=request.user.pk)
            case "anyone":
                return queryset.filter(review__assignee__isnull=False)
            case "nobody":
                return queryset.filter(review__assignee__isnull=True)
        return queryset


class LabelFilter(admin.SimpleListFilter):
    """A word, as reviewers wrote it."""

    title = "label"
    parameter_name = "label"
    template = "admin/chat/conversation/_typed_filter.html"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:  # noqa: ANN401
        """Typed, not chosen."""
        return []

    def has_output(self) -> bool:
        """Always."""
        return True

    def choices(self, changelist: Any) -> Iterator[Any]:  # noqa: ANN401
        """What else is in the address, to be sent along."""
        yield from kept_parameters(changelist, self.parameter_name)

    def queryset(self, request: HttpRequest, queryset: Queue) -> Queue:
        """With this label."""
        word = self.typed()
        labelled = Review.labels.through.objects.filter(label__name__iexact=word)
        return queryset.filter(pk__in=labelled.values("review")) if word else queryset

    def typed(self) -> str:
        """What was typed; without NUL, which PostgreSQL does not take."""
        return (self.value() or "").replace("\x00", "").strip()


class UserFilter(LabelFilter):
    """Whose conversation it is, by how the name begins."""

    title = "user"
    parameter_name = "user"

    def queryset(self, request: HttpRequest, queryset: Queue) -> Queue:
        """Of people with such a name."""
        name = self.typed()
        if not name:
            return queryset
        return queryset.filter(owner__in=User.objects.filter(username__istartswith=name).order_by())


class ModelFilter(admin.SimpleListFilter):
    """Which model answered."""

    title = "model"
    parameter_name = "model"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:  # noqa: ANN401
        """Those of the catalogue, and the server's default, which may have no row there."""
        names = {*LanguageModel.objects.values_list("name", flat=True), settings.GEMINI_MODEL} - {""}
        return [(name, name) for name in sorted(names)]

    def queryset(self, request: HttpRequest, queryset: Queue) -> Queue:
        """With an answer of it."""
        name = (self.value() or "").replace("\x00", "")
        if not name:
            return queryset
        return queryset.filter(pk__in=Turn.objects.filter(model=name).order_by().values("conversation"))


class YesNoFilter(admin.SimpleListFilter):
    """Whether there is something."""

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:  # noqa: ANN401
        """Both."""
        return YES_NO

    def having(self) -> QuerySet[Any, Any]:
        """The ids of conversations that have it."""
        raise NotImplementedError

    def queryset(self, request: HttpRequest, queryset: Queue) -> Queue:
        """With or without it."""
        if self.value() == "yes":
            return queryset.filter(pk__in=self.having())
        return queryset.exclude(pk__in=self.having()) if self.value() == "no" else queryset


class FailedCodeFilter(YesNoFilter):
    """Whether code of an answer failed, in view or not."""

    title = "failed code"
    parameter_name = "failed_code"

    def having(self) -> QuerySet[Any, Any]:
        """By the outcomes that the provider sent."""
        results = Part.objects.filter(kind=PartKind.CODE_EXECUTION_RESULT).exclude(outcome__in=[OUTCOME_OK, ""])
        return results.order_by().values("message__conversation")


class GraphsFilter(YesNoFilter):
    """Whether there is a graph."""

    title = "graphs"
    parameter_name = "graphs"

    def having(self) -> QuerySet[Any, Any]:
        """Drawn by code."""
        links = MessageAttachment.objects.filter(attachment__is_graph=True)
        return links.order_by().values("message__conversation")


class FeedbackFilter(admin.SimpleListFilter):
    """What its owner thinks of answers."""

    title = "feedback"
    parameter_name = "feedback"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:  # noqa: ANN401
        """Any answer's."""
        return [("good", "good"), ("bad", "bad"), ("none", "none")]

    def queryset(self, request: HttpRequest, queryset: Queue) -> Queue:
        """With such feedback."""
        given = Feedback.objects.order_by()
        if self.value() == "none":
            return queryset.exclude(pk__in=given.values("message__conversation"))
        if self.value() in ("good", "bad"):
            rated = given.filter(is_good=self.value() == "good")
            return queryset.filter(pk__in=rated.values("message__conversation"))
        return queryset


class TokensFilter(admin.SimpleListFilter):
    """What all its answers used."""

    title = "tokens"
    parameter_name = "tokens"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:  # noqa: ANN401
        """Ranges."""
        return [(value, words) for value, (_, _, words) in TOKENS.items()]

    def queryset(self, request: HttpRequest, queryset: Queue) -> Queue:
        """In the range; a conversation without answers used none."""
        if self.value() not in TOKENS:
            return queryset
        least, limit, _ = TOKENS[self.value() or ""]
        total = Sum(Cast(KeyTextTransform("total", "usage"), BigIntegerField()))
        sums = Turn.objects.order_by().values("conversation").annotate(used=total)
        if not least:
            return queryset.exclude(pk__in=sums.filter(used__gte=limit).values("conversation"))
        sums = sums.filter(used__gte=least) if limit is None else sums.filter(used__gte=least, used__lt=limit)
        return queryset.filter(pk__in=sums.values("conversation"))


class LastTurnFilter(admin.SimpleListFilter):
    """How the last generation ended, or stands."""

    title = "last turn"
    parameter_name = "last_turn"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:  # noqa: ANN401
        """All states of turns."""
        return [(status.value, status.value) for status in Turn.Status]

    def queryset(self, request: HttpRequest, queryset: Queue) -> Queue:
        """Those with a turn of this state that none follows."""
        if self.value() not in Turn.Status:
            return queryset
        later = Turn.objects.filter(conversation=OuterRef("conversation"), created_at__gt=OuterRef("created_at"))
        last = Turn.objects.filter(~Exists(later), status=self.value()).order_by()
        return queryset.filter(pk__in=last.values("conversation"))


class PeriodFilter(admin.ListFilter):
    """Days between which something last happened in it, both included."""

    title = "last change"
    template = "admin/chat/conversation/_period_filter.html"
    parameter_names: ClassVar[tuple[str, ...]] = ("from", "to")

    def __init__(self, request: HttpRequest, params: dict[str, Any], model: Any, model_admin: Any) -> None:  # noqa: ANN401
        super().__init__(request, params, model, model_admin)
        for name in self.parameter_names:
            if name in params:
                self.used_parameters[name] = params.pop(name)[-1].strip()

    def has_output(self) -> bool:
        """Always."""
        return True

    def expected_parameters(self) -> list[str | None]:
        """Both ends."""
        return list(self.parameter_names)

    def choices(self, changelist: Any) -> Iterator[Any]:  # noqa: ANN401
        """What else is in the address, to be sent along."""
        yield from kept_parameters(changelist, *self.parameter_names)

    def queryset(self, request: HttpRequest, queryset: Queue) -> Queue:
        """Raises IncorrectLookupParameters for what is no day."""
        first, last = (_day(str(self.used_parameters.get(name, ""))) for name in self.parameter_names)
        if first:
            queryset = queryset.filter(updated_at__gte=_moment(first, time.min))
        return queryset.filter(updated_at__lte=_moment(last, time.max)) if last else queryset


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as error:
        raise IncorrectLookupParameters from error


def _moment(day: date, at: time) -> datetime:
    return timezone.make_aware(datetime.combine(day, at))


def kept_parameters(changelist: Any, *names: str) -> Iterator[dict[str, str]]:  # noqa: ANN401 - Django's own
    """Name and value of every parameter of the list but these."""
    for name, values in changelist.get_filters_params().items():
        if name not in names:
            yield from ({"name": name, "value": value} for value in values)
    if changelist.query:
        yield {"name": "q", "value": changelist.query}
