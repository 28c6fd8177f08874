"""Files under `MEDIA_ROOT`: one that has its name is whole, because it got the name after its last byte."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

from django.core.files.storage import FileSystemStorage

from attachments.storage.base import Deadline, NotStored, StorageError, StorageRefused, StorageUnavailable

PART_SUFFIX = ".part"
REFUSALS = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.ENAMETOOLONG})


class VerifyingFileStorage(FileSystemStorage):
    """Django's file storage with atomic, confirmed writes."""

    def store_verified(self, name: str, data: bytes, content_type: str, deadline: Deadline) -> None:
        """See `VerifyingStorage`; `content_type` has no place on disk."""
        path = Path(self.path(name))
        try:
            if not self._holds(path, data):
                path.parent.mkdir(parents=True, exist_ok=True)
                self._write(path, data)
                deadline.check()
            if not self._holds(path, data):
                raise StorageUnavailable("The file read back is not what was written.")
        except OSError as error:
            raise _storage_error(error) from error

    def fetch(self, name: str, size_bytes: int, deadline: Deadline) -> bytes:
        """See `VerifyingStorage`."""
        try:
            with open(self.path(name), "rb") as file:
                data = file.read(size_bytes + 1)
        except FileNotFoundError as error:
            raise NotStored(f"There is no file {name}.") from error
        except OSError as error:
            raise _storage_error(error) from error
        if len(data) != size_bytes:
            raise StorageUnavailable(f"The file {name} does not have the {size_bytes} bytes that it had.")
        return data

    def probe(self, deadline: Deadline) -> None:
        """See `VerifyingStorage`: the folder, or the next one above that exists, can be written."""
        path = Path(self.location)
        while not path.exists():
            path = path.parent
        if not os.access(path, os.W_OK | os.X_OK):
            raise StorageRefused("The media folder cannot be written.")

    def _holds(self, path: Path, data: bytes) -> bool:
        try:
            return path.stat().st_size == len(data) and path.read_bytes() == data
        except FileNotFoundError:
            return False

    def _write(self, path: Path, data: bytes) -> None:
        """Write beside the target, then rename, so that a crash at any moment leaves no half file there."""
        handle, part = tempfile.mkstemp(prefix=f"{path.name}.", suffix=PART_SUFFIX, dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if self.file_permissions_mode is not None:
                os.chmod(part, self.file_permissions_mode)
            os.replace(part, path)
        except OSError:
            Path(part).unlink(missing_ok=True)
            raise
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            # The rename itself must be on disk too before the copy in the database goes.
            os.fsync(folder)
        finally:
            os.close(folder)
        # Left by a process that was killed here; one that still writes finds its part gone and tries again.
        for left_over in path.parent.glob(f"{path.name}.*{PART_SUFFIX}"):
            left_over.unlink(missing_ok=True)


def _storage_error(error: OSError) -> StorageError:
    """A sentence for staff, without the path: it is the server's own business."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageUnavailable("The disk is full; nothing is lost, the file is tried again when there is room.")
    sentence = f"The media folder fails: {error.strerror or error}."
    return StorageRefused(sentence) if error.errno in REFUSALS else StorageUnavailable(sentence)
