"""The catalogue: the offered models with their capabilities and prices, and the instructions for all models.

The rows belong to the operator, who edits them in the admin; the code contains no model ids.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import ClassVar

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models, transaction
from django.db.models import Q
from django.utils.translation import gettext

from chat.models.endpoints import ENDPOINT_PROVIDER
from chat.models.settings_choices import model_protocol_choices
from chat.vocabulary.built_in_tools import CODE_EXECUTION, URL_CONTEXT, WEB_SEARCH
from chat.vocabulary.thinking import ThinkingLevel

NOT_BOTH_THINKING = Q(thinking_level="") | Q(thinking_budget__isnull=True)
"""The API rejects a request with both a thinking level and a thinking budget."""

BOTH_THINKING = "Set a thinking level or a thinking budget, not both: the API refuses a request that names both."

THINKING_CHOICES = [(level.value, level.value.replace("xhigh", "extra high")) for level in ThinkingLevel]


def validate_provider(name: str) -> None:
    """Raise ValidationError for a provider that the settings do not have: a model of it could not answer."""
    if name not in settings.CHAT_PROVIDERS:
        names = {"name": name, "names": ", ".join(settings.CHAT_PROVIDERS)}
        raise ValidationError(gettext("There is no provider “%(name)s” here. Known: %(names)s.") % names)


def validate_model_name(name: str) -> None:
    """Raise ValidationError if a terminal or a page would not show the name unchanged."""
    if not name.isprintable():
        raise ValidationError(gettext("The name has control characters or invisible characters. Remove them."))


class LanguageModel(models.Model):
    """One model of a provider: its capabilities and prices, and its settings, which presets can override."""

    provider = models.CharField(
        max_length=50, default="gemini", validators=[validate_provider], help_text="One of CHAT_PROVIDERS."
    )
    endpoint = models.CharField(
        max_length=50, blank=True, help_text="Which server of the provider. Empty: the one that the settings describe."
    )
    name = models.CharField(max_length=200, validators=[validate_model_name], help_text="Its id at the provider.")
    label = models.CharField(max_length=100, blank=True, help_text="What people see; empty: its id.")
    description = models.CharField(max_length=200, blank=True, help_text="When to choose it, in one sentence.")
    is_enabled = models.BooleanField(default=True, help_text="Whether people may choose it.")
    position = models.IntegerField(default=0, help_text="Order in lists, lowest first.")

    code_execution = models.BooleanField(default=False, help_text="It can run Python itself.")
    web_search = models.BooleanField(
        default=False,
        help_text="It can search the web; it does where a preset or a conversation lets it, as searches cost extra.",
    )
    url_context = models.BooleanField(
        default=False,
        help_text="It can read pages whose address it is given; it does where a preset or a conversation lets it.",
    )
    image_output = models.BooleanField(default=False, help_text="It answers with images.")
    function_calling = models.BooleanField(
        null=True, blank=True, help_text="It can call functions. Empty: as its server says."
    )
    image_input = models.BooleanField(null=True, blank=True, help_text="It reads images. Empty: as its server says.")
    functions_beside_tools = models.BooleanField(
        db_default=False,
        default=False,
        help_text="It takes functions in requests that also name tools of its service, such as code execution.",
    )
    protocol = models.CharField(
        max_length=20,
        blank=True,
        db_default="",
        default="",
        choices=model_protocol_choices,
        help_text="How Gemini is asked. Empty: by generateContent.",
    )
    thinking_level = models.CharField(max_length=10, choices=THINKING_CHOICES, blank=True)
    thinking_budget = models.IntegerField(
        null=True, blank=True, validators=[MinValueValidator(-1)], help_text="Tokens. 0: off. -1: the model decides."
    )
    temperature = models.FloatField(null=True, blank=True, help_text="Empty for models that take none: newer ones.")
    max_output_tokens = models.PositiveIntegerField(null=True, blank=True, help_text="Empty: the model's own limit.")
    context_tokens = models.PositiveIntegerField(
        null=True, blank=True, help_text="What it can read, in tokens; of longer conversations the oldest is left out."
    )

    input_price = models.DecimalField(
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text="US dollars per million tokens read.",
    )
    output_price = models.DecimalField(
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text="US dollars per million tokens written.",
    )
    cached_price = models.DecimalField(
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text="US dollars per million tokens read from cache; empty: as other input.",
    )
    search_price = models.DecimalField(
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text="US dollars per thousand web searches.",
    )
    prices_until = models.DateField(
        null=True,
        blank=True,
        help_text="The last day of these prices (UTC). After it the next ones count, or none is known.",
    )
    next_input_price = models.DecimalField(
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text="From the day after the last day. The price of searches stays.",
    )
    next_output_price = models.DecimalField(
        max_digits=12, decimal_places=6, null=True, blank=True, validators=[MinValueValidator(0)]
    )
    next_cached_price = models.DecimalField(
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text="Empty: as other input.",
    )
    prices_note = models.CharField(
        max_length=300, blank=True, help_text="Where they were read, and what they leave out."
    )

    ends_on = models.DateField(
        "end",
        null=True,
        blank=True,
        help_text="From this day on another model answers in its place, or none. Empty: as its provider has published, "
        "if that is known.",
    )
    successor = models.CharField(
        max_length=200,
        blank=True,
        db_default="",
        default="",
        help_text="Id of the model that answers in its place after the end.",
    )

    makes_titles = models.BooleanField(
        default=False, help_text="The first such model names conversations. If there is none, their first words do."
    )
    listed_at = models.DateTimeField(null=True, blank=True, help_text="When the provider last listed it.")
    missing_since = models.DateTimeField(
        null=True, blank=True, help_text="Since when the provider answers that it has no such model."
    )

    class Meta:
        ordering: ClassVar[list[str]] = ["position", "name"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["provider", "endpoint", "name"], name="one_model_per_name"),
            models.CheckConstraint(
                condition=NOT_BOTH_THINKING, name="model_level_or_budget", violation_error_message=BOTH_THINKING
            ),
            models.CheckConstraint(
                condition=Q(prices_until__isnull=False)
                | Q(next_input_price=None, next_output_price=None, next_cached_price=None),
                name="next_prices_have_a_date",
                violation_error_message="Set the last day of the current prices: the next ones count after it.",
            ),
        ]

    def __str__(self) -> str:
        return self.label or self.name

    @property
    def service_tools(self) -> frozenset[str]:
        """Names of the tools that the service runs for this model: `code_execution`, `web_search`, `url_context`.

        OpenAI's chat completions have no field for such tools, and Google's server has none for them either. So a model
        of an endpoint has no such tools, whatever its columns say (`docs/decisions/0018-openai-compatible-servers.md`).
        """
        if self.provider == ENDPOINT_PROVIDER:
            return frozenset()
        return frozenset(name for name in (CODE_EXECUTION, WEB_SEARCH, URL_CONTEXT) if getattr(self, name))

    @property
    def next_prices_from(self) -> date | None:
        """The day from which the next prices apply; `None` if they are not known."""
        if self.prices_until is None or (self.next_input_price, self.next_output_price) == (None, None):
            return None
        return self.prices_until + timedelta(days=1)


class Preset(models.Model):
    """A model with settings under its own name. For an empty setting, the model's setting applies."""

    slug = models.SlugField(max_length=50, unique=True, help_text="Its name in addresses and the API.")
    label = models.CharField(max_length=100)
    description = models.CharField(max_length=200, blank=True, help_text="When to choose it, in one sentence.")
    language_model = models.ForeignKey(LanguageModel, on_delete=models.CASCADE, related_name="presets")
    is_enabled = models.BooleanField(default=True, help_text="Whether people may choose it.")
    position = models.IntegerField(default=0, help_text="Order in lists, lowest first.")
    is_default = models.BooleanField(
        "default",
        db_default=False,
        default=False,
        help_text="Whether conversations without a choice use it, unless GEMINI_MODEL is set. At most one preset.",
    )
    thinking_level = models.CharField(max_length=10, choices=THINKING_CHOICES, blank=True)
    thinking_budget = models.IntegerField(
        null=True, blank=True, validators=[MinValueValidator(-1)], help_text="Tokens. 0: off. -1: the model decides."
    )
    code_execution = models.BooleanField(default=True, help_text="It may run code, if its model can.")
    web_search = models.BooleanField(default=False, help_text="It searches the web, if its model can.")
    url_context = models.BooleanField(default=False, help_text="It reads given addresses, if its model can.")
    instruction = models.TextField(blank=True, help_text="An additional instruction for the model.")

    class Meta:
        ordering: ClassVar[list[str]] = ["position", "label"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                condition=NOT_BOTH_THINKING, name="preset_level_or_budget", violation_error_message=BOTH_THINKING
            ),
            models.UniqueConstraint(
                fields=["is_default"],
                condition=Q(is_default=True),
                name="one_default_preset",
                violation_error_message="Another preset is the default.",
            ),
        ]

    def __str__(self) -> str:
        return self.label

    def make_default(self) -> None:
        """Make this preset the default. The previous default is no default any more."""
        with transaction.atomic():
            Preset.objects.filter(is_default=True).exclude(pk=self.pk).update(is_default=False)
            self.is_default = True
            self.save(update_fields=["is_default"])

    def clean(self) -> None:
        """Raise ValidationError if the slug equals a model's id, because the id would then select the preset."""
        if LanguageModel.objects.filter(name=self.slug).exists():
            raise ValidationError({"slug": gettext("A model has this id. Choose another name for the preset.")})


class Instruction(models.Model):
    """The instructions for all models in all conversations. At most one row exists. It replaces the default texts."""

    general = models.TextField(blank=True, help_text="Always.")
    code_execution = models.TextField(blank=True, help_text="When the answer may run code at the model's service.")
    python_session = models.TextField(
        db_default="", default="", blank=True, help_text="When the answer may run code in the Python session."
    )
    both_engines = models.TextField(
        db_default="",
        default="",
        blank=True,
        help_text="When the answer may run code at the model's service, and in the Python session too.",
    )
    web_search = models.TextField(blank=True, help_text="When the answer may search the web.")
    image_output = models.TextField(blank=True, help_text="When the model answers with images.")

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(condition=Q(pk=1), name="one_instruction"),
        ]

    def __str__(self) -> str:
        return gettext("Instructions for all models")
