"""Buckets whose name must be in the host of a request, as some services demand."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest
from pytest_django import Settings

from attachments import storage
from attachments.storage import StorageRefused, StorageUnavailable

HOST = "bucket.storage.test"


class VirtualHosted(BaseHTTPRequestHandler):
    """A proxy to a bucket that refuses addresses with its name in their path."""

    protocol_version = "HTTP/1.1"
    objects: dict[str, bytes]
    refusal = ("SecondLevelDomainForbidden", "Not here.")

    def answer(self) -> None:
        """Answer a request of any method."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        url = urlsplit(self.path)
        status, content = 200, b""
        if url.netloc != HOST:
            status = 403
            content = "<Error><Code>{}</Code><Message>{}</Message></Error>".format(*self.refusal).encode()
        elif self.command == "PUT":
            self.objects[url.path] = body
        elif url.path in self.objects:
            content = self.objects[url.path]
        else:
            status, content = 404, b"<Error><Code>NoSuchKey</Code></Error>"
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_HEAD = do_PUT = answer

    def log_message(self, format: str, *args: object) -> None:
        """Write no log."""


@pytest.fixture
def objects(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, bytes]]:
    """Configure such a bucket as the storage, and return its objects by path."""
    stored: dict[str, bytes] = {}
    handler = type("Handler", (VirtualHosted,), {"objects": stored})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{server.server_port}")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    settings.AWS_STORAGE_BUCKET_NAME = "bucket"
    settings.AWS_S3_ENDPOINT_URL = "http://storage.test"
    settings.AWS_S3_REGION_NAME = "us-east-1"
    settings.AWS_ACCESS_KEY_ID = settings.AWS_SECRET_ACCESS_KEY = "key"
    settings.AWS_S3_ADDRESSING_STYLE = "virtual"
    settings.STORAGES = {**settings.STORAGES, "default": {"BACKEND": "attachments.storage.s3.VerifyingS3Storage"}}
    yield stored
    server.shutdown()
    server.server_close()


def test_virtual_addressing_stores_and_reads_with_the_bucket_in_the_host_name(objects: dict[str, bytes]) -> None:
    storage.put("u1/a.txt", b"data", "text/plain")
    assert objects == {"/u1/a.txt": b"data"}
    assert storage.fetch("u1/a.txt", 4) == b"data"


@pytest.mark.parametrize(
    "refusal",
    [
        VirtualHosted.refusal,
        ("VirtualHostDomainRequired", "Not here."),
        ("AccessDenied", "Please use virtual-hosted style for requests."),
        ("AccessDenied", "Path-style access is not supported for this bucket."),
        ("PathStyleDomainForbidden", "The bucket must be addressed using COS virtual-styled domain."),
        ("InvalidPathAccess", "Not here."),
    ],
)
def test_error_of_a_refused_request_says_to_set_the_addressing_style_variable(
    objects: dict[str, bytes], settings: Settings, monkeypatch: pytest.MonkeyPatch, refusal: tuple[str, str]
) -> None:
    monkeypatch.setattr(VirtualHosted, "refusal", refusal)
    settings.AWS_S3_ADDRESSING_STYLE = "auto"
    with pytest.raises(StorageRefused, match="Set AWS_S3_ADDRESSING_STYLE=virtual"):
        storage.put("u1/a.txt", b"data", "text/plain")
    assert objects == {}


def test_error_of_an_unknown_bucket_host_says_to_set_the_addressing_style_variable(
    objects: dict[str, bytes], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    settings.AWS_S3_ENDPOINT_URL = "http://storage.invalid"
    with pytest.raises(StorageUnavailable, match=r"http://bucket\.storage\.invalid.*Set AWS_S3_ADDRESSING_STYLE=path"):
        storage.put("u1/a.txt", b"data", "text/plain")
