"""Django's admin site, extended: its actions refuse malformed ids of rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.contrib.admin.apps import AdminConfig as DjangoAdminConfig
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Model]
else:
    ModelAdmin = admin.ModelAdmin  # without a type argument, which only type checkers read


class CheckedActionsMixin(ModelAdmin):
    """Checks the selected ids before an action runs. Django would fail with status 500."""

    def response_action(
        self, request: HttpRequest, queryset: QuerySet[Model], *args: object, **kwargs: object
    ) -> HttpResponse | None:
        """Run the action, or show an error if an id is malformed. `None`: show the list again."""
        key = self.model._meta.pk
        try:
            for selected in request.POST.getlist(ACTION_CHECKBOX_NAME):
                key.run_validators(key.to_python(selected))
        except ValidationError:
            self.message_user(request, "One of the selected rows does not exist. Select again.", messages.ERROR)
            return None
        return super().response_action(request, queryset)


class AdminSite(admin.AdminSite):
    """An admin site in which every list, also of other packages, validates the ids of the rows chosen for an action."""

    def register(
        self,
        model_or_iterable: type[Model] | Iterable[type[Model]],
        admin_class: type[admin.ModelAdmin[Any]] | None = None,
        **options: Any,
    ) -> None:
        """Register models with a class derived from `admin_class` and `CheckedActionsMixin`."""
        base = admin_class or admin.ModelAdmin
        super().register(model_or_iterable, type(base.__name__, (CheckedActionsMixin, base), {}), **options)


class AdminConfig(DjangoAdminConfig):
    """Makes `AdminSite` the default site."""

    default_site = "config.admin_site.AdminSite"
