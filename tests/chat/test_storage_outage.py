"""Server, worker and a real S3 server that hangs, refuses and fails: answers never wait, every graph arrives once."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

import boto3
import pytest
from botocore.client import BaseClient
from moto.server import ThreadedMotoServer

from tests.attachments.fault_proxy import Fault, FaultProxy
from tests.child_processes import tied
from tests.dom import Page
from tests.emulator_server import running_emulator
from tests.live_server import ROOT, LiveServer, Visitor, environment, running_server, send
from tests.parsed_html import ParsedHtml
from tests.polling import wait_until

pytestmark = [pytest.mark.drill, pytest.mark.no_rerun]

BUCKET = "graphs"
GRAPHS = int(os.environ.get("PLOTLINE_TEST_GRAPHS") or 12)
"""Graphs that are drawn during the outage."""
PASSWORD = "a long pass word 9"


@pytest.fixture
def moto() -> Iterator[ThreadedMotoServer]:
    """A real S3 protocol server of its own."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield server
    server.stop()


def client(moto: ThreadedMotoServer) -> BaseClient:
    """A client past the faults."""
    host, port = moto.get_host_and_port()
    return boto3.client(
        "s3",
        endpoint_url=f"http://{host}:{port}",
        aws_access_key_id="key",
        aws_secret_access_key="secret",
        region_name="us-east-1",
    )


def stored(server: LiveServer) -> int:
    """How many graphs storage has confirmed."""
    [(count,)] = server.rows("SELECT count(*) FROM attachments_attachment WHERE status = 'stored'")
    return int(count)


def draw(server: LiveServer, username: str, graphs: int) -> tuple[Visitor, list[str]]:
    """One person's answer with so many different graphs, and their URLs."""
    visitor = Visitor.signed_up(server, username, PASSWORD)
    conversation_id = visitor.new_conversation()
    visitor.post(f"/c/{conversation_id}/settings/", model=f"scenario-images-{graphs}")
    page = Page()
    with visitor.socket(conversation_id) as socket:
        send(socket, "draw")
        while 'data-role="model" data-status="done"' not in page.root.html():
            page.apply(str(socket.recv(timeout=60)))
    return visitor, [image["src"] for image in ParsedHtml(page.transcript).find_all("img")]


def assert_shown(visitor: Visitor, urls: list[str]) -> None:
    """Each URL serves a picture."""
    for url in urls:
        picture = visitor.http.get(f"{visitor.server.url}{url}", timeout=60)
        assert picture.status_code == 200
        assert picture.content.startswith(b"\x89PNG")


def test_answers_never_wait_for_storage_and_every_graph_arrives_once(moto: ThreadedMotoServer) -> None:
    s3 = client(moto)
    s3.create_bucket(Bucket=BUCKET)
    proxy = FaultProxy(moto.get_host_and_port()[1], seed=7)
    variables = {
        "AWS_STORAGE_BUCKET_NAME": BUCKET,
        "AWS_S3_ENDPOINT_URL": proxy.url,
        "AWS_S3_REGION_NAME": "us-east-1",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "UPLOAD_RETRY_LIMIT_S": "1",
    }
    with running_emulator() as url, running_server(GOOGLE_GEMINI_BASE_URL=url, **variables) as server:
        worker = subprocess.Popen(
            tied([sys.executable, "manage.py", "attachments_worker"]),
            cwd=ROOT,
            env=environment(server.var_dir, **variables),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            # While storage hangs, refuses and fails in turn, every answer ends and shows its graphs.
            proxy.fault = Fault.HANG
            first, first_urls = draw(server, "first", GRAPHS // 3)
            assert_shown(first, first_urls)
            proxy.release()
            proxy.refuse()
            second, second_urls = draw(server, "second", GRAPHS // 3)
            assert_shown(second, second_urls)
            assert stored(server) == 0
            proxy.fault = Fault.FAIL_HALF
            proxy.accept()
            third, third_urls = draw(server, "third", GRAPHS // 3)
            urls = first_urls + second_urls + third_urls
            assert len(set(urls)) == GRAPHS // 3 * 3
            wait_until(lambda: stored(server) == len(urls), limit_s=240)
            assert server.rows("SELECT count(*) FROM attachments_pendingupload") == [(0,)]
            rows = server.rows("SELECT storage_name, sha256 FROM attachments_attachment")
            objects = [entry["Key"] for entry in s3.list_objects_v2(Bucket=BUCKET)["Contents"]]
            assert Counter(objects) == Counter(name for name, _ in rows)
            for name, sha256 in rows:
                assert hashlib.sha256(s3.get_object(Bucket=BUCKET, Key=name)["Body"].read()).hexdigest() == sha256
            proxy.fault = Fault.NONE
            for visitor, shown in ((first, first_urls), (second, second_urls), (third, third_urls)):
                assert_shown(visitor, shown[:10])
            print(json.dumps({"graphs": len(urls), "objects": len(objects), "requests": len(proxy.requests)}))
        finally:
            worker.terminate()
            worker.wait(20)
            proxy.close()
