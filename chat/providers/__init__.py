"""Model APIs behind one protocol: `base` says which, `settings.CHAT_PROVIDERS` names them."""

from __future__ import annotations

from functools import cache

from django.conf import settings
from django.utils.module_loading import import_string

from chat.providers.base import Provider


@cache
def get_provider(name: str) -> Provider:
    """The provider of this name, made once per process. Raises KeyError for a name that settings do not have."""
    provider: Provider = import_string(settings.CHAT_PROVIDERS[name])()
    return provider


def warm_up() -> None:
    """Make every provider ahead of the first chat, which would else wait 0.5-1.4 s for imports."""
    for name in settings.CHAT_PROVIDERS:
        get_provider(name)
