"""The S3 storage, with a real S3 server behind a proxy that injects faults."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable

import pytest
from pytest_django import Settings

from attachments import storage
from attachments.storage import ObjectNotFound, StorageRefused, StorageUnavailable
from attachments.storage import base as storage_base
from tests.attachments.fault_proxy import Fault, FaultProxy

DATA = bytes(range(256)) * 400
NAME = f"u1/aa/{hashlib.sha256(DATA).hexdigest()}.png"
ReadBucket = Callable[[], dict[str, bytes]]


@pytest.fixture
def limit_attempts(s3: FaultProxy, monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Return a function that sets the time limit of an attempt, in seconds. The client is created before."""
    monkeypatch.setattr(storage, "PROBE_LIMIT_S", 60.0)
    storage.probe()
    return lambda limit_s: monkeypatch.setattr(storage, "ATTEMPT_LIMIT_S", limit_s)


def test_stored_bytes_are_read_back_unchanged(s3: FaultProxy, read_bucket: ReadBucket) -> None:
    storage.put(NAME, DATA, "image/png")
    assert storage.fetch(NAME, len(DATA)) == DATA
    assert read_bucket() == {NAME: DATA}


def test_existing_object_with_the_same_bytes_is_verified_and_not_rewritten(s3: FaultProxy) -> None:
    storage.put(NAME, DATA, "image/png")
    s3.requests.clear()
    storage.put(NAME, DATA, "image/png")
    assert [method for method, _ in s3.requests] == ["HEAD"]


def test_object_with_other_bytes_of_the_same_size_is_replaced(s3: FaultProxy, read_bucket: ReadBucket) -> None:
    storage.put(NAME, DATA[::-1], "image/png")
    storage.put(NAME, DATA, "image/png")
    assert read_bucket() == {NAME: DATA}


def test_reading_an_absent_object_raises_object_not_found(s3: FaultProxy) -> None:
    with pytest.raises(ObjectNotFound):
        storage.fetch(NAME, len(DATA))


def test_bucket_is_never_listed(s3: FaultProxy) -> None:
    storage.put(NAME, DATA, "image/png")
    storage.fetch(NAME, len(DATA))
    storage.probe()
    assert not [path for method, path in s3.requests if "list" in path or path.strip("/") == "plotline"]


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (403, "RequestTimeTooSkewed"),
        (403, "AccessDenied"),
        (403, "InvalidAccessKeyId"),
        (403, "SignatureDoesNotMatch"),
        (400, "ExpiredToken"),
        (404, "NoSuchBucket"),
    ],
)
def test_refused_request_raises_storage_refused_with_the_servers_error_text(
    s3: FaultProxy, status: int, code: str
) -> None:
    s3.fault, s3.error = Fault.ERROR, (status, code, "No.")
    with pytest.raises(StorageRefused, match=f"Storage answered {status} {code}: No."):
        storage.put(NAME, DATA, "image/png")
    assert len(s3.requests) <= 2


def test_server_that_only_redirects_raises_storage_refused(s3: FaultProxy) -> None:
    s3.fault, s3.error = Fault.ERROR, (301, "PermanentRedirect", "Elsewhere.")
    with pytest.raises(StorageRefused, match="only redirects"):
        storage.put(NAME, DATA, "image/png")
    assert len(s3.requests) <= 2


@pytest.mark.parametrize(
    ("status", "code"), [(500, "InternalError"), (503, "SlowDown"), (400, "RequestTimeout"), (507, "StorageFull")]
)
def test_transient_server_error_raises_storage_unavailable(s3: FaultProxy, status: int, code: str) -> None:
    s3.fault, s3.error = Fault.ERROR, (status, code, "Later.")
    with pytest.raises(StorageUnavailable, match=code):
        storage.put(NAME, DATA, "image/png")


def test_error_for_a_closed_port_says_that_storage_was_not_reached(s3: FaultProxy) -> None:
    s3.refuse()
    with pytest.raises(StorageUnavailable, match="not reached"):
        storage.put(NAME, DATA, "image/png")


@pytest.mark.drill
def test_request_to_a_silent_server_ends_at_the_read_timeout(s3: FaultProxy) -> None:
    s3.fault = Fault.HANG
    # At the deadline of the attempt the message would be "did not finish".
    with pytest.raises(StorageUnavailable, match="not reached or broke off"):
        storage.put(NAME, DATA, "image/png")
    assert s3.hanging_requests == 1


def test_read_from_a_slow_server_ends_at_the_deadline(s3: FaultProxy, limit_attempts: Callable[[float], None]) -> None:
    storage.put(NAME, DATA, "image/png")
    s3.fault = Fault.SLOW_BODY
    limit_attempts(1.0)
    with pytest.raises(StorageUnavailable, match="did not finish"):
        storage.fetch(NAME, len(DATA))


def test_response_whose_headers_never_end_is_abandoned_at_the_deadline(
    s3: FaultProxy, limit_attempts: Callable[[float], None]
) -> None:
    s3.fault = Fault.SLOW_HEADERS
    limit_attempts(1.0)
    with pytest.raises(StorageUnavailable, match="did not finish"):
        storage.put(NAME, DATA, "image/png")


def test_number_of_abandoned_calls_is_limited(
    s3: FaultProxy, limit_attempts: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage_base, "_free_slots", threading.BoundedSemaphore(1))
    limit_attempts(1.0)
    s3.fault = Fault.SLOW_HEADERS
    with pytest.raises(StorageUnavailable, match="did not finish"):
        storage.put(NAME, DATA, "image/png")
    with pytest.raises(StorageUnavailable, match="too many calls"):
        storage.put(NAME, DATA, "image/png")
    s3.release()
    s3.fault = Fault.NONE
    limit_attempts(60.0)
    storage.put(NAME, DATA, "image/png")


def test_storage_call_whose_thread_cannot_start_does_not_use_up_a_slot(
    s3: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    slots = threading.BoundedSemaphore(1)
    monkeypatch.setattr(storage_base, "_free_slots", slots)

    def fail(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", fail)
        with pytest.raises(RuntimeError, match="new thread"):
            storage.put(NAME, DATA, "image/png")
    assert slots.acquire(blocking=False)


def test_truncated_upload_raises_an_error_unless_all_bytes_are_stored(s3: FaultProxy, read_bucket: ReadBucket) -> None:
    s3.fault = Fault.TRUNCATE_HALF
    outcomes = []
    for number in range(20):
        data = DATA + bytes([number])
        name = f"u1/aa/{number}.png"
        try:
            storage.put(name, data, "image/png")
        except StorageUnavailable:
            outcomes.append("failed")
        else:
            assert read_bucket()[name] == data
            outcomes.append("stored")
    assert {"failed", "stored"} == set(outcomes)


def test_missing_credentials_raise_storage_refused(
    s3: FaultProxy, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    settings.AWS_ACCESS_KEY_ID = settings.AWS_SECRET_ACCESS_KEY = None
    settings.STORAGES = dict(settings.STORAGES)
    with pytest.raises(StorageRefused, match="credentials"):
        storage.put(NAME, DATA, "image/png")


def test_probe_fails_for_wrong_credentials_and_without_a_connection(
    s3: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "PROBE_LIMIT_S", 60.0)
    storage.probe()
    s3.fault, s3.error = Fault.ERROR, (403, "AccessDenied", "These keys may not list.")
    storage.probe()
    s3.error = (403, "InvalidAccessKeyId", "Who?")
    with pytest.raises(StorageRefused):
        storage.probe()
    s3.refuse()
    with pytest.raises(StorageUnavailable):
        storage.probe()
