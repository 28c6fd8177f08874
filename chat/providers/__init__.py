"""Model APIs behind one protocol, which `base` defines. `settings.CHAT_PROVIDERS` names them.

A provider is one protocol, such as Gemini's. An endpoint is one server that speaks it, with an account there; the
endpoint with the empty name is the one that the settings describe.
"""

from __future__ import annotations

from functools import cache

from django.conf import settings
from django.utils.module_loading import import_string

from chat.providers.base import Provider


@cache
def get_provider(name: str, endpoint: str = "") -> Provider:
    """Return the provider of this name for an endpoint, made once per process.

    Raises KeyError for a name that the settings do not have, and LookupError for an endpoint that does not exist.
    """
    provider: Provider = import_string(settings.CHAT_PROVIDERS[name])(endpoint)
    return provider


def is_demo(name: str = "", endpoint: str = "") -> bool:
    """Return whether the demo model answers in place of a provider's models. Empty name: the default provider.

    For a provider or endpoint that does not exist any more, such as that of an old turn, this is False.
    """
    try:
        return get_provider(name or settings.CHAT_PROVIDER, endpoint).is_demo
    except LookupError:
        return False
