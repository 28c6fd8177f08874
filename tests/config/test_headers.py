"""Every response but static files turns off DNS prefetching. HSTS is for the host alone."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid

import pytest
from django.test import Client

from tests.environment import ROOT
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


PRINT_HEADER = """
import django
from django.test import Client

django.setup()
response = Client().get("/nothing/", secure=True, headers={"Host": "localhost", "X-Forwarded-Proto": "https"})
print(response["Strict-Transport-Security"])
"""


@pytest.mark.parametrize(("seconds", "header"), [("", "max-age=31536000"), ("300", "max-age=300")])
def test_browsers_refuse_plain_http_to_the_host_and_not_to_its_subdomains(seconds: str, header: str) -> None:
    environment = os.environ | {"HTTPS": "1", "HSTS_SECONDS": seconds}
    done = subprocess.run(
        [sys.executable, "-c", PRINT_HEADER], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == header
