"""People and empty conversations in a migrated database, printed as JSON: `python -m bench.seed PEOPLE CONVERSATIONS`.

The sessions are what a login leaves: logging all of them in would take minutes of hashing passwords. Conversations
go round the people, so that neighbours in the list belong to different ones.
"""

from __future__ import annotations

import json
import os
import sys

import django
from django.apps import apps
from django.conf import settings
from django.contrib.auth import get_user_model
from django.test import Client


def main(people: int, conversations: int) -> None:
    """Print `[[cookie, conversation id], ...]`, `conversations` for each of the people."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    users = get_user_model().objects.bulk_create(
        get_user_model()(username=f"person-{number}", password="!") for number in range(people)
    )
    cookies = []
    for user in users:
        browser = Client()
        browser.force_login(user, settings.AUTHENTICATION_BACKENDS[0])
        cookies.append(f"{settings.SESSION_COOKIE_NAME}={browser.cookies[settings.SESSION_COOKIE_NAME].value}")
    model = apps.get_model("chat", "Conversation")
    created = model.objects.bulk_create(model(owner=user) for _ in range(conversations) for user in users)
    print(json.dumps([[cookies[number % people], str(row.pk)] for number, row in enumerate(created)]))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
