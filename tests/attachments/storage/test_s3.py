"""S3 with a real server behind a proxy that breaks things."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable

import pytest
from pytest_django import Settings

from attachments import storage
from attachments.storage import NotStored, StorageRefused, StorageUnavailable
from attachments.storage import base as storage_base
from attachments.storage import s3 as s3_module
from tests.attachments.fault_proxy import FaultProxy

DATA = bytes(range(256)) * 400
NAME = f"u1/aa/{hashlib.sha256(DATA).hexdigest()}.png"
Objects = Callable[[], dict[str, bytes]]


@pytest.fixture
def short_limits(s3: FaultProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits of a second instead of several; the client, slow to make, is there already."""
    monkeypatch.setattr(s3_module, "READ_LIMIT_S", 0.8)
    storage.probe()
    monkeypatch.setattr(storage, "ATTEMPT_LIMIT_S", 1.0)


def test_bytes_come_back_as_they_were_put(s3: FaultProxy, objects: Objects) -> None:
    storage.put(NAME, DATA, "image/png")
    assert storage.fetch(NAME, len(DATA)) == DATA
    assert objects() == {NAME: DATA}


def test_object_that_is_there_already_is_verified_and_kept(s3: FaultProxy) -> None:
    storage.put(NAME, DATA, "image/png")
    s3.requests.clear()
    storage.put(NAME, DATA, "image/png")
    assert [method for method, _ in s3.requests] == ["HEAD"]


def test_object_with_other_bytes_of_the_same_size_is_replaced(s3: FaultProxy, objects: Objects) -> None:
    storage.put(NAME, DATA[::-1], "image/png")
    storage.put(NAME, DATA, "image/png")
    assert objects() == {NAME: DATA}


def test_absent_object_is_told_apart(s3: FaultProxy) -> None:
    with pytest.raises(NotStored):
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
def test_refusal_is_permanent_and_named(s3: FaultProxy, status: int, code: str) -> None:
    s3.fault, s3.error = "deny", (status, code, "No.")
    with pytest.raises(StorageRefused, match=f"Storage answered {status} {code}: No."):
        storage.put(NAME, DATA, "image/png")
    assert len(s3.requests) <= 2


def test_server_that_only_redirects_is_a_refusal(s3: FaultProxy) -> None:
    s3.fault, s3.error = "deny", (301, "PermanentRedirect", "Elsewhere.")
    with pytest.raises(StorageRefused, match="only redirects"):
        storage.put(NAME, DATA, "image/png")
    assert len(s3.requests) <= 2


@pytest.mark.parametrize(
    ("status", "code"), [(500, "InternalError"), (503, "SlowDown"), (400, "RequestTimeout"), (507, "StorageFull")]
)
def test_passing_fault_is_not_permanent(s3: FaultProxy, status: int, code: str) -> None:
    s3.fault, s3.error = "deny", (status, code, "Later.")
    with pytest.raises(StorageUnavailable, match=code):
        storage.put(NAME, DATA, "image/png")


def test_refusing_port_fails_at_once(s3: FaultProxy) -> None:
    storage.probe()
    s3.refuse()
    started_s = time.monotonic()
    with pytest.raises(StorageUnavailable, match="not reached"):
        storage.put(NAME, DATA, "image/png")
    assert time.monotonic() - started_s < 2


def test_black_hole_takes_less_than_twelve_seconds(s3: FaultProxy) -> None:
    s3.fault = "hole"
    started_s = time.monotonic()
    with pytest.raises(StorageUnavailable):
        storage.put(NAME, DATA, "image/png")
    assert time.monotonic() - started_s < 12


def test_server_that_drips_bytes_is_given_up_in_time(s3: FaultProxy, short_limits: None) -> None:
    storage.put(NAME, DATA, "image/png")
    s3.fault = "drip"
    started_s = time.monotonic()
    with pytest.raises(StorageUnavailable, match="did not finish"):
        storage.fetch(NAME, len(DATA))
    assert time.monotonic() - started_s < 2


def test_answer_that_never_gets_past_its_head_is_given_up_in_time(s3: FaultProxy, short_limits: None) -> None:
    s3.fault = "drip line"
    started_s = time.monotonic()
    with pytest.raises(StorageUnavailable, match="did not finish"):
        storage.put(NAME, DATA, "image/png")
    assert time.monotonic() - started_s < 2


def test_calls_left_behind_cannot_pile_up(s3: FaultProxy, short_limits: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage_base, "_free_slots", threading.BoundedSemaphore(1))
    s3.fault = "drip line"
    with pytest.raises(StorageUnavailable, match="did not finish"):
        storage.put(NAME, DATA, "image/png")
    with pytest.raises(StorageUnavailable, match="too many calls"):
        storage.put(NAME, DATA, "image/png")
    s3.release()
    s3.fault = "pass"
    storage.put(NAME, DATA, "image/png")


def test_put_cut_at_a_random_byte_is_never_taken_for_stored(s3: FaultProxy, objects: Objects) -> None:
    s3.fault = "cut"
    outcomes = []
    for number in range(20):
        data = DATA + bytes([number])
        name = f"u1/aa/{number}.png"
        try:
            storage.put(name, data, "image/png")
        except StorageUnavailable:
            outcomes.append("failed")
        else:
            assert objects()[name] == data
            outcomes.append("stored")
    assert {"failed", "stored"} == set(outcomes)


def test_missing_keys_are_a_refusal(s3: FaultProxy, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    settings.AWS_ACCESS_KEY_ID = settings.AWS_SECRET_ACCESS_KEY = None
    settings.STORAGES = dict(settings.STORAGES)
    with pytest.raises(StorageRefused, match="credentials"):
        storage.put(NAME, DATA, "image/png")


def test_probe_tells_whether_storage_answers(s3: FaultProxy) -> None:
    storage.probe()
    s3.fault, s3.error = "deny", (403, "AccessDenied", "These keys may not list.")
    storage.probe()
    s3.error = (403, "InvalidAccessKeyId", "Who?")
    with pytest.raises(StorageRefused):
        storage.probe()
    s3.refuse()
    with pytest.raises(StorageUnavailable):
        storage.probe()
