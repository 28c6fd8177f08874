"""Files on disk: whole or absent."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from attachments import storage
from attachments.storage import NotStored, StorageRefused, StorageUnavailable
from attachments.storage.base import Deadline
from attachments.storage.files import VerifyingFileStorage

NAME = "u1/ab/abc.png"


def test_bytes_come_back_as_they_were_put(media: Path) -> None:
    storage.put(NAME, b"picture", "image/png")
    assert storage.fetch(NAME, 7) == b"picture"
    assert [path.name for path in media.rglob("*") if path.is_file()] == ["abc.png"]


def test_putting_again_keeps_the_file_that_is_there(media: Path) -> None:
    storage.put(NAME, b"picture", "image/png")
    before = (media / NAME).stat().st_ino
    storage.put(NAME, b"picture", "image/png")
    assert (media / NAME).stat().st_ino == before


def test_half_file_is_replaced(media: Path) -> None:
    (media / "u1/ab").mkdir(parents=True)
    (media / NAME).write_bytes(b"pic")
    storage.put(NAME, b"picture", "image/png")
    assert (media / NAME).read_bytes() == b"picture"


def test_absent_and_changed_files_are_told_apart(media: Path) -> None:
    with pytest.raises(NotStored):
        storage.fetch(NAME, 7)
    storage.put(NAME, b"picture", "image/png")
    (media / NAME).write_bytes(b"pictures")
    with pytest.raises(StorageUnavailable):
        storage.fetch(NAME, 7)


def test_name_cannot_leave_the_media_folder() -> None:
    with pytest.raises(Exception, match="outside"):
        storage.put("../escaped.png", b"picture", "image/png")


def test_full_disk_is_no_refusal_and_leaves_no_part(media: Path) -> None:
    # A limit of the size of files stands in for the disk: the write fails half-way with an error of the system.
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
    done = subprocess.run([sys.executable, "-c", code, str(media)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "The media folder fails: File too large."
    assert not [path for path in media.rglob("*") if path.is_file()]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_no_room_is_said_in_words(media: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.mkstemp", lambda **options: (os.open("/dev/full", os.O_WRONLY), str(media / "x")))
    with pytest.raises(StorageUnavailable, match="The disk is full"):
        storage.put(NAME, b"picture", "image/png")


def test_media_folder_that_is_a_file_is_a_refusal(media: Path) -> None:
    media.parent.mkdir(exist_ok=True)
    media.write_bytes(b"")
    with pytest.raises(StorageRefused):
        storage.put(NAME, b"picture", "image/png")


def test_writer_killed_anywhere_leaves_no_half_file_and_its_part_goes_later(media: Path) -> None:
    code = """
import sys
from django.conf import settings
settings.configure(MEDIA_ROOT=sys.argv[1])
from attachments.storage.base import Deadline
from attachments.storage.files import VerifyingFileStorage
print("ready", flush=True)
VerifyingFileStorage().store_verified("u1/ab/abc.png", bytes(60_000_000), "image/png", Deadline(60))
"""
    for _ in range(3):
        writer = subprocess.Popen([sys.executable, "-c", code, str(media)], stdout=subprocess.PIPE)
        with writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            while writer.poll() is None and not list(media.rglob("*.part")):
                time.sleep(0.001)
            writer.kill()
        target = media / NAME
        assert not target.exists() or target.stat().st_size == 60_000_000
        target.unlink(missing_ok=True)
    VerifyingFileStorage().store_verified(NAME, b"picture", "image/png", Deadline(5))
    assert [path.name for path in media.rglob("*") if path.is_file()] == ["abc.png"]


def test_probe_tells_whether_the_folder_can_be_written(media: Path) -> None:
    storage.probe()
    assert not media.exists()
