"""Fixtures: a real S3 server (moto) behind the fault proxy, users, image files, and background workers."""

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
from moto.server import ThreadedMotoServer
from PIL import Image
from pytest_django import Settings

from attachments import uploads, worker
from attachments.models import Attachment
from attachments.store import NewAttachment, create_attachments
from attachments.worker import AttachmentsWorker
from chat.models import User
from tests.attachments.fault_proxy import FaultProxy

BUCKET = "plotline"


def png(number: int = 0, *, size: tuple[int, int] = (8, 6)) -> bytes:
    """Return a small PNG whose content differs for each number."""
    image = Image.new("RGB", size, (number % 256, number // 256 % 256, 7))
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def create_graph(owner: User, number: int = 0, data: bytes | None = None) -> Attachment:
    """Create a graph in the way that a turn does."""
    new = NewAttachment(
        owner_id=owner.pk,
        data=png(number) if data is None else data,
        name=f"graph-{number}.png",
        mime_type="image/png",
        width=8,
        height=6,
        is_graph=True,
    )
    return create_attachments([new])[0]


@pytest.fixture
def owner(db: None) -> User:
    """Return a user who owns files."""
    return User.objects.create_user("owner")


@pytest.fixture(autouse=True)
def media(tmp_path: Path, settings: Settings) -> Path:
    """Give each test its own media folder, and return its path."""
    settings.MEDIA_ROOT = tmp_path / "media"
    return tmp_path / "media"


@pytest.fixture(scope="session")
def moto_port() -> Iterator[int]:
    """Run a real server of the S3 protocol and return its port."""
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield server.get_host_and_port()[1]
    server.stop()


@pytest.fixture(scope="session")
def s3_client(moto_port: int) -> BaseClient:
    """Return a client that bypasses the proxy, to inspect the objects of the server."""
    return boto3.client(
        "s3",
        endpoint_url=f"http://127.0.0.1:{moto_port}",
        aws_access_key_id="key",
        aws_secret_access_key="secret",
        region_name="us-east-1",
        config=Config(s3={"addressing_style": "path"}),
    )


@pytest.fixture
def s3(moto_port: int, s3_client: BaseClient, settings: Settings) -> Iterator[FaultProxy]:
    """Configure S3 as the storage, through the proxy and with an empty bucket. Return the proxy."""
    s3_client.create_bucket(Bucket=BUCKET)
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
    for item in s3_client.list_objects_v2(Bucket=BUCKET).get("Contents", []):
        s3_client.delete_object(Bucket=BUCKET, Key=item["Key"])


@pytest.fixture
def read_bucket(s3_client: BaseClient) -> Callable[[], dict[str, bytes]]:
    """Return a function that reads all objects of the bucket, by key."""

    def read() -> dict[str, bytes]:
        keys = [item["Key"] for item in s3_client.list_objects_v2(Bucket=BUCKET).get("Contents", [])]
        return {key: s3_client.get_object(Bucket=BUCKET, Key=key)["Body"].read() for key in keys}

    return read


@pytest.fixture
def short_delays(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    """Shorten retry delays and poll intervals, so that an hour of retries takes some seconds."""
    monkeypatch.setattr(uploads, "FIRST_RETRY_S", 0.01)
    settings.UPLOAD_RETRY_LIMIT_S = 0.2
    monkeypatch.setattr(worker, "POLL_INTERVAL_S", 0.05)


@pytest.fixture
def start_worker(transactional_db: None) -> Iterator[Callable[[int], None]]:
    """Return a function that starts a worker with a number of threads in this process. The fixture stops it."""
    workers: list[tuple[AttachmentsWorker, threading.Thread]] = []

    def start(threads: int) -> None:
        attachments_worker = AttachmentsWorker(threads)
        thread = threading.Thread(target=attachments_worker.run)
        thread.start()
        workers.append((attachments_worker, thread))

    yield start
    for attachments_worker, _ in workers:
        attachments_worker.stop()
    for _, thread in workers:
        thread.join()


@pytest.fixture
def step_results(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Return a list to which each step of this process's workers appends whether it found work."""
    results: list[bool] = []
    run_one_step = worker.run_one_step

    def run_and_record() -> bool:
        results.append(run_one_step())
        return results[-1]

    monkeypatch.setattr(worker, "run_one_step", run_and_record)
    return results
