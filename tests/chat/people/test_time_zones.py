"""Time zones of readers, and how the pages of their browsers set them."""

from __future__ import annotations

from datetime import UTC

import pytest
from django.test import Client

from chat.people.time_zones import ZONE_COOKIE, parse_zone
from tests.factories import make_user


@pytest.mark.parametrize("name", ["", "Mars/Olympus", "../../etc/passwd", "/etc/zone", "a\0b", "x" * 5000, "Europe"])
def test_unknown_time_zone_is_read_as_utc(name: str) -> None:
    assert parse_zone(name) is UTC


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("cookie", "stored"), [("Asia/Tokyo", "Asia/Tokyo"), ("UTC", "UTC"), ("Mars/Olympus", "Europe/Berlin")]
)
def test_conversation_list_stores_a_valid_time_zone_of_the_browser(client: Client, cookie: str, stored: str) -> None:
    person = make_user()
    person.time_zone = "Europe/Berlin"
    person.save()
    client.force_login(person)
    client.cookies[ZONE_COOKIE] = cookie
    assert client.get("/conversations/").status_code == 200
    person.refresh_from_db()
    assert person.time_zone == stored
