"""Creates a user with a session and conversations: `python -m bench.with_django bench.page_seed MESSAGES ...`."""

from __future__ import annotations

import json

from django.conf import settings
from django.db import transaction
from django.test import Client

from bench.generated_text import TextGenerator
from bench.long_conversation import make_long_conversation
from chat.models import User

GRAPHS_SHARE = 1 / 5
"""Graphs for each message."""


def main(*counts: str) -> None:
    """Print `{"cookie": ..., "conversations": {messages: id}}`, with a conversation of each number of messages."""
    owner, texts = User.objects.create(username="reader", password="!"), TextGenerator()
    browser = Client()
    browser.force_login(owner, settings.AUTHENTICATION_BACKENDS[0])
    cookie = f"{settings.SESSION_COOKIE_NAME}={browser.cookies[settings.SESSION_COOKIE_NAME].value}"
    with transaction.atomic():
        conversations = {
            count: str(make_long_conversation(owner, texts, int(count), graphs=int(int(count) * GRAPHS_SHARE)).pk)
            for count in counts
        }
    print(json.dumps({"cookie": cookie, "conversations": conversations}))
