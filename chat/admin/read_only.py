"""Admins of what the product writes: forms that change nothing, and deletion as the product does it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from django.contrib import admin
from django.db import transaction
from django.db.models import Count, Model, OuterRef, QuerySet, Subquery
from django.http import HttpRequest

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
    TabularInline = admin.TabularInline[Any, Any]
else:
    ModelAdmin = admin.ModelAdmin
    TabularInline = admin.TabularInline

M = TypeVar("M", bound=Model)


class ReadOnly:
    """No form of the admin writes these rows."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Rows are made by the product."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Rows are changed by the product."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Rows go with their conversation."""
        return False


class DeletesWhole(Generic[M]):
    """Superusers delete these with all that hangs from them, as the product itself would."""

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Superusers alone."""
        return bool(request.user.is_active and request.user.is_superuser)

    def get_deleted_objects(
        self, objs: Sequence[M] | QuerySet[M], request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[Any]]:
        """Name the rows alone: the thousands of parts and events below them go without being asked for one by one."""
        rows = list(objs)
        names = [self.name_of(request, row) for row in rows]
        return names, {str(row._meta.verbose_name_plural): len(rows) for row in rows}, set(), []

    def name_of(self, request: HttpRequest, row: M) -> str:
        """What a row is called on the page that asks."""
        return str(row)

    def delete_model(self, request: HttpRequest, obj: M) -> None:
        """Delete one."""
        raise NotImplementedError

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[M]) -> None:
        """Delete all of them or none."""
        with transaction.atomic():
            for row in queryset:
                self.delete_model(request, row)


def count_of(model: type[Model], foreign_key: str) -> Subquery:
    """How many rows of `model` point to the outer row; null when none does."""
    rows = model._default_manager.filter(**{foreign_key: OuterRef("pk")}).order_by()
    return Subquery(rows.values(foreign_key).annotate(rows=Count("pk")).values("rows"))
