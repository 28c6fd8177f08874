"""Every response but static files turns off DNS prefetching."""

from __future__ import annotations

import uuid

import pytest
from django.test import Client

from tests.factories import make_attachment, make_conversation, make_user

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("path", ["/", "/accounts/login/", "/admin/login/", f"/c/{uuid.UUID(int=0)}/"])
def test_dns_prefetching_is_off(client: Client, path: str) -> None:
    assert client.get(path).headers["X-DNS-Prefetch-Control"] == "off"


def test_dns_prefetching_is_off_on_pages_with_model_output(client: Client) -> None:
    owner = make_user()
    client.force_login(owner)
    for url in (make_conversation(owner).get_absolute_url(), make_attachment(owner).url):
        response = client.get(url)
        assert (response.status_code, response.headers["X-DNS-Prefetch-Control"]) == (200, "off")
