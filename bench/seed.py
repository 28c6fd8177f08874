"""Creates users with sessions and empty conversations: `python -m bench.with_django bench.seed USERS CONVERSATIONS`.

The sessions are written directly to the database, because logging in every user would hash passwords for minutes.
"""

from __future__ import annotations

import json

from django.conf import settings
from django.test import Client

from chat.models import Conversation, LanguageModel, User
from chat.vocabulary.dialect_names import INTERACTIONS_API


def main(users: str, conversations_per_user: str) -> None:
    """Print `[[cookie, conversation id], ...]`, in which consecutive conversations belong to different users."""
    LanguageModel.objects.create(name="bench-interactions", protocol=INTERACTIONS_API)
    owners = User.objects.bulk_create(User(username=f"person-{number}", password="!") for number in range(int(users)))
    cookies = [sign_in(owner) for owner in owners]
    created = Conversation.objects.bulk_create(
        Conversation(owner=owner) for _ in range(int(conversations_per_user)) for owner in owners
    )
    print(json.dumps([[cookies[index % len(cookies)], str(row.pk)] for index, row in enumerate(created)]))


def sign_in(user: User) -> str:
    """Return the cookie of a new session."""
    browser = Client()
    browser.force_login(user, settings.AUTHENTICATION_BACKENDS[0])
    return f"{settings.SESSION_COOKIE_NAME}={browser.cookies[settings.SESSION_COOKIE_NAME].value}"
