"""Every response but static files turns off DNS prefetching. HSTS names only what the operator wants."""

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


@pytest.mark.parametrize(("variables", "is_preloaded"), [({}, False), ({"HSTS_PRELOAD": "1"}, True)])
def test_browsers_may_preload_the_domain_only_if_the_operator_says_so(
    variables: dict[str, str], is_preloaded: bool
) -> None:
    program = "from config import settings; print(settings.SECURE_HSTS_SECONDS, settings.SECURE_HSTS_PRELOAD)"
    environment = os.environ | {"HTTPS": "1"} | variables
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["31536000", str(is_preloaded)]
