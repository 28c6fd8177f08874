"""The admin of endpoints: servers that speak OpenAI's protocols, with a test and the list of their models.

Whoever may change endpoints decides where this server sends requests and its users' conversations. A new installation
gives this permission only to superusers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.utils import get_deleted_objects
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_POST

from chat.models import ENDPOINT_PROVIDER, EndpointModel, LanguageModel, ModelEndpoint
from chat.providers.catalogue.endpoint_probe import check_endpoint
from chat.providers.catalogue.endpoints import endpoint_of
from chat.providers.catalogue.sync import ListUnavailable, sync_with_server
from chat.providers.openai_compatible.dialects import dialect_name


@admin.register(EndpointModel)
class EndpointModelAdmin(admin.ModelAdmin[EndpointModel]):
    """What servers have said or shown about their models. Deleting a row makes Plotline ask and learn again."""

    list_display = ("model", "endpoint", "facts", "updated_at")
    list_filter = ("endpoint",)
    search_fields = ("model",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return False: Plotline writes these rows."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: EndpointModel | None = None) -> bool:
        """Return False. Operators change settings of a model in its language model."""
        return False


@admin.register(ModelEndpoint)
class ModelEndpointAdmin(admin.ModelAdmin[ModelEndpoint]):
    """All endpoints except the one of the settings. Deleting one deletes its models too."""

    list_display = ("__str__", "base_url", "recognised_dialect", "is_enabled", "models")
    list_filter = ("is_enabled",)
    search_fields = ("name", "label", "base_url")
    prepopulated_fields = {"name": ("label",)}
    fields = ("label", "name", "base_url", "api_key_variable", "dialect", "protocol", "is_enabled")
    change_form_template = "admin/chat/modelendpoint/change_form.html"

    def get_urls(self) -> list[URLPattern]:
        """Return Django's URLs of the admin, and the URLs of the buttons that list models and test the endpoint."""
        views = {"list-models": self.list_models_view, "test": self.test_view}
        urls = [
            path(f"<int:pk>/{name}/", self.admin_site.admin_view(require_POST(view)), name=f"chat_modelendpoint_{name}")
            for name, view in views.items()
        ]
        return [*urls, *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> QuerySet[ModelEndpoint]:
        """Return the endpoints with the number of their models."""
        rows = LanguageModel.objects.filter(provider=ENDPOINT_PROVIDER, endpoint=OuterRef("name")).order_by()
        counts = rows.values("endpoint").annotate(models=Count("pk")).values("models")
        return super().get_queryset(request).annotate(model_count=Subquery(counts))

    def get_readonly_fields(self, request: HttpRequest, obj: ModelEndpoint | None = None) -> tuple[str, ...]:
        """Return `name` if the endpoint exists already, because models and turns refer to it."""
        return () if obj is None else ("name",)

    def get_prepopulated_fields(
        self, request: HttpRequest, obj: ModelEndpoint | None = None
    ) -> dict[str, Sequence[str]]:
        """Fill in the name of a new endpoint from its label."""
        return dict(self.prepopulated_fields) if obj is None else {}

    @admin.display(description=gettext_lazy("kind of server"))
    def recognised_dialect(self, row: ModelEndpoint) -> str:
        """The dialect in use, and whether Plotline recognised it by the address."""
        name = dialect_name(endpoint_of(row))
        return name if row.dialect else gettext("%(name)s (by its address)") % {"name": name}

    @admin.display(description=gettext_lazy("models"))
    def models(self, row: ModelEndpoint) -> int:
        """Number of models in the catalogue."""
        count: int | None = getattr(row, "model_count", None)
        return count or 0

    def save_model(self, request: HttpRequest, obj: ModelEndpoint, form: Form, change: bool) -> None:
        """Save the endpoint. Warn if its key is not set here."""
        super().save_model(request, obj, form, change)
        variable = obj.api_key_variable
        if variable and variable not in settings.ENDPOINT_API_KEYS:
            text = gettext(
                "The variable %(variable)s is not set on this server. Set it, then restart the server processes."
            )
            messages.warning(request, text % {"variable": variable})

    # --- deletion

    def get_deleted_objects(
        self, objs: Sequence[ModelEndpoint] | QuerySet[ModelEndpoint], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Return what a deletion of the endpoints removes: also their models, and the presets of those models."""
        names, counts, permissions, protected = super().get_deleted_objects(objs, request)
        models = LanguageModel.objects.filter(provider=ENDPOINT_PROVIDER, endpoint__in=[row.name for row in objs])
        more = get_deleted_objects(models, request, self.admin_site)
        return [*names, *more[0]], {**counts, **more[1]}, permissions | more[2], [*protected, *more[3]]

    def delete_model(self, request: HttpRequest, obj: ModelEndpoint) -> None:
        """Delete an endpoint with its models."""
        _delete([obj])

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[ModelEndpoint]) -> None:
        """Delete several endpoints with their models, in one transaction."""
        _delete(list(queryset))

    # --- buttons

    def list_models_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Update the catalogue as `manage.py sync_models` does, and show what has changed."""
        endpoint = self._changeable_endpoint(request, pk)
        error, sentences = "", []
        try:
            sentences = sync_with_server(ENDPOINT_PROVIDER, endpoint.name, at=timezone.now())
        except ListUnavailable as unavailable:
            error = str(unavailable)
        context = {
            "title": gettext("Models of %(endpoint)s") % {"endpoint": endpoint},
            "error": error,
            "sentences": sentences,
        }
        return self._render_result(request, endpoint, context)

    def test_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Test the endpoint with the chosen model, and show what works."""
        endpoint = self._changeable_endpoint(request, pk)
        results = check_endpoint(endpoint.name, request.POST.get("model", "").replace("\0", "")[:200].strip())
        title = gettext("Test of %(endpoint)s") % {"endpoint": endpoint}
        return self._render_result(request, endpoint, {"title": title, "results": results})

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, object],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: ModelEndpoint | None = None,
    ) -> HttpResponse:
        """Add the models of the endpoint, from which the test can choose."""
        if obj is not None:
            context["tested_models"] = _model_names(obj)
        return super().render_change_form(request, context, add=add, change=change, form_url=form_url, obj=obj)

    def _changeable_endpoint(self, request: HttpRequest, pk: int) -> ModelEndpoint:
        # The permission is checked first, so that users without it do not learn which endpoints exist.
        if not self.has_change_permission(request):
            raise PermissionDenied
        return get_object_or_404(ModelEndpoint, pk=pk)

    def _render_result(
        self, request: HttpRequest, endpoint: ModelEndpoint, context: Mapping[str, object]
    ) -> HttpResponse:
        request.current_app = self.admin_site.name
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "original": endpoint,
            "tested_models": _model_names(endpoint),
            "tested_model": request.POST.get("model", ""),
            **context,
        }
        return TemplateResponse(request, "admin/chat/modelendpoint/result.html", context)


def _model_names(endpoint: ModelEndpoint) -> list[str]:
    rows = LanguageModel.objects.filter(provider=ENDPOINT_PROVIDER, endpoint=endpoint.name)
    return list(rows.values_list("name", flat=True))


@transaction.atomic
def _delete(endpoints: Sequence[ModelEndpoint]) -> None:
    names = [endpoint.name for endpoint in endpoints]
    LanguageModel.objects.filter(provider=ENDPOINT_PROVIDER, endpoint__in=names).delete()
    EndpointModel.objects.filter(endpoint__in=names).delete()
    for endpoint in endpoints:
        endpoint.delete()
