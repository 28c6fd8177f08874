"""Filters of the review queue with input fields: label, user, and the period of the last change."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time
from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ChangeList
from django.db.models import Model
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy, pgettext_lazy

from chat.admin.filters import AnyAdmin, Choices, Conversations
from chat.models import Review, User


class TextFilter(admin.SimpleListFilter):
    """A filter with a text box in place of a list of choices."""

    template = "admin/chat/conversation/_typed_filter.html"

    def lookups(self, request: HttpRequest, model_admin: AnyAdmin) -> Choices:
        """Return no choices."""
        return []

    def has_output(self) -> bool:
        """Return True, because Django would hide a filter without choices."""
        return True

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        """Yield the other URL parameters, which the template submits as hidden inputs."""
        yield from other_parameters(changelist, self.parameter_name or "")

    def text(self) -> str:
        """Return the entered text without NUL characters, which PostgreSQL rejects."""
        return (self.value() or "").replace("\x00", "").strip()


class LabelFilter(TextFilter):
    """Filters by a label, ignoring case."""

    title = pgettext_lazy("review", "label")
    parameter_name = "label"

    def queryset(self, request: HttpRequest, queryset: Conversations) -> Conversations:
        """Return the conversations with this label."""
        label = self.text()
        if not label:
            return queryset
        return queryset.filter(pk__in=Review.labels.through.objects.filter(label__name__iexact=label).values("review"))


class UserFilter(TextFilter):
    """Filters by the beginning of the owner's username, ignoring case."""

    title = gettext_lazy("user")
    parameter_name = "user"

    def queryset(self, request: HttpRequest, queryset: Conversations) -> Conversations:
        """Return the conversations of all users whose name begins with the text."""
        name = self.text()
        if not name:
            return queryset
        return queryset.filter(owner__in=User.objects.filter(username__istartswith=name).order_by())


class PeriodFilter(admin.ListFilter):
    """Filters by the day of the last change; both ends of the period are included."""

    title = gettext_lazy("last change")
    template = "admin/chat/conversation/_period_filter.html"
    parameter_names: ClassVar[tuple[str, ...]] = ("from", "to")

    def __init__(
        self, request: HttpRequest, params: dict[str, list[str]], model: type[Model], model_admin: AnyAdmin
    ) -> None:
        super().__init__(request, params, model, model_admin)
        for name in self.parameter_names:
            if name in params:
                self.used_parameters[name] = params.pop(name)[-1].strip()

    def has_output(self) -> bool:
        """Return True: the filter is always shown."""
        return True

    def expected_parameters(self) -> list[str | None]:
        """Return the names of the URL parameters."""
        return list(self.parameter_names)

    def choices(self, changelist: ChangeList) -> Iterator[dict[str, object]]:
        """Yield the other URL parameters, which the template submits as hidden inputs."""
        yield from other_parameters(changelist, *self.parameter_names)

    def queryset(self, request: HttpRequest, queryset: Conversations) -> Conversations:
        """Return the conversations of the period. Raise IncorrectLookupParameters for an invalid date."""
        first, last = (_parse_day(str(self.used_parameters.get(name, ""))) for name in self.parameter_names)
        if first:
            queryset = queryset.filter(updated_at__gte=_local_datetime(first, time.min))
        return queryset.filter(updated_at__lte=_local_datetime(last, time.max)) if last else queryset


def _parse_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as error:
        raise IncorrectLookupParameters from error


def _local_datetime(day: date, at: time) -> datetime:
    return timezone.make_aware(datetime.combine(day, at))


def other_parameters(changelist: ChangeList, *names: str) -> Iterator[dict[str, object]]:
    """Yield `name` and `value` of every URL parameter of the list except `names`."""
    for name, values in changelist.get_filters_params().items():
        if name not in names:
            yield from ({"name": name, "value": value} for value in values)
    if changelist.query:
        yield {"name": "q", "value": changelist.query}
