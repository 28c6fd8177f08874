"""The catalogue: operators choose which models are offered, under which presets, and what every model is told.

Who may do what is as Django has it: view, add, change and delete permissions of each.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from chat.catalogue.instructions import default_texts
from chat.models import Instruction, LanguageModel, Preset

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
    ModelForm = forms.ModelForm[LanguageModel]
else:
    ModelAdmin = admin.ModelAdmin
    ModelForm = forms.ModelForm

UNKNOWN = "not known"


def tools_of(row: LanguageModel | Preset) -> set[str]:
    """What it may use, in a word each."""
    tools = {"code": row.code_execution, "search": row.google_search, "addresses": row.url_context}
    return {word for word, is_on in tools.items() if is_on}


class LanguageModelForm(ModelForm):
    """A model's settings; the sentences about both ways of thinking are the table's own."""

    def clean_provider(self) -> str:
        """Raises ValidationError for a provider that the settings do not have: no answer could come from it."""
        provider: str = self.cleaned_data["provider"]
        if provider not in settings.CHAT_PROVIDERS:
            known = ", ".join(settings.CHAT_PROVIDERS)
            raise ValidationError(f"There is no provider “{provider}” here. Known: {known}.")
        return provider


@admin.register(LanguageModel)
class LanguageModelAdmin(ModelAdmin):
    """The models, those that are offered and those that wait for it."""

    form = LanguageModelForm
    list_display = ("__str__", "name", "provider", "is_enabled", "position", "tools", "prices", "missing_since")
    list_editable = ("is_enabled", "position")
    list_filter = (
        "is_enabled",
        "provider",
        "code_execution",
        "image_output",
        ("missing_since", admin.EmptyFieldListFilter),
    )
    search_fields = ("name", "label", "description")
    readonly_fields = ("listed_at", "missing_since")
    fieldsets = (
        (None, {"fields": ("provider", "name", "label", "description", "is_enabled", "position")}),
        (
            "What it can do",
            {
                "fields": ("code_execution", "google_search", "url_context", "image_output"),
                "description": "Only what the provider documents for this model: it refuses requests for more.",
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
        """What it can use, and whether it makes images."""
        return ", ".join([*sorted(tools_of(row)), *(["images"] if row.image_output else [])]) or "none"

    @admin.display(description="US$ per million in / out", ordering="input_price")
    def prices(self, row: LanguageModel) -> str:
        """Of input and output; prices that no longer hold are none."""
        if row.has_lapsed_prices:
            return f"{UNKNOWN} after {row.prices_until}"
        shown = [
            UNKNOWN if price is None else f"{price.normalize():f}" for price in (row.input_price, row.output_price)
        ]
        return UNKNOWN if set(shown) == {UNKNOWN} else " / ".join(shown)


@admin.register(Preset)
class PresetAdmin(ModelAdmin):
    """The names that people know."""

    list_display = ("label", "slug", "language_model", "is_enabled", "position", "thinking", "tools", "missing_since")
    list_editable = ("is_enabled", "position")
    list_filter = ("is_enabled", "language_model")
    list_select_related = ("language_model",)
    search_fields = ("label", "slug", "description", "language_model__name")
    prepopulated_fields = {"slug": ("label",)}  # noqa: RUF012 - Django's own spelling
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
                "fields": ("code_execution", "google_search", "url_context"),
                "description": "What its model cannot do stays off.",
            },
        ),
        ("What it is told", {"fields": ("instruction",)}),
    )

    @admin.display(description="thinking")
    def thinking(self, row: Preset) -> str:
        """Its level or budget; empty where its model decides."""
        return row.get_thinking_level_display() or ("" if row.thinking_budget is None else f"{row.thinking_budget:,}")

    @admin.display(description="tools")
    def tools(self, row: Preset) -> str:
        """What it really may use: its model must have it too."""
        return ", ".join(sorted(tools_of(row) & tools_of(row.language_model))) or "none"

    @admin.display(description="missing since", ordering="language_model__missing_since")
    def missing_since(self, row: Preset) -> datetime | None:
        """Since when its model is."""
        return row.language_model.missing_since


@admin.register(Instruction)
class InstructionAdmin(ModelAdmin):
    """One row at most; without it the product's own texts hold."""

    list_display = ("__str__",)
    fieldsets = (
        (
            None,
            {
                "fields": ("general", "code_execution", "google_search", "image_output"),
                "description": (
                    "These texts stand before those of presets and conversations, and replace the product's own,"
                    " which a new form is filled with. An empty one says nothing. Delete this to go back to the"
                    " product's own."
                ),
            },
        ),
    )

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, str | list[str]]:
        """What the product says."""
        return dict(default_texts())

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Where there is none yet."""
        return super().has_add_permission(request) and not Instruction.objects.exists()

    def save_model(self, request: HttpRequest, obj: Instruction, form: forms.Form, change: bool) -> None:
        """As the one row."""
        obj.pk = 1
        super().save_model(request, obj, form, change)
