"""S3-compatible storage in a private bucket: no listing, no public address, no part of boto3 above this module.

Sources: docs.aws.amazon.com/AmazonS3/latest/API (PutObject, HeadObject, ErrorResponses); botocore/args.py.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import re
import threading
from collections.abc import Iterator
from typing import Any

from botocore.client import BaseClient
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
    PartialCredentialsError,
)
from botocore.parsers import ResponseParserError
from storages.backends.s3 import S3Storage

from attachments.storage.base import Deadline, NotStored, StorageError, StorageRefused, StorageUnavailable

#: botocore's own limits are 60 s a wait and several attempts: 183 s for one upload into a black hole.
CONNECT_LIMIT_S = 3
READ_LIMIT_S = 5
#: Small enough that a server at 2 KB/s fills one within the read limit, so that deadlines are looked at.
CHUNK_BYTES = 8 * 1024

#: Answers that a later try may change although their status is below 500.
PASSING_CODES = frozenset(
    {"RequestTimeout", "BadDigest", "IncompleteBody", "XAmzContentSHA256Mismatch", "OperationAborted", "SlowDown"}
)
PASSING_STATUSES = frozenset({408, 409, 425, 429})
MISCONFIGURED = (NoCredentialsError, PartialCredentialsError, NoRegionError, ParamValidationError)

_MD5_ETAG = re.compile(r'"?([0-9a-f]{32})"?')


class VerifyingS3Storage(S3Storage):  # type: ignore[misc]  # django-storages has no types
    """django-storages' S3 with bounded waits, and writes that count only when the server's checksum agrees."""

    def __init__(self, **options: object) -> None:
        super().__init__(**options)
        self._shared_client: BaseClient | None = None
        self._client_lock = threading.Lock()

    def get_default_settings(self) -> dict[str, Any]:
        """What django-storages reads from the settings, made private and bounded."""
        defaults: dict[str, Any] = super().get_default_settings()
        return defaults | {
            "default_acl": None,
            "querystring_auth": False,
            "file_overwrite": True,
            "client_config": Config(
                signature_version="s3v4",
                # With an endpoint of one's own, `auto` means path style: no wildcard DNS is needed.
                s3={"addressing_style": "auto"},
                connect_timeout=CONNECT_LIMIT_S,
                read_timeout=READ_LIMIT_S,
                # The pending row retries, with memory; a second try in here only takes time.
                retries={"total_max_attempts": 1, "mode": "standard"},
                # Newer default checksums travel in trailers that many compatible servers do not know.
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
                max_pool_connections=32,
            ),
        }

    def store_verified(self, name: str, data: bytes, content_type: str, deadline: Deadline) -> None:
        """See `VerifyingStorage`."""
        with _storage_errors():
            if self._holds_already(name, data, deadline):
                return
            deadline.check()
            md5 = hashlib.md5(data, usedforsecurity=False).digest()
            self._client().put_object(
                Bucket=self.bucket_name,
                Key=self._key(name),
                Body=data,
                ContentType=content_type,
                # The server itself refuses a body that arrives cut or changed.
                ContentMD5=base64.b64encode(md5).decode(),
            )
            deadline.check()
            if not self._holds(name, data, deadline):
                raise StorageUnavailable("What storage confirms is not what was sent.")

    def fetch(self, name: str, size_bytes: int, deadline: Deadline) -> bytes:
        """See `VerifyingStorage`."""
        with _storage_errors():
            answer = self._client().get_object(Bucket=self.bucket_name, Key=self._key(name))
            # Closed in any case: a body that was not read to its end would spoil the next use of the connection.
            with contextlib.closing(answer["Body"]) as body:
                if answer.get("ContentLength") != size_bytes:
                    raise StorageUnavailable(f"The object {name} does not have the {size_bytes} bytes that it had.")
                chunks = []
                for chunk in body.iter_chunks(CHUNK_BYTES):
                    chunks.append(chunk)
                    deadline.check()
                return b"".join(chunks)

    def probe(self, deadline: Deadline) -> None:
        """See `VerifyingStorage`: ask for what is not there, which no key needs the right to list for.

        S3 then says AccessDenied instead of NoSuchKey, but has a name of its own for wrong keys.
        """
        with contextlib.suppress(NotStored), _storage_errors():
            try:
                self._client().get_object(Bucket=self.bucket_name, Key=self._key("probe"))["Body"].close()
            except ClientError as error:
                if _code(error) != "AccessDenied":
                    raise

    def _client(self) -> BaseClient:
        """One client for all threads: clients are thread-safe, and making one takes some 100 ms of work."""
        with self._client_lock:
            if self._shared_client is None:
                client = self.connection.meta.client
                client.meta.events.register("before-send.s3.HeadBucket", _refuse_to_follow)
                self._shared_client = client
            return self._shared_client

    def _key(self, name: str) -> str:
        key: str = self._normalize_name(name)
        return key

    def _holds_already(self, name: str, data: bytes, deadline: Deadline) -> bool:
        """Whether the object is there from an earlier attempt.

        Only a plain yes counts: keys that may not list get 403 for what is absent, and an answer to HEAD has no
        body that would name the error; the PUT that follows says what is wrong.
        """
        try:
            return self._holds(name, data, deadline)
        except (ClientError, StorageRefused):
            return False

    def _holds(self, name: str, data: bytes, deadline: Deadline) -> bool:
        """Compare the server's size and checksum; read the object back where it tells no checksum of the whole.

        An ETag is the MD5 of the content, but not with KMS keys nor for objects written in several parts.
        """
        head = self._client().head_object(Bucket=self.bucket_name, Key=self._key(name), ChecksumMode="ENABLED")
        if head.get("ContentLength") != len(data):
            return False
        sha256 = head.get("ChecksumSHA256", "")
        if sha256 and "-" not in sha256:
            return bool(sha256 == base64.b64encode(hashlib.sha256(data).digest()).decode())
        md5 = _MD5_ETAG.fullmatch(head.get("ETag", ""))
        if md5 and "aws:kms" not in head.get("ServerSideEncryption", "") and "SSECustomerAlgorithm" not in head:
            return md5[1] == hashlib.md5(data, usedforsecurity=False).hexdigest()
        deadline.check()
        return self.fetch(name, len(data), deadline) == data


def _refuse_to_follow(**event: object) -> None:
    """botocore answers a redirection that names no region by asking for the bucket's, which is redirected too, and
    so on: 160 requests until Python's stack is full. Nothing else here asks for a bucket."""
    raise StorageRefused("Storage only redirects. Is its address right (http or https), and its region?")


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


@contextlib.contextmanager
def _storage_errors() -> Iterator[None]:
    """Turn what boto3 raises into a sentence for staff with the server's own words."""
    try:
        yield
    except ClientError as error:
        raise _answered(error) from error
    except MISCONFIGURED as error:
        raise StorageRefused(f"Storage cannot be asked: {error}") from error
    except (BotoCoreError, ResponseParserError) as error:
        raise StorageUnavailable(f"Storage was not reached or broke off: {str(error)[:300]}") from error


def _answered(error: ClientError) -> StorageError:
    """What an answer of the server means: absent, refused, or worth another try."""
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    code = _code(error)
    message = str(error.response.get("Error", {}).get("Message", ""))[:300]
    sentence = f"Storage answered {status} {code}: {message}"
    if code == "NoSuchKey":
        return NotStored(sentence)
    if status < 300 or status in PASSING_STATUSES or code in PASSING_CODES:
        return StorageUnavailable(sentence)
    return StorageRefused(sentence) if status < 500 or status == 501 else StorageUnavailable(sentence)
