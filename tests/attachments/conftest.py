"""A real S3 server (moto) behind the fault proxy, users, and pictures to upload."""

from __future__ import annotations

import io
import logging
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import boto3
import pytest
from botocore.client import BaseClient
from botocore.config import Config
from django.contrib.auth.models import User
from moto.server import ThreadedMotoServer
from PIL import Image
from pytest_django import Settings

from attachments import uploads, worker
from attachments.models import Attachment
from attachments.store import new_pending
from attachments.worker import AttachmentsWorker
from tests.attachments.fault_proxy import FaultProxy

BUCKET = "plotline"


def png(number: int = 0, *, size: tuple[int, int] = (8, 6)) -> bytes:
    """A small picture of its own for each number."""
    picture = Image.new("RGB", size, (number % 256, number // 256 % 256, 7))
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


def new_graph(owner: User, number: int = 0, data: bytes | None = None) -> Attachment:
    """A graph as a turn keeps it."""
    return new_pending(
        owner_id=owner.pk,
        data=png(number) if data is None else data,
        name=f"graph-{number}.png",
        mime_type="image/png",
        width=8,
        height=6,
        is_graph=True,
    )


@pytest.fixture
def owner(db: None) -> User:
    """A person with files."""
    return User.objects.create_user("owner")


@pytest.fixture(autouse=True)
def media(tmp_path: Path, settings: Settings) -> Path:
    """Files of each test in a folder of its own."""
    settings.MEDIA_ROOT = tmp_path / "media"
    return tmp_path / "media"


@pytest.fixture(scope="session")
def moto_port() -> Iterator[int]:
    """A real S3 protocol server."""
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield server.get_host_and_port()[1]
    server.stop()


@pytest.fixture(scope="session")
def s3_direct(moto_port: int) -> BaseClient:
    """A client past the proxy, to see what the server really holds."""
    return boto3.client(
        "s3",
        endpoint_url=f"http://127.0.0.1:{moto_port}",
        aws_access_key_id="key",
        aws_secret_access_key="secret",
        region_name="us-east-1",
        config=Config(s3={"addressing_style": "path"}),
    )


@pytest.fixture
def s3(moto_port: int, s3_direct: BaseClient, settings: Settings) -> Iterator[FaultProxy]:
    """Attachments go to S3 through the proxy, into an empty bucket."""
    s3_direct.create_bucket(Bucket=BUCKET)
    proxy = FaultProxy(moto_port, seed=7)
    settings.AWS_STORAGE_BUCKET_NAME = BUCKET
    settings.AWS_S3_ENDPOINT_URL = proxy.url
    settings.AWS_S3_REGION_NAME = "us-east-1"
    settings.AWS_ACCESS_KEY_ID = "key"
    settings.AWS_SECRET_ACCESS_KEY = "secret"
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {"BACKEND": "attachments.storage.s3.VerifyingS3Storage"},
    }
    yield proxy
    proxy.close()
    for item in s3_direct.list_objects_v2(Bucket=BUCKET).get("Contents", []):
        s3_direct.delete_object(Bucket=BUCKET, Key=item["Key"])


@pytest.fixture
def objects(s3_direct: BaseClient) -> Callable[[], dict[str, bytes]]:
    """Everything in the bucket, by key."""

    def read() -> dict[str, bytes]:
        keys = [item["Key"] for item in s3_direct.list_objects_v2(Bucket=BUCKET).get("Contents", [])]
        return {key: s3_direct.get_object(Bucket=BUCKET, Key=key)["Body"].read() for key in keys}

    return read


@pytest.fixture
def short_clock(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    """An hour of waiting takes some seconds."""
    monkeypatch.setattr(uploads, "FIRST_RETRY_S", 0.01)
    settings.UPLOAD_RETRY_LIMIT_S = 0.2
    monkeypatch.setattr(worker, "IDLE_S", 0.05)


@pytest.fixture
def running_worker(transactional_db: None) -> Iterator[Callable[[int], None]]:
    """Starts a worker in this process with that many threads; it is ended with the test."""
    started: list[tuple[AttachmentsWorker, threading.Thread]] = []

    def start(threads: int) -> None:
        attachments_worker = AttachmentsWorker(threads)
        thread = threading.Thread(target=attachments_worker.run)
        thread.start()
        started.append((attachments_worker, thread))

    yield start
    for attachments_worker, _ in started:
        attachments_worker.stop()
    for _, thread in started:
        thread.join()
