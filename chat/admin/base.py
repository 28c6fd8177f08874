"""Base classes of the admins: read-only rows, lists with fields in their rows, and deletion by superusers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.actions import delete_selected
from django.core.exceptions import ValidationError
from django.db.models import Count, Model, OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext, gettext_lazy

from chat.vocabulary.number_text import group_thousands

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise as StrPromise

M = TypeVar("M", bound=Model)


class ReadOnlyMixin:
    """Forbids everybody to add, change or delete rows, because only the product itself writes them."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class ReadOnlyAdmin(ReadOnlyMixin, admin.ModelAdmin[M], Generic[M]):
    """An admin whose pages can only be read. Its list can be filtered only by the declared filters."""

    show_facets = admin.ShowFacets.NEVER
    show_full_result_count = False

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Return whether a URL parameter belongs to a declared filter.

        Django would allow every column of the model, so that staff could guess the content of columns they do not see.
        """
        names: set[str] = set()
        for declared in self.get_list_filter(request):
            if isinstance(declared, type) and issubclass(declared, admin.ListFilter):
                names.update(getattr(declared, "parameter_names", ()) or [getattr(declared, "parameter_name", "")])
            else:
                names.add(str(declared[0] if isinstance(declared, tuple) else declared))
        return any(lookup == name or lookup.startswith(f"{name}__") for name in names)


class RowForm(forms.ModelForm[Model]):
    """The form in one row of a list. Its fields have no labels, so each is named after its column and its row."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Set `aria-label` of each field."""
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.widget.attrs["aria-label"] = gettext("%(column)s of %(row)s") % {
                "column": field.label,
                "row": self.instance,
            }


class EditableListAdmin(admin.ModelAdmin[M]):
    """A list whose rows have form fields (`list_editable`)."""

    def get_changelist_form(self, request: HttpRequest, **options: Any) -> type[forms.ModelForm[Any]]:
        """Return a form of a row, as a subclass of `RowForm`."""
        return super().get_changelist_form(request, form=RowForm, **options)


DELETED_AT_ONCE = 10_000
"""Maximum number of rows of one deletion. An SQLite query accepts that many ids as parameters."""
NAMES_SHOWN = 20
"""Maximum number of rows that the confirmation page names. Of the other rows it shows only the number."""


class WholeDeletionAdmin(admin.ModelAdmin[M], Generic[M]):
    """Lets superusers delete rows together with everything that depends on them.

    The rows are hidden at once. Threads of the web processes delete what depends on them.
    """

    delete_selected_confirmation_template = "admin/delete_many.html"

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return whether the user is an active superuser."""
        return bool(request.user.is_active and request.user.is_superuser)

    def get_deleted_objects(
        self, objs: Sequence[M] | QuerySet[M], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Name some of the rows on the confirmation page, and count all of them and what depends on them.

        Django would list thousands of dependent parts and events, and check permissions for each of their models.
        """
        rows = list(objs)
        names = [self.get_row_name(request, row) for row in rows[:NAMES_SHOWN]]
        if more := len(rows) - len(names):
            names.append(gettext("and %(number)s more") % {"number": group_thousands(more)})
        counts = {str(rows[0]._meta.verbose_name_plural): len(rows)} if rows else {}
        return names, counts | self.count_dependent([row.pk for row in rows]), set(), []

    def count_dependent(self, ids: Sequence[Any]) -> dict[str, int]:
        """Return how many dependent rows of each kind are deleted with the rows; the keys are translated names."""
        raise NotImplementedError

    @admin.action(permissions=["delete"], description=gettext_lazy("Delete selected %(verbose_name_plural)s"))
    def delete_selected(self, request: HttpRequest, queryset: QuerySet[M]) -> HttpResponse | None:
        """Ask before rows are deleted, then delete exactly those that the confirmation page asked about.

        The page sends their ids in one field. Django's own page has one field for each row, which Django itself would
        refuse above 1000 fields.
        """
        confirmed = request.POST.get("confirmed_ids", "")
        if confirmed.count(",") >= DELETED_AT_ONCE or queryset[: DELETED_AT_ONCE + 1].count() > DELETED_AT_ONCE:
            text = gettext("At most %(number)s can be deleted at once. Use the filters to select fewer.")
            messages.error(request, text % {"number": group_thousands(DELETED_AT_ONCE)})
            return None
        if request.POST.get("post") and confirmed:
            key = self.model._meta.pk
            try:
                ids = [key.to_python(text) for text in confirmed.split(",")]
                for pk in ids:
                    key.run_validators(pk)
            except ValidationError:
                # Only a forged form has invalid ids.
                return None
            queryset = self.get_queryset(request).filter(pk__in=ids)
        return delete_selected(self, request, queryset)

    def get_row_name(self, request: HttpRequest, row: M) -> str:
        """Return the name of a row on the confirmation page."""
        return str(row)

    def delete_model(self, request: HttpRequest, obj: M) -> None:
        """Delete one row and everything that depends on it."""
        raise NotImplementedError


def id_column(name: str, description: StrPromise) -> Callable[[Model], str]:
    """Return a list column that shows the id in a foreign key. Django would give it an English title."""

    @admin.display(description=description, ordering=name)
    def column(row: Model) -> str:
        return str(getattr(row, name))

    column.__name__ = name
    return column


def count_related(model: type[Model], foreign_key: str) -> Subquery:
    """Return a subquery that counts the rows of `model` whose foreign key is the outer row; null if there are none."""
    rows = model._default_manager.filter(**{foreign_key: OuterRef("pk")}).order_by()
    return Subquery(rows.values(foreign_key).annotate(rows=Count("pk")).values("rows"))
