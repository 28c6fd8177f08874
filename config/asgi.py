"""The ASGI application. Importing this module starts nothing; `config.serve` prepares and runs a server process."""

from __future__ import annotations

import os

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
http_application = get_asgi_application()

from chat.routing import websocket_urlpatterns  # imports models, which need Django to be set up
from config.origins import SameOriginMiddleware  # imports Django settings, as above
from config.proxy_headers import ProxyHeaders  # imports Django settings, as above

application = ProxyHeaders(
    ProtocolTypeRouter(
        {
            "http": http_application,
            "websocket": SameOriginMiddleware(AuthMiddlewareStack(URLRouter(websocket_urlpatterns))),
        }
    )
)
