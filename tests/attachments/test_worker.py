"""Graphs reach storage whatever storage and workers do: each once, and none is lost."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from datetime import timedelta

import pytest
from botocore.client import BaseClient
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from django_tasks_db.models import DBTaskResult
from pytest_django import DjangoAssertNumQueries, Settings

from attachments import uploads, worker
from attachments.models import Attachment, PendingUpload
from attachments.storage import StorageRefused
from attachments.store import BytesUnavailable, NewAttachment, new_pending_many, read_bytes
from attachments.tasks import retry_now, upload_attachment
from attachments.uploads import attempt, delay_s, storage_name
from attachments.validation import PNG
from tests.attachments.conftest import new_graph, png
from tests.attachments.fault_proxy import FaultProxy
from tests.environment import ROOT

Objects = Callable[[], dict[str, bytes]]
StartWorker = Callable[[int], None]


def wait_for(condition: Callable[[], bool], limit_s: float = 60) -> None:
    """Return as soon as it holds; the limit is only there for a test that fails."""
    ends_at_s = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < ends_at_s, f"{PendingUpload.objects.count()} are still pending"
        time.sleep(0.05)


def wait_until_stored() -> None:
    """Return when nothing is pending."""
    wait_for(lambda: not PendingUpload.objects.exists())


def assert_each_once(graphs: list[Attachment], objects: dict[str, bytes]) -> None:
    """Exactly one object for each graph, with its very bytes; the rows say so."""
    assert sorted(objects) == sorted(storage_name(graph) for graph in graphs)
    for graph in graphs:
        assert hashlib.sha256(objects[storage_name(graph)]).hexdigest() == graph.sha256
        graph.refresh_from_db()
        assert (graph.status, graph.storage_name) == (Attachment.Status.STORED, storage_name(graph))
        assert graph.stored_at is not None


def database_url() -> str:
    """The test's own database, for another process."""
    options = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{options['NAME']}"
    return f"postgres://{options['USER']}:{options['PASSWORD']}@{options['HOST']}:{options['PORT']}/{options['NAME']}"


def make_due(graph: Attachment) -> None:
    """Let the time of its next attempt come."""
    PendingUpload.objects.filter(pk=graph.pk).update(next_attempt_at=Now())


# --- keeping ---------------------------------------------------------------------------------------------------------


def test_graph_bytes_and_task_are_committed_together_or_not_at_all(owner: User) -> None:
    with transaction.atomic():
        new_graph(owner)
        transaction.set_rollback(True)
    assert not Attachment.objects.exists()
    assert not PendingUpload.objects.exists()
    assert not DBTaskResult.objects.exists()


def test_keeping_one_graph_takes_three_inserts(owner: User, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with transaction.atomic(), django_assert_num_queries(3):
        new_graph(owner)


def test_many_are_kept_at_once(owner: User) -> None:
    chosen = uuid.uuid4()
    news = [
        NewAttachment(
            owner_id=owner.pk,
            data=png(number),
            name="../x\0.png",
            mime_type="image/png",
            width=8,
            height=6,
            is_graph=True,
            attachment_id=chosen if number == 1 else None,
        )
        for number in range(3)
    ]
    kept = new_pending_many(news)
    assert kept[1].pk == chosen
    assert [read_bytes(attachment) for attachment in kept] == [new.data for new in news]
    assert {attachment.name for attachment in kept} == {"x.png"}
    assert new_pending_many([]) == []


# --- one attempt -----------------------------------------------------------------------------------------------------


def test_task_brings_a_graph_into_files_and_lets_its_bytes_go(owner: User) -> None:
    graph = new_graph(owner)
    assert upload_attachment.call(str(graph.pk)) == "stored"
    assert not PendingUpload.objects.exists()
    # `graph` still says pending here, as in a page that read it a moment ago.
    assert read_bytes(graph) == png()
    graph.refresh_from_db()
    assert graph.status == Attachment.Status.STORED
    assert read_bytes(graph) == png()
    assert upload_attachment.call(str(graph.pk)) == "not due"


def test_same_content_is_one_object_for_its_owner_and_another_for_others(
    owner: User, s3: FaultProxy, objects: Objects
) -> None:
    other = User.objects.create_user("other")
    graphs = [new_graph(owner), new_graph(owner), new_graph(other)]
    assert [attempt(graph.pk) for graph in graphs] == ["stored"] * 3
    assert sorted(objects()) == sorted({storage_name(graphs[0]), storage_name(graphs[2])})
    assert sum(method == "PUT" for method, _ in s3.requests) == 2


def test_claimed_row_is_left_alone_until_its_claim_expires(owner: User) -> None:
    graph = new_graph(owner)
    PendingUpload.objects.filter(pk=graph.pk).update(claimed_until=Now() + timedelta(seconds=5))
    assert attempt(graph.pk) == "not due"
    PendingUpload.objects.filter(pk=graph.pk).update(claimed_until=Now() - timedelta(seconds=1))
    assert attempt(graph.pk) == "stored"


def test_failure_is_kept_with_its_reason_and_next_time(owner: User, s3: FaultProxy) -> None:
    s3.refuse()
    graph = new_graph(owner)
    assert attempt(graph.pk) == "postponed"
    pending = PendingUpload.objects.get()
    assert (pending.attempts, pending.claimed_until, pending.is_permanent) == (1, None, False)
    assert "not reached" in pending.last_error
    assert attempt(graph.pk) == "not due"
    assert read_bytes(graph) == png()


def test_worker_that_slept_past_its_claim_cannot_undo_anothers(owner: User, s3: FaultProxy) -> None:
    graph = new_graph(owner)
    slow = uploads._claim(graph.pk)
    assert slow is not None
    PendingUpload.objects.filter(pk=graph.pk).update(claimed_until=Now() - timedelta(seconds=1))
    other = uploads._claim(graph.pk)
    assert other is not None
    uploads._postpone(slow, StorageRefused("late"))
    pending = PendingUpload.objects.get()
    assert (pending.last_error, pending.attempts) == ("", 2)
    assert pending.claimed_until is not None


@pytest.mark.parametrize(
    ("status", "code"),
    [(403, "RequestTimeTooSkewed"), (403, "InvalidAccessKeyId"), (403, "SignatureDoesNotMatch"), (404, "NoSuchBucket")],
)
def test_refusal_is_flagged_tried_slowly_and_mended_by_hand(
    owner: User, s3: FaultProxy, objects: Objects, status: int, code: str
) -> None:
    graph = new_graph(owner)
    s3.fault, s3.error = "deny", (status, code, "No.")
    assert attempt(graph.pk) == "postponed"
    graph.refresh_from_db()
    pending = PendingUpload.objects.get()
    assert (graph.status, pending.is_permanent) == (Attachment.Status.FAILED, True)
    assert code in pending.last_error
    assert (pending.next_attempt_at - graph.created_at).total_seconds() > 60
    assert attempt(graph.pk) == "not due"
    assert len(s3.requests) <= 2
    s3.fault = "pass"
    assert retry_now(PendingUpload.objects.all()) == 1
    assert attempt(graph.pk) == "stored"
    assert_each_once([graph], objects())


def test_refusal_that_turns_into_an_outage_is_no_refusal_any_more(owner: User, s3: FaultProxy) -> None:
    graph = new_graph(owner)
    s3.fault = "deny"
    attempt(graph.pk)
    s3.error = (503, "SlowDown", "Later.")
    make_due(graph)
    attempt(graph.pk)
    graph.refresh_from_db()
    assert (graph.status, PendingUpload.objects.get().is_permanent) == (Attachment.Status.PENDING, False)


def test_waits_double_up_to_a_cap_and_are_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "random", random.Random(3))
    waits = [[delay_s(attempts, is_permanent=False) for _ in range(200)] for attempts in (1, 2, 3, 20, 100_000)]
    assert [round(sum(wait) / 200) for wait in waits[:3]] == [2, 4, 8]
    assert max(waits[3]) <= 375
    assert max(waits[4]) <= 375
    assert len(set(waits[0])) > 100
    assert min(delay_s(1, is_permanent=True) for _ in range(200)) > 60


def test_bytes_that_changed_in_storage_are_not_shown(owner: User, s3: FaultProxy, s3_direct: BaseClient) -> None:
    graph = new_graph(owner)
    attempt(graph.pk)
    graph.refresh_from_db()
    s3_direct.put_object(Bucket="plotline", Key=graph.storage_name, Body=png()[::-1])
    with pytest.raises(BytesUnavailable, match="changed"):
        read_bytes(graph)
    s3_direct.delete_object(Bucket="plotline", Key=graph.storage_name)
    with pytest.raises(BytesUnavailable, match="missing"):
        read_bytes(graph)


# --- workers ---------------------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_idle_step_reads_and_never_writes(owner: User) -> None:
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert worker.one_step() is False
    assert len(queries) == 2
    assert all(query["sql"].startswith("SELECT") for query in queries)


@pytest.mark.django_db(transaction=True)
def test_hundred_graphs_arrive_once_each_while_half_of_the_requests_fail(
    owner: User, s3: FaultProxy, objects: Objects, short_clock: None, running_worker: StartWorker
) -> None:
    s3.fault = "half"
    running_worker(4)
    graphs = [new_graph(owner, number) for number in range(100)]
    wait_until_stored()
    assert_each_once(graphs, objects())
    assert PendingUpload.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_graphs_survive_an_outage_and_cuts(
    owner: User, s3: FaultProxy, objects: Objects, short_clock: None, running_worker: StartWorker
) -> None:
    s3.refuse()
    graphs = [new_graph(owner, number) for number in range(20)]
    running_worker(4)
    wait_for(lambda: not PendingUpload.objects.filter(last_error="").exists())
    assert {read_bytes(graph) for graph in graphs} == {png(number) for number in range(20)}
    s3.fault = "cut"
    s3.accept()
    wait_until_stored()
    assert_each_once(graphs, objects())


@pytest.mark.django_db(transaction=True)
def test_new_graph_is_noticed_within_about_a_second(owner: User, running_worker: StartWorker) -> None:
    running_worker(4)
    time.sleep(0.3)
    started_s = time.monotonic()
    new_graph(owner)
    wait_until_stored()
    # One second of the loop, and time for a busy machine.
    assert time.monotonic() - started_s < 3


@pytest.mark.django_db(transaction=True)
def test_row_whose_task_got_lost_is_swept_up(owner: User, running_worker: StartWorker) -> None:
    graph = new_graph(owner)
    DBTaskResult.objects.all().delete()
    running_worker(1)
    wait_until_stored()
    assert upload_attachment.call(str(graph.pk)) == "not due"


@pytest.mark.django_db(transaction=True)
def test_one_upload_that_hangs_does_not_stop_the_others(
    owner: User, s3: FaultProxy, short_clock: None, running_worker: StartWorker
) -> None:
    s3.fault = "hole on PUT"
    new_graph(owner, 0)
    running_worker(2)
    assert s3.reached.wait(10)
    s3.fault = "pass"
    for number in range(1, 11):
        new_graph(owner, number)
    wait_for(lambda: PendingUpload.objects.count() <= 1, limit_s=4.5)
    s3.release()


@pytest.mark.django_db(transaction=True)
def test_worker_killed_in_the_middle_of_an_upload_is_replaced_by_another(
    owner: User, s3: FaultProxy, objects: Objects, running_worker: StartWorker, settings: Settings
) -> None:
    s3.fault = "hole on PUT"
    graph = new_graph(owner)
    environment = os.environ | {
        "DATABASE_URL": database_url(),
        "AWS_STORAGE_BUCKET_NAME": "plotline",
        "AWS_S3_ENDPOINT_URL": s3.url,
        "AWS_S3_REGION_NAME": "us-east-1",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
    }
    command = [sys.executable, "manage.py", "attachments_worker", "--threads", "1"]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL) as process:
        assert s3.reached.wait(30)
        process.send_signal(signal.SIGKILL)
    assert DBTaskResult.objects.get().status == "RUNNING"
    s3.fault = "pass"
    s3.release()
    running_worker(1)
    time.sleep(1.5)
    assert PendingUpload.objects.exists(), "the claim of the killed worker still holds"
    # The clock goes on to where the claim expires.
    PendingUpload.objects.update(claimed_until=Now() - timedelta(seconds=1))
    wait_until_stored()
    assert_each_once([graph], objects())


@pytest.mark.django_db(transaction=True)
def test_worker_ends_when_asked(owner: User) -> None:
    command = [sys.executable, "manage.py", "attachments_worker"]
    environment = os.environ | {"DATABASE_URL": database_url()}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert b"4 threads" in process.stdout.readline()
        process.terminate()
        assert process.wait(15) == 0


@pytest.mark.django_db(transaction=True)
def test_locked_database_is_waited_for(
    owner: User, running_worker: StartWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("SQLite alone locks as a whole")
    graph = new_graph(owner)
    with transaction.atomic():
        Attachment.objects.filter(pk=graph.pk).update(name="held.png")
        running_worker(2)
        time.sleep(1)
    wait_until_stored()


def test_old_tasks_are_pruned_and_new_ones_kept(owner: User) -> None:
    for _ in range(3):
        new_graph(owner)
    old = DBTaskResult.objects.first()
    assert old is not None
    DBTaskResult.objects.filter(pk=old.pk).update(status="RUNNING", enqueued_at=Now() - timedelta(days=2))
    assert worker.prune_tasks() is True
    assert worker.prune_tasks() is False
    assert DBTaskResult.objects.count() == 2


def test_object_is_named_by_owner_and_content(owner: User) -> None:
    graph = new_graph(owner)
    digest = hashlib.sha256(png()).hexdigest()
    assert graph.mime_type == PNG
    assert storage_name(graph) == f"u{owner.pk}/{digest[:2]}/{digest}.png"
