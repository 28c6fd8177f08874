"""Storage in a private S3-compatible bucket. It never lists the bucket and never makes a public URL.

No other module uses boto3 or its errors.

Sources: docs.aws.amazon.com/AmazonS3/latest/API (PutObject, HeadObject, ErrorResponses); botocore/args.py.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import re
import threading
from collections.abc import Iterator

from botocore.client import BaseClient
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    EndpointConnectionError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
    PartialCredentialsError,
)
from botocore.parsers import ResponseParserError
from django.conf import settings
from storages.backends.s3 import S3Storage

from attachments.storage.base import Deadline, ObjectNotFound, StorageError, StorageRefused, StorageUnavailable

#: Seconds. With botocore's defaults, three attempts of 60 s each, an upload to a silent server takes up to 183 s.
CONNECT_LIMIT_S = 3
READ_LIMIT_S = 5
#: A server that sends 2 KB/s fills a chunk within the read limit, so the deadline is checked after each chunk.
CHUNK_BYTES = 8 * 1024

#: Error codes with a status below 500 for which a retry may succeed.
TRANSIENT_CODES = frozenset(
    {"RequestTimeout", "BadDigest", "IncompleteBody", "XAmzContentSHA256Mismatch", "OperationAborted", "SlowDown"}
)
TRANSIENT_STATUSES = frozenset({408, 409, 425, 429})
_KEYS = "Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
ADVICE = {
    "NoSuchBucket": "Make the bucket, or correct AWS_STORAGE_BUCKET_NAME.",
    "InvalidBucketName": "Correct AWS_STORAGE_BUCKET_NAME.",
    "InvalidAccessKeyId": _KEYS,
    "SignatureDoesNotMatch": _KEYS,
    "AuthorizationHeaderMalformed": "Check AWS_S3_REGION_NAME.",
    "PermanentRedirect": "Check AWS_S3_REGION_NAME and AWS_S3_ENDPOINT_URL.",
}
"""Error code -> what the operator should do."""
CONFIGURATION_ERRORS = (NoCredentialsError, PartialCredentialsError, NoRegionError, ParamValidationError)

_ADDRESSING = re.compile(r"virtual.?(?:host|style)|path.?(?:style|access)|SecondLevelDomain", re.IGNORECASE)
"""Words in the errors of services that expect the bucket in the other part of the URL: in the host name, or in the
path."""
_MD5_ETAG = re.compile(r'"?([0-9a-f]{32})"?')


class VerifyingS3Storage(S3Storage):
    """The S3 storage of django-storages with short timeouts and with writes that are verified by checksum."""

    def __init__(self, **options: object) -> None:
        super().__init__(**options)
        self._shared_client: BaseClient | None = None
        self._client_lock = threading.Lock()

    def get_default_settings(self) -> dict[str, object]:
        """Return the settings of django-storages, with private objects and short timeouts."""
        defaults: dict[str, object] = super().get_default_settings()
        return defaults | {
            "default_acl": None,
            "querystring_auth": False,
            "file_overwrite": True,
            "client_config": Config(
                signature_version="s3v4",
                s3={"addressing_style": settings.AWS_S3_ADDRESSING_STYLE},
                connect_timeout=CONNECT_LIMIT_S,
                read_timeout=READ_LIMIT_S,
                # No retries here: the `PendingUpload` row schedules them.
                retries={"total_max_attempts": 1, "mode": "standard"},
                # The newer default checksums are sent in trailers, which many compatible servers do not support.
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
                max_pool_connections=32,
            ),
        }

    def store_verified(self, name: str, data: bytes, content_type: str, deadline: Deadline) -> None:
        """Upload and verify an object, unless it is stored already."""
        with _translate_errors():
            if self._is_stored_already(name, data, deadline):
                return
            deadline.check()
            md5 = hashlib.md5(data, usedforsecurity=False).digest()
            self._get_client().put_object(
                Bucket=self.bucket_name,
                Key=self._build_key(name),
                Body=data,
                ContentType=content_type,
                # With this header the server rejects a body that arrives truncated or changed.
                ContentMD5=base64.b64encode(md5).decode(),
            )
            deadline.check()
            if not self._is_stored(name, data, deadline):
                raise StorageUnavailable("What storage confirms is not what was sent.")

    def fetch(self, name: str, size_bytes: int, deadline: Deadline) -> bytes:
        """Return the bytes of an object. Raises StorageUnavailable if their number is not `size_bytes`."""
        with _translate_errors():
            response = self._get_client().get_object(Bucket=self.bucket_name, Key=self._build_key(name))
            # A body that is not read to its end must be closed, or its connection could not be used again.
            with contextlib.closing(response["Body"]) as body:
                if response.get("ContentLength") != size_bytes:
                    raise StorageUnavailable(f"The object {name} does not have the {size_bytes} bytes that it had.")
                chunks = []
                for chunk in body.iter_chunks(CHUNK_BYTES):
                    chunks.append(chunk)
                    deadline.check()
                return b"".join(chunks)

    def remove(self, name: str, deadline: Deadline) -> None:
        """Delete an object. Some compatible servers respond NoSuchKey, and S3 itself never does."""
        with contextlib.suppress(ObjectNotFound), _translate_errors():
            self._get_client().delete_object(Bucket=self.bucket_name, Key=self._build_key(name))

    def probe(self, deadline: Deadline) -> None:
        """Return if storage responds to a request for an object that does not exist.

        This needs no permission to list. Without that permission S3 responds AccessDenied instead of NoSuchKey. Wrong
        access keys have other error codes.
        """
        with contextlib.suppress(ObjectNotFound), _translate_errors():
            try:
                self._get_client().get_object(Bucket=self.bucket_name, Key=self._build_key("probe"))["Body"].close()
            except ClientError as error:
                if _get_error_code(error) != "AccessDenied":
                    raise

    def _get_client(self) -> BaseClient:
        """Return the client that all threads share. Clients are thread-safe, and creating one takes about 100 ms."""
        with self._client_lock:
            if self._shared_client is None:
                client = self.connection.meta.client
                client.meta.events.register("before-send.s3.HeadBucket", _refuse_redirect)
                self._shared_client = client
            return self._shared_client

    def _build_key(self, name: str) -> str:
        key: str = self._normalize_name(name)
        return key

    def _is_stored_already(self, name: str, data: bytes, deadline: Deadline) -> bool:
        """Return whether an earlier attempt has stored the object.

        Errors of the server count as "no". Keys without the permission to list get 403 for an absent object, and the
        response to HEAD has no body that names the error. The PUT request that follows reports real errors.
        """
        try:
            return self._is_stored(name, data, deadline)
        except (ClientError, StorageRefused):
            return False

    def _is_stored(self, name: str, data: bytes, deadline: Deadline) -> bool:
        """Return whether the object has the size and the checksum of `data`.

        The object is read back if the server gives no checksum of the whole content. An ETag is the MD5 of the content,
        except for encryption with KMS or customer keys and for multipart uploads.
        """
        head = self._get_client().head_object(
            Bucket=self.bucket_name, Key=self._build_key(name), ChecksumMode="ENABLED"
        )
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


def _refuse_redirect(**event: object) -> None:
    """Raise StorageRefused in place of a HeadBucket request.

    botocore sends HeadBucket when a redirect names no region. That request is redirected too, and the recursion goes on
    until Python's stack is full (160 requests). This module itself never sends HeadBucket.
    """
    raise StorageRefused("Storage only redirects. Is its address right (http or https), and its region?")


def _get_error_code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


@contextlib.contextmanager
def _translate_errors() -> Iterator[None]:
    """Translate errors of boto3 into storage errors that quote the server's message."""
    try:
        yield
    except ClientError as error:
        raise _build_storage_error(error) from error
    except CONFIGURATION_ERRORS as error:
        raise StorageRefused(f"Storage cannot be asked: {error}") from error
    except (BotoCoreError, ResponseParserError) as error:
        text = f"Storage was not reached or broke off: {str(error)[:300]}"
        if isinstance(error, EndpointConnectionError) and settings.AWS_S3_ADDRESSING_STYLE == "virtual":
            text += f" If there is no such host: {_other_style()}"
        raise StorageUnavailable(text) from error


def _other_style() -> str:
    """Return the advice to use the other addressing style.

    It is for a service that expects the bucket in the other part of the URL.
    """
    style = "path" if settings.AWS_S3_ADDRESSING_STYLE == "virtual" else "virtual"
    return f"Set AWS_S3_ADDRESSING_STYLE={style}."


def _build_storage_error(error: ClientError) -> StorageError:
    """Return the storage error for an error response: absent, refused, or transient."""
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    code = _get_error_code(error)
    message = str(error.response.get("Error", {}).get("Message", ""))[:300]
    text = f"Storage answered {status} {code}: {message}"
    if advice := ADVICE.get(code) or (_ADDRESSING.search(text) and _other_style()):
        text = f"{text} {advice}"
    if code == "NoSuchKey":
        return ObjectNotFound(text)
    if status < 300 or status in TRANSIENT_STATUSES or code in TRANSIENT_CODES:
        return StorageUnavailable(text)
    return StorageRefused(text) if status < 500 or status == 501 else StorageUnavailable(text)
