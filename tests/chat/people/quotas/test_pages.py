"""Limits of pages and of the API: a refusal has a sentence with numbers, and says when to try again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import Settings

from chat.models import Conversation, Quota, User
from chat.people.quotas.enforcement import count_usage
from chat.people.quotas.resources import Resource
from tests.chat.library.imports.documents import MINIMAL
from tests.factories import make_conversation, make_model_message, make_user

pytestmark = pytest.mark.django_db

API = "/api/v1/"


def check_wait(response: Any, sentence: str, *, most_s: int = 24 * 3600) -> None:  # noqa: ANN401 - Django's responses
    """Check a refusal that waiting helps against."""
    assert response.status_code == 429
    assert sentence in response.content.decode()
    assert 0 < int(response.headers["Retry-After"]) <= most_s


def test_conversation_quota_applies_to_page_api_and_imports(browser: Client, owner: User) -> None:
    Quota.objects.create(user=owner, conversations_per_day=2)
    assert browser.post(f"{API}conversations/", {}, content_type="application/json").status_code == 201
    browser.post("/c/new/")
    assert Conversation.objects.count() == 1, "an untouched conversation is opened again"
    make_model_message(Conversation.objects.get())
    assert browser.post("/c/new/").status_code == 302
    make_model_message(Conversation.objects.exclude(messages__isnull=False).get())
    sentence = (
        "You have created 2 conversations today, of at most 2 conversations a day. More is possible from 00:00 UTC"
    )
    check_wait(browser.post("/c/new/"), sentence)
    response = browser.post(f"{API}conversations/", {}, content_type="application/json")
    check_wait(response, sentence)
    assert response.json()["type"] == "/api/docs/#problem-quota"
    file = SimpleUploadedFile("a.json", json.dumps(MINIMAL).encode())
    response = browser.post("/import/", {"file": file})
    check_wait(response, "“a.json” has 1 conversation, which is too much. You have created 2 conversations today")
    assert 'type="file"' in response.content.decode(), "another file can be chosen"
    check_wait(
        browser.post(f"{API}import/", json.dumps(MINIMAL).encode(), content_type="application/json"),
        "This file has 1 conversation",
    )
    Conversation.objects.all().delete()
    check_wait(browser.get("/"), sentence)
    assert not Conversation.objects.exists()


def test_full_storage_is_refused_with_status_403_and_no_waiting_time(browser: Client, owner: User) -> None:
    Quota.objects.create(user=owner, storage_mb=1)
    file = SimpleUploadedFile("a.txt", b"x" * (1024**2 + 1))
    response = browser.post(f"{API}attachments/", {"file": file})
    assert (response.status_code, response.json()["type"]) == (403, "/api/docs/#problem-storage-full")
    assert "Your files take up 0 KB, of at most 1 MB." in response.json()["detail"]
    assert "Retry-After" not in response.headers


def test_exports_and_new_conversations_of_pages_share_the_rate_limit_of_the_api(
    browser: Client, owner: User, settings: Settings
) -> None:
    settings.API_CALLS_PER_MINUTE = 2
    conversation = make_model_message(make_conversation(owner)).conversation
    assert browser.get(f"{API}conversations/").status_code == 200
    assert browser.post("/c/new/").status_code == 302
    for path in (f"/c/{conversation.pk}/export/json/", "/export/"):
        check_wait(browser.get(path), "Too many calls within a minute. Wait ", most_s=60)
    check_wait(browser.post("/c/new/"), "Too many calls within a minute", most_s=60)
    response = browser.get("/export/", headers={"Accept": "application/json"})
    assert response.json()["detail"].startswith("Too many calls within a minute. Wait ")
    assert browser.get(f"/c/{conversation.pk}/").status_code == 200, "reading is not limited"


def test_imports_on_the_page_and_in_the_api_share_one_rate_limit(browser: Client, settings: Settings) -> None:
    settings.API_WRITES_PER_MINUTE = 1
    assert browser.post(f"{API}import/", b"{}", content_type="application/json").status_code == 422
    check_wait(browser.post("/import/"), "Too many calls within a minute", most_s=60)
    assert browser.get("/import/").status_code == 200


def test_uploads_on_the_page_and_in_the_api_share_one_rate_limit(browser: Client, settings: Settings) -> None:
    settings.API_WRITES_PER_MINUTE = 1
    assert browser.post(f"{API}attachments/", {"file": SimpleUploadedFile("a.txt", b"a")}).status_code == 201
    file, headers = SimpleUploadedFile("b.txt", b"b"), {"Accept": "application/json"}
    response = browser.post("/attachments/", {"file": file}, headers=headers)
    check_wait(response, "Too many calls within a minute", most_s=60)
    assert response.json()["detail"].endswith(" seconds.")
    strict = Client(enforce_csrf_checks=True)
    assert strict.post("/attachments/", {"file": file}).status_code == 403


def test_sign_ups_from_one_address_are_limited(settings: Settings) -> None:
    assert settings.ACCOUNT_RATE_LIMITS["signup"] == f"{settings.API_WRITES_PER_MINUTE}/m/ip"
    settings.ACCOUNT_RATE_LIMITS = {**settings.ACCOUNT_RATE_LIMITS, "signup": "2/m/ip"}
    browser = Client()
    responses = [browser.post("/accounts/signup/", {"username": ""}) for _ in range(3)]
    assert [response.status_code for response in responses] == [200, 200, 429]
    assert "Wait a minute, then try again." in responses[-1].content.decode()
    assert responses[-1].headers["Retry-After"] == "60"


def test_page_shows_what_is_left_of_limits(browser: Client, owner: User) -> None:
    Quota.objects.create(user=owner, turns_per_day=10, kernel_seconds_per_day=0)
    count_usage(owner.pk, Resource.TURNS, 4)
    count_usage(owner.pk, Resource.KERNEL_TIME, 1_500)
    limits = {limit.pop("name"): limit for limit in browser.get(f"{API}limits/").json()["limits"]}
    resets_at = limits["turns"].pop("resets_at")
    assert resets_at.endswith("T00:00:00Z")
    assert limits["turns"] == {"used": 4, "limit": 10, "left": 6, "estimated": 0}
    assert limits["kernel_ms"] == {
        "used": 1_500,
        "limit": None,
        "left": None,
        "resets_at": resets_at,
        "estimated": 0,
    }
    assert limits["storage_bytes"]["resets_at"] is None
    assert set(limits) == {resource.counter for resource in Resource}


def test_admin_shows_usage_and_changes_limits(owner: User) -> None:
    staff = Client()
    staff.force_login(make_user(is_staff=True, is_superuser=True))
    count_usage(owner.pk, Resource.TURNS, 4)
    response = staff.post("/admin/chat/quota/add/", {"user": owner.pk, "turns_per_day": 5})
    assert response.status_code == 302
    quota = Quota.objects.get()
    assert (quota.user, quota.turns_per_day, quota.tokens_per_day) == (owner, 5, None)
    for path in (f"/admin/chat/quota/{quota.pk}/change/", f"/admin/chat/user/{owner.pk}/change/"):
        assert "4 answers of 5 answers today" in staff.get(path).content.decode()
    response = staff.post("/admin/chat/quota/add/", {"turns_per_day": 5})
    assert "Choose either a person or a group." in response.content.decode()
