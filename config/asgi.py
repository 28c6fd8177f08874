"""The ASGI application, and what a server process does when it starts.

Daphne tells no application that it starts, so start-up happens here, where it imports us: the SDK is warmed (the
first chat would otherwise wait for about a second), turns of a dead process are ended, and without a key the
emulator is started.
"""

from __future__ import annotations

import gc
import os

from channels.routing import ProtocolTypeRouter, URLRouter
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
http_application = get_asgi_application()

from django.conf import settings  # noqa: E402 - models may be imported once Django is set up
from django.db import connection  # noqa: E402
from django.urls import get_resolver  # noqa: E402

from chat.emulator import embedded  # noqa: E402
from chat.providers import warm_up  # noqa: E402
from chat.routing import websocket_urlpatterns  # noqa: E402
from chat.turns import recovery, standing, store  # noqa: E402
from config import sending, spared  # noqa: E402
from config.origins import SameOriginOnly  # noqa: E402


def load_views() -> None:
    """Import all views now: the first page would else wait half a second for it."""
    assert get_resolver().url_patterns


if settings.GEMINI_EMULATED and not settings.GOOGLE_GEMINI_BASE_URL:
    settings.GOOGLE_GEMINI_BASE_URL = embedded.start()
sending.install()
if connection.vendor != "postgresql":
    spared.leave_out_postgresql()
load_views()
warm_up()
recovery.start()
store.run_later(standing.warm_up)

# All that is imported stays. Without this, a search for garbage now and then goes through it, in the middle of answers.
gc.collect()
gc.freeze()

application = ProtocolTypeRouter(
    {
        "http": http_application,
        "websocket": SameOriginOnly(URLRouter(websocket_urlpatterns)),
    }
)
