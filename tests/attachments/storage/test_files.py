"""The file storage: each file is complete or absent."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from attachments import storage
from attachments.storage import ObjectNotFound, StorageRefused, StorageUnavailable
from attachments.storage.base import Deadline
from attachments.storage.files import VerifyingFileStorage

NAME = "u1/ab/abc.png"


def test_stored_bytes_are_read_back_unchanged(media: Path) -> None:
    storage.put(NAME, b"picture", "image/png")
    assert storage.fetch(NAME, 7) == b"picture"
    assert [path.name for path in media.rglob("*") if path.is_file()] == ["abc.png"]


def test_existing_file_with_the_same_bytes_is_not_rewritten(media: Path) -> None:
    storage.put(NAME, b"picture", "image/png")
    before = (media / NAME).stat().st_ino
    storage.put(NAME, b"picture", "image/png")
    assert (media / NAME).stat().st_ino == before


def test_partial_file_with_the_same_name_is_replaced_by_the_complete_file(media: Path) -> None:
    (media / "u1/ab").mkdir(parents=True)
    (media / NAME).write_bytes(b"pic")
    storage.put(NAME, b"picture", "image/png")
    assert (media / NAME).read_bytes() == b"picture"


def test_absent_file_raises_object_not_found_and_changed_file_storage_unavailable(media: Path) -> None:
    with pytest.raises(ObjectNotFound):
        storage.fetch(NAME, 7)
    storage.put(NAME, b"picture", "image/png")
    (media / NAME).write_bytes(b"pictures")
    with pytest.raises(StorageUnavailable):
        storage.fetch(NAME, 7)


def test_file_name_that_leads_out_of_the_media_folder_is_refused() -> None:
    with pytest.raises(Exception, match="outside"):
        storage.put("../escaped.png", b"picture", "image/png")


def test_failed_write_raises_storage_unavailable_and_leaves_no_partial_file(media: Path) -> None:
    # A file size limit stands in for a full disk: the write fails after 1,000 bytes with a system error.
    code = """
import resource, signal, sys
from django.conf import settings
settings.configure(MEDIA_ROOT=sys.argv[1])
from attachments.storage.base import Deadline, StorageUnavailable
from attachments.storage.files import VerifyingFileStorage
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    VerifyingFileStorage().store_verified("u1/ab/abc.png", bytes(5000), "image/png", Deadline(5))
except StorageUnavailable as error:
    print(error)
"""
    process = subprocess.run([sys.executable, "-c", code, str(media)], capture_output=True, text=True, check=True)
    assert process.stdout.strip() == "The media folder fails: File too large."
    assert not [path for path in media.rglob("*") if path.is_file()]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_error_message_says_that_the_disk_is_full(media: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.mkstemp", lambda **options: (os.open("/dev/full", os.O_WRONLY), str(media / "x")))
    with pytest.raises(StorageUnavailable, match="The disk is full"):
        storage.put(NAME, b"picture", "image/png")


def test_media_path_that_is_a_file_raises_storage_refused(media: Path) -> None:
    media.parent.mkdir(exist_ok=True)
    media.write_bytes(b"")
    with pytest.raises(StorageRefused):
        storage.put(NAME, b"picture", "image/png")


def test_killed_writer_leaves_no_partial_file_and_its_temporary_file_is_deleted_later(media: Path) -> None:
    code = """
import sys
import tempfile
from django.conf import settings
settings.configure(MEDIA_ROOT=sys.argv[1])
from attachments.storage.base import Deadline
from attachments.storage.files import VerifyingFileStorage
make_temporary_file = tempfile.mkstemp
def report_temporary_file(**options):
    created = make_temporary_file(**options)
    print("created", flush=True)
    return created
tempfile.mkstemp = report_temporary_file
VerifyingFileStorage().store_verified("u1/ab/abc.png", bytes(60_000_000), "image/png", Deadline(60))
"""
    for _ in range(3):
        writer = subprocess.Popen([sys.executable, "-c", code, str(media)], stdout=subprocess.PIPE)
        with writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"created\n"
            writer.kill()
        target = media / NAME
        assert not target.exists() or target.stat().st_size == 60_000_000
        target.unlink(missing_ok=True)
    VerifyingFileStorage().store_verified(NAME, b"picture", "image/png", Deadline(5))
    assert [path.name for path in media.rglob("*") if path.is_file()] == ["abc.png"]


def test_probe_of_a_folder_that_does_not_exist_yet_succeeds_and_does_not_create_it(media: Path) -> None:
    storage.probe()
    assert not media.exists()
