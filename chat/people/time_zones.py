"""Time zones of readers.

A script stores the zone of the browser in a cookie. The server stores it with the person, because answers are written
without a request. Without a zone, times are in UTC.
"""

from __future__ import annotations

import zoneinfo
from datetime import UTC, tzinfo

from chat.models import User
from chat.people.access import SignedInRequest

ZONE_COOKIE = "timezone"
"""Name of the cookie that `conversation_list.js` sets. Its value is a name of the IANA database."""


def parse_zone(name: str) -> tzinfo:
    """Return the time zone of this name; UTC if it is not known."""
    try:
        return zoneinfo.ZoneInfo(name) if name else UTC
    # An invalid name may look like a path, or have characters that no file name can have.
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


def zone_of(person_id: int) -> tzinfo:
    """Return the time zone that is stored with a person."""
    return parse_zone(User.objects.filter(pk=person_id).values_list("time_zone", flat=True).first() or "")


def reader_zone(request: SignedInRequest) -> tzinfo:
    """Return the time zone of the reader's browser, and store its name if it has changed."""
    name, person = request.COOKIES.get(ZONE_COOKIE, ""), request.user
    zone = parse_zone(name)
    if str(zone) == name != person.time_zone:
        person.time_zone = name
        # `save` would fail, or insert the row again, if the account was deleted meanwhile.
        User.objects.filter(pk=person.pk).update(time_zone=name)
    return zone
