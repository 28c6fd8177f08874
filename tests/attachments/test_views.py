"""The upload and content views: permissions, limits, and safe response headers."""

from __future__ import annotations

import gc
import hashlib
import io
import json
import threading
import uuid
import zipfile
from datetime import timedelta

import psycopg
import pytest
from django.contrib.auth.models import Permission
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError, connection
from django.db.models import F
from django.test import Client, RequestFactory
from pytest_django import DjangoAssertNumQueries, Settings

from attachments import storage, store, views
from attachments.image_reencoding import ReencodedImage, reencode_image
from attachments.models import Attachment, PendingUpload
from attachments.store import NewAttachment, create_attachments
from attachments.uploads import attempt_upload
from chat.models import QuotaUse, User
from chat.people.quotas import uploads as quota_uploads
from chat.people.quotas.uploads import count_upload
from tests.attachments.conftest import create_graph, png
from tests.attachments.fault_proxy import Fault, FaultProxy

SVG = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'><script>alert(1)</script></svg>"
HTML = b"<!doctype html><script>alert(1)</script>"
SHOWN_TYPES = {"image/png", "image/jpeg", "image/gif", "image/webp"}
SAFE_TYPES = SHOWN_TYPES | {"application/octet-stream", "text/plain; charset=utf-8"}


@pytest.fixture
def logged_in(client: Client, owner: User) -> Client:
    """Return a client that is logged in as the owner."""
    client.force_login(owner)
    return client


def upload(client: Client, name: str, data: bytes) -> tuple[int, dict[str, object]]:
    """Upload a file; return the status and the JSON of the response."""
    response = client.post("/attachments/", {"file": SimpleUploadedFile(name, data)})
    return response.status_code, response.json()


# --- reading ---------------------------------------------------------------------------------------------------------


def test_owner_reads_a_graph_before_and_after_its_upload(logged_in: Client, owner: User) -> None:
    graph = create_graph(owner)
    assert logged_in.get(graph.url).content == png()
    attempt_upload(graph.pk)
    assert not PendingUpload.objects.exists()
    response = logged_in.get(graph.url)
    assert (response.status_code, response.content) == (200, png())


def test_download_gets_status_503_while_unfinished_responses_hold_too_many_bytes(
    logged_in: Client, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = create_graph(owner)
    monkeypatch.setattr(views, "IN_FLIGHT_LIMIT_BYTES", 2 * len(png()))
    request = RequestFactory().get(graph.url)
    unfinished = [views.build_content_response(request, graph) for _ in range(2)]
    refused = views.build_content_response(request, graph)
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "10")
    unfinished.clear()
    gc.collect()
    # The test client reads each response to its end, which releases its bytes.
    responses = [logged_in.get(graph.url) for _ in range(5)]
    assert {response.status_code for response in responses} == {200}


@pytest.mark.django_db(transaction=True)
def test_no_connection_to_the_database_is_held_while_storage_or_the_client_is_slow(
    owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = create_graph(owner)
    request = RequestFactory().get(graph.url)
    connections: list[object] = []
    fetch = storage.fetch

    def note_and_fetch(name: str, size_bytes: int, limit_s: float | None = None) -> bytes:
        connections.append(connection.connection)
        return fetch(name, size_bytes, limit_s)

    monkeypatch.setattr(storage, "fetch", note_and_fetch)
    for _ in ("pending", "stored"):
        views.build_content_response(request, graph)
        connections.append(connection.connection)
        attempt_upload(graph.pk)
        graph.refresh_from_db()
    assert graph.status == Attachment.Status.STORED
    assert connections == [None, None, None]


@pytest.mark.django_db(transaction=True)
def test_no_connection_to_the_database_is_held_while_an_image_is_reencoded(
    owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    connections: list[object] = []

    def note_and_reencode(label: str, data: bytes, mime_type: str) -> ReencodedImage:
        connections.append(connection.connection)
        return reencode_image(label, data, mime_type)

    monkeypatch.setattr(store, "reencode_image", note_and_reencode)
    assert connection.connection is not None
    store.create_upload(owner_id=owner.pk, name="a.png", data=png())
    assert connections == [None]


def test_graph_is_served_inline_with_headers_that_block_scripts(logged_in: Client, owner: User) -> None:
    graph = create_graph(owner)
    headers = logged_in.get(graph.url).headers
    assert headers["Content-Type"] == "image/png"
    assert headers["Content-Disposition"] == 'inline; filename="graph-0.png"'
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Cache-Control"] == "private, max-age=31536000, immutable"
    assert headers["ETag"] == f'"{hashlib.sha256(png()).hexdigest()}"'


def test_client_with_the_current_etag_gets_304_without_a_storage_request(
    logged_in: Client, owner: User, s3: FaultProxy
) -> None:
    graph = create_graph(owner)
    attempt_upload(graph.pk)
    etag = logged_in.head(graph.url).headers["ETag"]
    s3.requests.clear()
    response = logged_in.get(graph.url, headers={"If-None-Match": etag})
    assert (response.status_code, response.content, s3.requests) == (304, b"", [])
    assert response.headers["ETag"] == etag
    assert response.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"


@pytest.mark.parametrize(
    ("who", "status"),
    [
        ("owner", 200),
        ("other", 404),
        ("anonymous", 302),
        ("staff without permission", 404),
        ("staff", 404),
        ("permission without staff", 404),
        ("superuser", 404),
    ],
)
def test_only_the_owner_may_read_an_attachment(client: Client, owner: User, who: str, status: int) -> None:
    graph = create_graph(owner)
    if who == "owner":
        client.force_login(owner)
    elif who != "anonymous":
        user = User.objects.create_user("reader", is_staff=who.startswith("staff"), is_superuser=who == "superuser")
        user.is_staff = user.is_staff or who == "superuser"
        user.save()
        if who in ("staff", "permission without staff"):
            user.user_permissions.add(Permission.objects.get(codename="view_attachment"))
        client.force_login(user)
    assert client.get(graph.url).status_code == status
    if status == 302:
        assert client.get(graph.url).headers["Location"].startswith("/accounts/login/")


def test_response_for_a_foreign_file_equals_the_response_for_an_unknown_id(
    client: Client, owner: User, settings: Settings
) -> None:
    settings.DEBUG = False
    client.force_login(User.objects.create_user("other"))
    graph = create_graph(owner)
    foreign = client.get(graph.url)
    absent = client.get(f"/attachments/{uuid.uuid4()}/content/")
    assert foreign.status_code == absent.status_code == 404
    assert foreign.content == absent.content
    assert foreign.headers == absent.headers


def test_download_runs_one_query_if_the_file_is_stored_and_two_if_its_upload_is_pending(
    logged_in: Client, owner: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    graph = create_graph(owner)
    session_and_user = 2
    with django_assert_num_queries(session_and_user + 2):
        logged_in.get(graph.url)
    attempt_upload(graph.pk)
    with django_assert_num_queries(session_and_user + 1):
        logged_in.get(graph.url)


def test_response_is_503_and_not_cached_if_storage_exceeds_the_deadline(
    logged_in: Client, owner: User, s3: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = create_graph(owner)
    attempt_upload(graph.pk)
    monkeypatch.setattr(storage, "ATTEMPT_LIMIT_S", 0.5)
    s3.fault = Fault.HANG
    response = logged_in.get(graph.url)
    # The response did not wait for the storage request, which still hangs.
    assert s3.hanging_requests == 1
    assert (response.status_code, response.headers["Cache-Control"]) == (503, "no-store")
    assert response.content.decode() == "“graph-0.png” cannot be read just now; please try again soon."


# --- uploading -------------------------------------------------------------------------------------------------------


def test_upload_returns_the_attachment(logged_in: Client, owner: User) -> None:
    status, body = upload(logged_in, "../../plot.png", png())
    attachment = Attachment.objects.get()
    assert status == 201
    assert body == {
        "id": str(attachment.pk),
        "index": None,
        "is_graph": False,
        "mime_type": "image/png",
        "name": "plot.png",
        "size_bytes": len(png()),
        "width": 8,
        "height": 6,
        "status": "pending",
        "url": f"/attachments/{attachment.pk}/content/",
    }
    assert attachment.owner == owner
    assert logged_in.get(attachment.url).content == png()


def test_refused_upload_returns_the_reason(logged_in: Client, settings: Settings) -> None:
    settings.UPLOAD_LIMIT_BYTES = 100_000
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("a.png", "a,b")
        file.writestr("b.png", "a,b")
    assert upload(logged_in, "a.zip", archive.getvalue())[0] == 400
    assert upload(logged_in, "a.png", png()[:40])[0] == 400
    assert upload(logged_in, "a.csv", b"") == (400, {"detail": "“a.csv” is empty (0 bytes). Choose another file."})
    assert upload(logged_in, "a.csv", b"a" * 100_001)[0] == 413
    status, body = upload(logged_in, "a.csv", b"a" * 200_000)
    assert (status, body) == (413, {"detail": "The file is too large: a file may have 0.0954 MB."})
    response = logged_in.post("/attachments/", b"", content_type="text/plain", headers={"Content-Length": "9" * 6000})
    assert response.status_code == 413
    assert logged_in.post("/attachments/").json() == {"detail": "There is no file in this request."}
    assert not Attachment.objects.exists()


def quotas(settings: Settings, **changed: int) -> None:
    settings.QUOTAS = {**settings.QUOTAS, **changed}


def test_uploads_of_a_day_are_limited(logged_in: Client, owner: User, settings: Settings) -> None:
    quotas(settings, upload_mb_per_day=1)
    half = b"x" * 512 * 1024
    assert [upload(logged_in, "a.txt", half)[0] for _ in range(2)] == [201, 201]
    response = logged_in.post("/attachments/", {"file": SimpleUploadedFile("b.txt", b"xy" * 1024)})
    assert response.status_code == 429
    assert response.json()["detail"].startswith(
        "“b.txt” has 2 KB, which is too much. You have uploaded 1 MB today, of at most 1 MB a day."
    )
    assert 0 < int(response.headers["Retry-After"]) <= 24 * 3600
    assert Attachment.objects.count() == PendingUpload.objects.count() == 2
    # A deleted file was uploaded all the same.
    Attachment.objects.all().delete()
    assert upload(logged_in, "b.txt", half)[0] == 429
    QuotaUse.objects.update(day=F("day") - timedelta(days=1))
    assert upload(logged_in, "b.txt", half)[0] == 201


def test_upload_quota_counts_neither_graphs_nor_uploads_of_other_users(
    logged_in: Client, owner: User, settings: Settings
) -> None:
    quotas(settings, upload_mb_per_day=1)
    create_graph(owner, data=png() + b"x" * 1024**2)
    client = Client()
    client.force_login(User.objects.create_user("other"))
    assert upload(client, "a.txt", b"x" * 1024**2)[0] == 201
    assert upload(logged_in, "a.txt", b"x" * 1024**2)[0] == 201


def test_user_whose_storage_quota_is_full_cannot_upload_but_new_graphs_are_kept(
    logged_in: Client, owner: User, settings: Settings
) -> None:
    quotas(settings, storage_mb=1)
    create_graph(owner, data=png() + b"x" * 1024**2)
    create_graph(owner)
    response = logged_in.post("/attachments/", {"file": SimpleUploadedFile("b.txt", b"x")})
    assert response.status_code == 403
    assert "which is too much. Your files take up 1" in response.json()["detail"]
    assert "Retry-After" not in response.headers
    assert Attachment.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_concurrent_uploads_cannot_exceed_the_quota(owner: User, settings: Settings) -> None:
    quotas(settings, upload_mb_per_day=1)
    outcomes: list[int] = []

    def send() -> None:
        client = Client()
        client.force_login(owner)
        outcomes.append(upload(client, "a.txt", b"x" * 512 * 1024)[0])
        connection.close()

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [201, 201, 429, 429]


def test_upload_is_retried_after_a_lock_timeout_and_after_no_other_error(
    owner: User, logged_in: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    causes: list[psycopg.OperationalError] = []

    def count_and_fail(owner_id: int, name: str, size_bytes: int) -> None:
        count_upload(owner_id, name, size_bytes)
        if causes:
            raise OperationalError from causes.pop()

    monkeypatch.setattr(quota_uploads, "count_upload", count_and_fail)
    causes.append(psycopg.errors.LockNotAvailable())
    assert upload(logged_in, "a.txt", b"abc")[0] == 201
    causes.append(psycopg.errors.QueryCanceled())
    with pytest.raises(OperationalError):
        upload(logged_in, "a.txt", b"abc")
    assert Attachment.objects.count() == 1
    assert QuotaUse.objects.get().upload_bytes == 3


def test_upload_requires_a_login_and_the_csrf_token(owner: User) -> None:
    assert upload(Client(), "a.csv", b"a,b")[0] == 401
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(owner)
    assert strict.post("/attachments/", {"file": SimpleUploadedFile("a.csv", b"a,b")}).status_code == 403
    assert strict.get("/attachments/").status_code == 405
    assert not Attachment.objects.exists()


HOSTILE_FILES = {
    "drawing.svg": SVG,
    "page.html": HTML,
    "page.xhtml": b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><script>alert(1)</script></html>",
    "table.csv": HTML,
    "data.json": b'{"a": "</script><script>alert(1)</script>"}',
    "picture.png": HTML,
    "picture.svg.png": SVG,
    "polyglot.gif": b"GIF89a/*\x01\x00\x01\x00\x00\x00\x00*/=1;alert(1);",
    "polyglot.png": png() + HTML,
    "polyglot.pdf": b"%PDF-1.7\n" + HTML,
    "script.js": b"alert(1)",
    "sheet.css": b"body { background: url(//evil.example) }",
    "utf7.txt": b"+ADw-script+AD4-alert(1)+ADw-/script+AD4-",
    "worker.mjs": b"self.addEventListener('fetch', () => {})",
    "page.mht": b"MIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n" + HTML,
    "link.url": b"[InternetShortcut]\r\nURL=javascript:alert(1)",
    "name\r\nX-Injected: 1.csv": b"a,b",
    "=cmd|' /C calc'!A0.csv": b"a,b",
    '"; filename="evil.html': b"a,b",
    "invoice\u202elmth.csv": b"a,b",
    "\0\0": b"a,b",
    "a" * 3000 + ".html": HTML,
    "archive.zip": b"PK\x03\x04" + bytes(100),
    "bomb.csv.gz": b"\x1f\x8b\x08" + bytes(100),
    "program.exe": b"MZ" + bytes(100),
}


@pytest.mark.parametrize("name", HOSTILE_FILES)
def test_hostile_upload_is_refused_or_served_with_a_harmless_type(logged_in: Client, name: str) -> None:
    status, body = upload(logged_in, name, HOSTILE_FILES[name])
    if status == 400:
        assert str(body["detail"]).endswith(".")
        return
    assert status == 201
    assert_harmless(logged_in, str(body["url"]))


@pytest.mark.parametrize(
    "mime_type",
    ["image/svg+xml", "text/html", "application/xhtml+xml", "text/xml", "application/javascript", "application/pdf"],
)
def test_attachment_whose_given_type_can_run_scripts_is_served_with_a_harmless_type(
    logged_in: Client, owner: User, mime_type: str
) -> None:
    new = NewAttachment(
        owner_id=owner.pk, data=SVG, name="x.svg", mime_type=mime_type, width=None, height=None, is_graph=True
    )
    [attachment] = create_attachments([new])
    assert_harmless(logged_in, attachment.url)


def assert_harmless(client: Client, url: str) -> None:
    """Assert that the response headers keep a browser from executing the file."""
    response = client.get(url)
    assert response.headers["Content-Type"] in SAFE_TYPES
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert "X-Injected" not in response.headers
    if response.headers["Content-Type"] not in SHOWN_TYPES:
        assert response.headers["Content-Disposition"].startswith("attachment")


def test_storage_url_never_appears_in_a_response(logged_in: Client, owner: User, s3: FaultProxy) -> None:
    graph = create_graph(owner)
    attempt_upload(graph.pk)
    response = logged_in.get(graph.url)
    graph.refresh_from_db()
    assert "X-Amz" not in json.dumps(dict(response.headers)) + json.dumps(graph.as_json())
    assert s3.url not in json.dumps(dict(response.headers)) + json.dumps(graph.as_json())
