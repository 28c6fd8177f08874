"""The admin of the model catalogue: language models, presets and the instructions that every model receives.

Django's view, add, change and delete permissions of each model decide who may do what.
"""

from __future__ import annotations

from datetime import date, datetime

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.translation import gettext, gettext_lazy

from chat.admin.base import EditableListAdmin
from chat.admin.language_model_form import LanguageModelForm
from chat.answering.prompt.instructions import default_texts
from chat.models import Instruction, LanguageModel, ModelEndpoint, Preset
from chat.providers.catalogue.published import end_of
from chat.providers.catalogue.setups import Prices, prices_on, today
from chat.vocabulary.built_in_tools import CODE_EXECUTION, URL_CONTEXT, WEB_SEARCH

UNKNOWN = gettext_lazy("not known")


def list_tools(model: LanguageModel, preset: Preset | None = None) -> str:
    """Return the words for the tools that a model has and a preset allows; empty if there are none."""
    words = {CODE_EXECUTION: gettext("code"), WEB_SEARCH: gettext("search"), URL_CONTEXT: gettext("addresses")}
    names = [name for name in model.service_tools if preset is None or getattr(preset, name)]
    return ", ".join(sorted(words[name] for name in names))


@admin.register(LanguageModel)
class LanguageModelAdmin(EditableListAdmin[LanguageModel]):
    """All known language models, enabled or not."""

    form = LanguageModelForm
    list_display = ("__str__", "name", "provider", "is_enabled", "position", "tools", "prices", "ends", "missing_since")
    list_editable = ("is_enabled", "position")
    list_filter = (
        "is_enabled",
        "provider",
        "endpoint",
        "code_execution",
        "image_output",
        ("missing_since", admin.EmptyFieldListFilter),
    )
    search_fields = ("name", "label", "description")
    readonly_fields = ("listed_at", "missing_since")
    fieldsets = (
        (None, {"fields": ("provider", "endpoint", "name", "label", "description", "is_enabled", "position")}),
        (
            gettext_lazy("What it can do"),
            {
                "fields": (
                    "code_execution",
                    "web_search",
                    "url_context",
                    "image_output",
                    "functions_beside_tools",
                    "function_calling",
                    "image_input",
                ),
                "description": gettext_lazy(
                    "Only what the provider documents for this model: it refuses requests for more."
                    " The last two are read only for the provider openai_compatible."
                ),
            },
        ),
        (
            gettext_lazy("How it answers"),
            {
                "fields": (
                    "protocol",
                    "thinking_level",
                    "thinking_budget",
                    "temperature",
                    "max_output_tokens",
                    "context_tokens",
                )
            },
        ),
        (
            gettext_lazy("Prices"),
            {
                "fields": (
                    "input_price",
                    "output_price",
                    "cached_price",
                    "search_price",
                    "prices_until",
                    "next_input_price",
                    "next_output_price",
                    "next_cached_price",
                    "prices_note",
                ),
                "description": gettext_lazy(
                    "Empty means not known: what answers cost is then shown as not known, never as nothing."
                    " Changed prices count for answers that come after; earlier ones keep their costs."
                    " The day (UTC) on which an answer begins decides."
                ),
            },
        ),
        (gettext_lazy("Its end"), {"fields": ("ends_on", "successor")}),
        (gettext_lazy("Titles"), {"fields": ("makes_titles",)}),
        (gettext_lazy("As the provider has it"), {"fields": ("listed_at", "missing_since")}),
    )

    @admin.display(description=gettext_lazy("tools"))
    def tools(self, row: LanguageModel) -> str:
        """Tools that the model can use, and whether it generates images."""
        tools = [list_tools(row), gettext("images") if row.image_output else ""]
        return ", ".join(filter(None, tools)) or gettext("none")

    @admin.display(description=gettext_lazy("US$ per million in / out"), ordering="input_price")
    def prices(self, row: LanguageModel) -> str:
        """Prices of input and output tokens today, and the next prices with their date. Expired ones are not shown."""
        now, begin = prices_on(row, today()), row.next_prices_from
        if row.prices_until and begin is None:
            unknown = gettext("not known after %(day)s") % {"day": row.prices_until}
            return unknown if now == Prices() else f"{_pair(now)}; {unknown}"
        if begin is None or begin <= today():
            return _pair(now)
        following = {"day": begin, "prices": _pair(prices_on(row, begin))}
        return f"{_pair(now)}; " + gettext("from %(day)s: %(prices)s") % following

    @admin.display(description=gettext_lazy("end"), ordering="ends_on")
    def ends(self, row: LanguageModel) -> date | None:
        """The day from which another model answers in its place: the day set here, or else the published one."""
        end = end_of(row, vars(row)["address"] if row.endpoint else settings.OPENAI_BASE_URL)
        return end.on if end else None

    def get_queryset(self, request: HttpRequest) -> QuerySet[LanguageModel]:
        """Add the base URL of the model's endpoint, which `ends` needs to look up published days."""
        endpoints = ModelEndpoint.objects.filter(name=OuterRef("endpoint"))
        return super().get_queryset(request).annotate(address=Subquery(endpoints.values("base_url")))


def _pair(prices: Prices) -> str:
    pair = (prices.input, prices.output)
    if pair == (None, None):
        return str(UNKNOWN)
    return " / ".join(str(UNKNOWN) if price is None else f"{price.normalize():f}" for price in pair)


@admin.register(Preset)
class PresetAdmin(EditableListAdmin[Preset]):
    """Presets: named combinations of a model and its settings, from which users choose."""

    actions = ("make_default",)
    list_display = (
        "label",
        "slug",
        "language_model",
        "is_default",
        "is_enabled",
        "position",
        "thinking",
        "tools",
        "missing_since",
    )
    list_editable = ("is_enabled", "position")
    readonly_fields = ("is_default",)
    list_filter = ("is_enabled", "language_model")
    list_select_related = ("language_model",)
    search_fields = ("label", "slug", "description", "language_model__name")
    prepopulated_fields = {"slug": ("label",)}
    fieldsets = (
        (
            None,
            {
                "fields": ("label", "slug", "description", "language_model", "is_enabled", "position", "is_default"),
                "description": gettext_lazy(
                    "To change the default, choose a preset in the list and the action “Make this preset the default”."
                    " The default cannot be deleted."
                ),
            },
        ),
        (
            gettext_lazy("How it answers"),
            {
                "fields": ("thinking_level", "thinking_budget"),
                "description": gettext_lazy("Both empty: as its model is set."),
            },
        ),
        (
            gettext_lazy("What it may do"),
            {
                "fields": ("code_execution", "web_search", "url_context"),
                "description": gettext_lazy("What its model cannot do stays off."),
            },
        ),
        (gettext_lazy("What it is told"), {"fields": ("instruction",)}),
    )

    @admin.action(description=gettext_lazy("Make this preset the default"), permissions=["change"])
    def make_default(self, request: HttpRequest, queryset: QuerySet[Preset]) -> None:
        """Make the only selected preset the default."""
        rows = list(queryset[:2])
        if len(rows) != 1:
            self.message_user(request, gettext("Select one preset: there is one default."), messages.ERROR)
            return
        [row] = rows
        row.make_default()
        self.log_change(request, row, "Made the default.")
        self.message_user(request, gettext("%(preset)s is the default now.") % {"preset": row}, messages.SUCCESS)
        if settings.DEFAULT_MODEL:
            text = gettext("It has no effect while the settings name “%(model)s”.") % {"model": settings.DEFAULT_MODEL}
            self.message_user(request, text, messages.WARNING)

    def has_delete_permission(self, request: HttpRequest, obj: Preset | None = None) -> bool:
        """Return whether the user may delete the preset: not the default, which everyone without a choice uses."""
        return super().has_delete_permission(request, obj) and not (obj and obj.is_default)

    @admin.display(description=gettext_lazy("thinking"))
    def thinking(self, row: Preset) -> str:
        """Thinking level or budget of the preset; empty if the model's own setting applies."""
        return row.get_thinking_level_display() or ("" if row.thinking_budget is None else f"{row.thinking_budget:,}")

    @admin.display(description=gettext_lazy("tools"))
    def tools(self, row: Preset) -> str:
        """Tools that both the preset and its model allow."""
        return list_tools(row.language_model, row) or gettext("none")

    @admin.display(description=gettext_lazy("missing since"), ordering="language_model__missing_since")
    def missing_since(self, row: Preset) -> datetime | None:
        """Time since when the provider no longer lists the preset's model."""
        return row.language_model.missing_since


@admin.register(Instruction)
class InstructionAdmin(admin.ModelAdmin[Instruction]):
    """The instructions for all models. There is at most one row; without it the default texts apply."""

    list_display = ("__str__",)
    fieldsets = (
        (
            None,
            {
                "fields": ("general", "code_execution", "both_engines", "python_session", "web_search", "image_output"),
                "description": gettext_lazy(
                    "These texts stand before those of presets and conversations, and replace the product's own,"
                    " which a new form is filled with. An empty one says nothing. Delete this to go back to the"
                    " product's own."
                ),
            },
        ),
    )

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, str | list[str]]:
        """Fill a new form with the default texts."""
        return dict(default_texts())

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return whether the user may add the row, and it does not exist yet."""
        return super().has_add_permission(request) and not Instruction.objects.exists()

    def save_model(self, request: HttpRequest, obj: Instruction, form: forms.Form, change: bool) -> None:
        """Save the form as the only row."""
        obj.pk = 1
        super().save_model(request, obj, form, change)
