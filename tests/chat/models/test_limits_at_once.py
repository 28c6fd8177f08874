"""Limits of rows hold for requests that several processes handle at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from django.db import connection

from chat.models import ApiToken, Project, projects, tokens
from tests.factories import make_user

AT_ONCE = 8


@pytest.mark.parametrize(
    ("limit", "add"),
    [
        ("PROJECTS_LIMIT", lambda owner_id: Project.objects.start(owner_id, name="a")),
        ("TOKENS_LIMIT", lambda owner_id: ApiToken.objects.issue(owner_id, name="a", life=None)),
    ],
)
@pytest.mark.django_db(transaction=True)
def test_simultaneous_requests_cannot_exceed_a_limit(
    monkeypatch: pytest.MonkeyPatch, limit: str, add: Callable[[int], object]
) -> None:
    for module in (projects, tokens):
        monkeypatch.setattr(module, limit, 2, raising=False)
    owner = make_user()
    barrier = threading.Barrier(AT_ONCE)
    refusals: list[str] = []

    def add_one() -> None:
        connection.ensure_connection()
        barrier.wait(60)
        try:
            add(owner.pk)
        except (projects.ProjectRefused, tokens.TooManyTokens) as error:
            refusals.append(str(error))
        finally:
            connection.close()

    threads = [threading.Thread(target=add_one) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refusals) == AT_ONCE - 2
    assert Project.objects.count() + ApiToken.objects.count() == 2
