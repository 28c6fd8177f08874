"""The admin of the model catalogue: language models, presets and the instructions that every model receives.

Django's view, add, change and delete permissions of each model decide who may do what.
"""

from __future__ import annotations

from datetime import datetime

from django import forms
from django.conf import settings
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from chat.catalogue.endpoints import endpoint_exists
from chat.models import ENDPOINT_PROVIDER, Instruction, LanguageModel, Preset
from chat.prompt.instructions import default_texts
from chat.providers import get_provider

UNKNOWN = "not known"


def list_tools(row: LanguageModel | Preset) -> set[str]:
    """Return the names of the tools that a model or preset may use."""
    tools = {"code": row.code_execution, "search": row.web_search, "addresses": row.url_context}
    return {name for name, is_enabled in tools.items() if is_enabled}


class LanguageModelForm(forms.ModelForm[LanguageModel]):
    """The settings of a language model. The database model itself validates the thinking settings."""

    def clean_provider(self) -> str:
        """Return the provider. Raise ValidationError if it is not configured, because it could not answer."""
        provider: str = self.cleaned_data["provider"]
        if provider not in settings.CHAT_PROVIDERS:
            known = ", ".join(settings.CHAT_PROVIDERS)
            raise ValidationError(f"There is no provider “{provider}” here. Known: {known}.")
        return provider

    def clean_endpoint(self) -> str:
        """Return the endpoint. Raise ValidationError if the provider does not have it."""
        provider, endpoint = self.cleaned_data.get("provider", ""), self.cleaned_data["endpoint"]
        if not _endpoint_exists(provider, endpoint):
            raise ValidationError(f"There is no endpoint “{endpoint}” of the provider here.")
        return str(endpoint)


def _endpoint_exists(provider: str, endpoint: str) -> bool:
    if provider == ENDPOINT_PROVIDER:
        return endpoint_exists(endpoint)
    try:
        get_provider(provider, endpoint)
    except LookupError:
        return False
    return True


@admin.register(LanguageModel)
class LanguageModelAdmin(admin.ModelAdmin[LanguageModel]):
    """All known language models, enabled or not."""

    form = LanguageModelForm
    list_display = ("__str__", "name", "provider", "is_enabled", "position", "tools", "prices", "missing_since")
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
            "What it can do",
            {
                "fields": (
                    "code_execution",
                    "web_search",
                    "url_context",
                    "image_output",
                    "function_calling",
                    "image_input",
                ),
                "description": (
                    "Only what the provider documents for this model: it refuses requests for more."
                    " The last two are read only for the provider openai_compatible."
                ),
            },
        ),
        (
            "How it answers",
            {"fields": ("thinking_level", "thinking_budget", "temperature", "max_output_tokens", "context_tokens")},
        ),
        (
            "Prices",
            {
                "fields": ("input_price", "output_price", "cached_price", "prices_until", "prices_note"),
                "description": (
                    "Empty means not known: what answers cost is then shown as not known, never as nothing."
                    " Changed prices count for answers that come after; earlier ones keep their costs."
                ),
            },
        ),
        ("Titles", {"fields": ("makes_titles",)}),
        ("As the provider has it", {"fields": ("listed_at", "missing_since")}),
    )

    @admin.display(description="tools")
    def tools(self, row: LanguageModel) -> str:
        """Tools that the model can use, and whether it generates images."""
        return ", ".join([*sorted(list_tools(row)), *(["images"] if row.image_output else [])]) or "none"

    @admin.display(description="US$ per million in / out", ordering="input_price")
    def prices(self, row: LanguageModel) -> str:
        """Prices of input and output tokens; expired prices are not shown."""
        if row.has_lapsed_prices:
            return f"{UNKNOWN} after {row.prices_until}"
        prices = (row.input_price, row.output_price)
        if prices == (None, None):
            return UNKNOWN
        return " / ".join(UNKNOWN if price is None else f"{price.normalize():f}" for price in prices)


@admin.register(Preset)
class PresetAdmin(admin.ModelAdmin[Preset]):
    """Presets: named combinations of a model and its settings, from which users choose."""

    list_display = ("label", "slug", "language_model", "is_enabled", "position", "thinking", "tools", "missing_since")
    list_editable = ("is_enabled", "position")
    list_filter = ("is_enabled", "language_model")
    list_select_related = ("language_model",)
    search_fields = ("label", "slug", "description", "language_model__name")
    prepopulated_fields = {"slug": ("label",)}  # noqa: RUF012 - Django declares it as a plain dict
    fieldsets = (
        (None, {"fields": ("label", "slug", "description", "language_model", "is_enabled", "position")}),
        (
            "How it answers",
            {
                "fields": ("thinking_level", "thinking_budget"),
                "description": "Both empty: as its model is set.",
            },
        ),
        (
            "What it may do",
            {
                "fields": ("code_execution", "web_search", "url_context"),
                "description": "What its model cannot do stays off.",
            },
        ),
        ("What it is told", {"fields": ("instruction",)}),
    )

    @admin.display(description="thinking")
    def thinking(self, row: Preset) -> str:
        """Thinking level or budget of the preset; empty if the model's own setting applies."""
        return row.get_thinking_level_display() or ("" if row.thinking_budget is None else f"{row.thinking_budget:,}")

    @admin.display(description="tools")
    def tools(self, row: Preset) -> str:
        """Tools that both the preset and its model allow."""
        return ", ".join(sorted(list_tools(row) & list_tools(row.language_model))) or "none"

    @admin.display(description="missing since", ordering="language_model__missing_since")
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
                "fields": ("general", "code_execution", "web_search", "image_output"),
                "description": (
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
