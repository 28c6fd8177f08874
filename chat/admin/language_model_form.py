"""The form of a language model in the admin."""

from __future__ import annotations

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from chat.models import ENDPOINT_PROVIDER, LanguageModel
from chat.models.catalogue import validate_provider
from chat.providers import get_provider
from chat.providers.catalogue.endpoints import endpoint_exists
from chat.providers.catalogue.published import ignores_temperature
from chat.vocabulary.built_in_tools import CODE_EXECUTION, URL_CONTEXT, WEB_SEARCH


class LanguageModelForm(forms.ModelForm[LanguageModel]):
    """The settings of a language model. The database model itself validates the thinking settings."""

    def clean_provider(self) -> str:
        """Return the provider. Raise ValidationError if it is not configured, because it could not answer."""
        provider: str = self.cleaned_data["provider"]
        validate_provider(provider)
        return provider

    def clean_endpoint(self) -> str:
        """Return the endpoint. Raise ValidationError if the provider does not have it."""
        provider, endpoint = self.cleaned_data.get("provider", ""), self.cleaned_data["endpoint"]
        if not _endpoint_exists(provider, endpoint):
            raise ValidationError(
                gettext("There is no endpoint “%(endpoint)s” of the provider here.") % {"endpoint": endpoint}
            )
        return str(endpoint)

    def clean_temperature(self) -> float | None:
        """Return the temperature. Raise ValidationError if the model ignores it."""
        temperature: float | None = self.cleaned_data["temperature"]
        if temperature is not None and ignores_temperature(self.cleaned_data.get("name", "")):
            raise ValidationError(gettext("This model ignores the temperature, so none is sent. Leave it empty."))
        return temperature

    def clean_protocol(self) -> str:
        """Return the protocol. Raise ValidationError if the provider does not speak it."""
        protocol: str = self.cleaned_data["protocol"]
        if protocol and self.cleaned_data.get("provider") == ENDPOINT_PROVIDER:
            raise ValidationError(gettext("Only Gemini is asked by this protocol. Leave it empty."))
        return protocol

    def clean(self) -> None:
        """Refuse a successor without a day, a budget with a protocol that has none, and tools that no server runs."""
        super().clean()
        if self.cleaned_data.get("successor") and not self.cleaned_data.get("ends_on"):
            self.add_error("ends_on", gettext("Set the day from which the successor answers."))
        if self.cleaned_data.get("protocol") and self.cleaned_data.get("thinking_budget") is not None:
            self.add_error("thinking_budget", gettext("The chosen protocol has no budget. Set a level instead."))
        if self.cleaned_data.get("provider") != ENDPOINT_PROVIDER:
            return
        no_web = gettext("Servers of this protocol do not search or read the web themselves. Turn this off.")
        no_code = gettext(
            "Servers of this protocol do not run code themselves. Turn this off: the code of this model runs in the"
            " Python session."
        )
        for name, sentence in {CODE_EXECUTION: no_code, WEB_SEARCH: no_web, URL_CONTEXT: no_web}.items():
            if self.cleaned_data.get(name):
                self.add_error(name, sentence)


def _endpoint_exists(provider: str, endpoint: str) -> bool:
    if provider == ENDPOINT_PROVIDER:
        return endpoint_exists(endpoint)
    try:
        get_provider(provider, endpoint)
    except LookupError:
        return False
    return True
