"""Storage of files under `MEDIA_ROOT`. A file is renamed to its final name only after all of its bytes are written."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from pathlib import Path

from django.core.files.storage import FileSystemStorage

from attachments.storage.base import Deadline, ObjectNotFound, StorageError, StorageRefused, StorageUnavailable

PART_SUFFIX = ".part"
PERMANENT_ERRNOS = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.ENAMETOOLONG})


class VerifyingFileStorage(FileSystemStorage):
    """Django's file storage with atomic writes that are verified."""

    def store_verified(self, name: str, data: bytes, content_type: str, deadline: Deadline) -> None:
        """Write and verify a file that is not stored yet.

        `content_type` is ignored: a file system does not store it.
        """
        path = Path(self.path(name))
        try:
            if not self._is_stored(path, data):
                path.parent.mkdir(parents=True, exist_ok=True)
                self._write(path, data)
                deadline.check()
            if not self._is_stored(path, data):
                raise StorageUnavailable("The file read back is not what was written.")
        except OSError as error:
            raise _build_storage_error(error) from error

    def fetch(self, name: str, size_bytes: int, deadline: Deadline) -> bytes:
        """Return the bytes of a file. Raises StorageUnavailable if their number is not `size_bytes`."""
        try:
            with open(self.path(name), "rb") as file:
                data = file.read(size_bytes + 1)
        except FileNotFoundError as error:
            raise ObjectNotFound(f"There is no file {name}.") from error
        except OSError as error:
            raise _build_storage_error(error) from error
        if len(data) != size_bytes:
            raise StorageUnavailable(f"The file {name} does not have the {size_bytes} bytes that it had.")
        return data

    def remove(self, name: str, deadline: Deadline) -> None:
        """Delete a file, the temporary files of its unfinished writes, and folders that become empty."""
        path = Path(self.path(name))
        try:
            for part_path in path.parent.glob(f"{path.name}.*{PART_SUFFIX}"):
                part_path.unlink(missing_ok=True)
            path.unlink(missing_ok=True)
        except OSError as error:
            raise _build_storage_error(error) from error
        with contextlib.suppress(OSError):
            for folder in path.relative_to(self.location).parents[:-1]:
                (Path(self.location) / folder).rmdir()

    def probe(self, deadline: Deadline) -> None:
        """Raise StorageRefused unless the media folder, or its nearest existing parent folder, can be written."""
        path = Path(self.location)
        while not path.exists():
            path = path.parent
        if not os.access(path, os.W_OK | os.X_OK):
            raise StorageRefused("The media folder cannot be written.")

    def _is_stored(self, path: Path, data: bytes) -> bool:
        try:
            return path.stat().st_size == len(data) and path.read_bytes() == data
        except FileNotFoundError:
            return False

    def _write(self, path: Path, data: bytes) -> None:
        """Write a temporary file in the same folder and rename it, so that a crash never leaves a partial file."""
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
            # The rename must be on disk too before the copy in the database is deleted.
            os.fsync(folder)
        finally:
            os.close(folder)
        # Delete the temporary files of writers that were killed. A writer that is still alive fails and is retried.
        for part_path in path.parent.glob(f"{path.name}.*{PART_SUFFIX}"):
            part_path.unlink(missing_ok=True)


def _build_storage_error(error: OSError) -> StorageError:
    """Translate a system error into a storage error, whose message does not contain the path."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageUnavailable("The disk is full; nothing is lost, the file is tried again when there is room.")
    message = f"The media folder fails: {error.strerror or error}."
    return StorageRefused(message) if error.errno in PERMANENT_ERRNOS else StorageUnavailable(message)
