"""Creates people with a session, a token and an empty conversation: `bench.with_django bench.abuse_seed NUMBER`."""

from __future__ import annotations

import json

from django.conf import settings
from django.test import Client

from chat.models import ApiToken, Conversation, User


def main(number: str) -> None:
    """Print `[[cookie, token, conversation id], ...]`."""
    people = []
    for index in range(int(number)):
        user = User.objects.create(username=f"person-{index}", password="!")
        browser = Client()
        browser.force_login(user, settings.AUTHENTICATION_BACKENDS[0])
        cookie = f"{settings.SESSION_COOKIE_NAME}={browser.cookies[settings.SESSION_COOKIE_NAME].value}"
        _, token = ApiToken.objects.issue(user.pk, name="bench", life=None)
        people.append([cookie, token, str(Conversation.objects.create(owner=user).pk)])
    print(json.dumps(people))
