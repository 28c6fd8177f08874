"""Every attachment is uploaded exactly once, whatever faults storage and workers have."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from botocore.client import BaseClient
from django.contrib.sessions.models import Session
from django.db import connection, connections, transaction
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django_tasks_db.models import DBTaskResult
from pytest_django import DjangoAssertNumQueries, Settings

from attachments import storage, uploads, worker
from attachments.models import Attachment, PendingUpload
from attachments.storage import StorageRefused
from attachments.storage import s3 as s3_storage
from attachments.store import BytesUnavailable, NewAttachment, create_attachments, read_bytes
from attachments.tasks import retry_now, upload_attachment
from attachments.uploads import attempt_upload, build_storage_name, compute_retry_delay_s
from attachments.validation import PNG
from chat.models import User
from tests.attachments.conftest import create_graph, png
from tests.attachments.fault_proxy import HANG_LIMIT_S, Fault, FaultProxy
from tests.child_processes import tied
from tests.environment import ROOT
from tests.polling import wait_until

ReadBucket = Callable[[], dict[str, bytes]]
StartWorker = Callable[[int], None]


def wait_until_stored() -> None:
    """Return when no upload is pending."""
    wait_until(lambda: not PendingUpload.objects.exists(), limit_s=60)


def assert_stored_once(graphs: list[Attachment], objects: dict[str, bytes]) -> None:
    """Assert that storage has exactly one object for each graph, with its bytes, and that the rows refer to it."""
    assert sorted(objects) == sorted(build_storage_name(graph) for graph in graphs)
    for graph in graphs:
        assert hashlib.sha256(objects[build_storage_name(graph)]).hexdigest() == graph.sha256
        graph.refresh_from_db()
        assert (graph.status, graph.storage_name) == (Attachment.Status.STORED, build_storage_name(graph))
        assert graph.stored_at is not None


def database_url() -> str:
    """Return the URL of the test database, for another process."""
    options = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{options['NAME']}"
    return f"postgres://{options['USER']}:{options['PASSWORD']}@{options['HOST']}:{options['PORT']}/{options['NAME']}"


def make_due(graph: Attachment) -> None:
    """Make the next attempt for the graph due now."""
    PendingUpload.objects.filter(pk=graph.pk).update(next_attempt_at=Now())


# --- creating --------------------------------------------------------------------------------------------------------


def test_rollback_removes_the_graph_its_bytes_and_its_task(owner: User) -> None:
    with transaction.atomic():
        create_graph(owner)
        transaction.set_rollback(True)
    assert not Attachment.objects.exists()
    assert not PendingUpload.objects.exists()
    assert not DBTaskResult.objects.exists()


def test_creating_one_graph_runs_three_queries(owner: User, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with transaction.atomic(), django_assert_num_queries(3):
        create_graph(owner)


def test_several_attachments_are_created_with_their_bytes_and_with_safe_names(owner: User) -> None:
    chosen_id = uuid.uuid4()
    new_attachments = [
        NewAttachment(
            owner_id=owner.pk,
            data=png(number),
            name="../x\0.png",
            mime_type="image/png",
            width=8,
            height=6,
            is_graph=True,
            attachment_id=chosen_id if number == 1 else None,
        )
        for number in range(3)
    ]
    attachments = create_attachments(new_attachments)
    assert attachments[1].pk == chosen_id
    assert [read_bytes(attachment) for attachment in attachments] == [new.data for new in new_attachments]
    assert {attachment.name for attachment in attachments} == {"x.png"}
    assert create_attachments([]) == []


# --- one attempt -----------------------------------------------------------------------------------------------------


def test_task_uploads_a_graph_and_deletes_its_pending_bytes(owner: User) -> None:
    graph = create_graph(owner)
    assert upload_attachment.call(str(graph.pk)) == "stored"
    assert not PendingUpload.objects.exists()
    # The object `graph` still has the status pending, like a view that read the row before the upload.
    assert read_bytes(graph) == png()
    graph.refresh_from_db()
    assert graph.status == Attachment.Status.STORED
    assert read_bytes(graph) == png()
    assert upload_attachment.call(str(graph.pk)) == "not due"


def test_same_content_is_stored_once_for_each_owner(owner: User, s3: FaultProxy, read_bucket: ReadBucket) -> None:
    other = User.objects.create_user("other")
    graphs = [create_graph(owner), create_graph(owner), create_graph(other)]
    assert [attempt_upload(graph.pk) for graph in graphs] == ["stored"] * 3
    assert sorted(read_bucket()) == sorted({build_storage_name(graphs[0]), build_storage_name(graphs[2])})
    assert sum(method == "PUT" for method, _ in s3.requests) == 2


def test_upload_claimed_by_a_worker_is_not_attempted_until_the_claim_expires(owner: User) -> None:
    graph = create_graph(owner)
    PendingUpload.objects.filter(pk=graph.pk).update(claimed_until=Now() + timedelta(seconds=5))
    assert attempt_upload(graph.pk) == "not due"
    PendingUpload.objects.filter(pk=graph.pk).update(claimed_until=Now() - timedelta(seconds=1))
    assert attempt_upload(graph.pk) == "stored"


def test_failed_attempt_is_recorded_with_its_error_and_retried_later(owner: User, s3: FaultProxy) -> None:
    s3.refuse()
    graph = create_graph(owner)
    assert attempt_upload(graph.pk) == "postponed"
    pending = PendingUpload.objects.get()
    assert (pending.attempts, pending.claimed_until, pending.is_permanent) == (1, None, False)
    assert "not reached" in pending.last_error
    assert attempt_upload(graph.pk) == "not due"
    assert read_bytes(graph) == png()


def test_worker_whose_claim_expired_cannot_postpone_the_upload_of_another_worker(owner: User, s3: FaultProxy) -> None:
    graph = create_graph(owner)
    first_claim = uploads._claim_upload(graph.pk)
    assert first_claim is not None
    PendingUpload.objects.filter(pk=graph.pk).update(claimed_until=Now() - timedelta(seconds=1))
    second_claim = uploads._claim_upload(graph.pk)
    assert second_claim is not None
    uploads._postpone_upload(first_claim, StorageRefused("late"))
    pending = PendingUpload.objects.get()
    assert (pending.last_error, pending.attempts) == ("", 2)
    assert pending.claimed_until is not None


@pytest.mark.parametrize(
    ("status", "code"),
    [(403, "RequestTimeTooSkewed"), (403, "InvalidAccessKeyId"), (403, "SignatureDoesNotMatch"), (404, "NoSuchBucket")],
)
def test_refused_upload_is_marked_as_failed_and_retried_after_a_minute_or_by_hand(
    owner: User, s3: FaultProxy, read_bucket: ReadBucket, status: int, code: str
) -> None:
    graph = create_graph(owner)
    s3.fault, s3.error = Fault.ERROR, (status, code, "No.")
    assert attempt_upload(graph.pk) == "postponed"
    graph.refresh_from_db()
    pending = PendingUpload.objects.get()
    assert (graph.status, pending.is_permanent) == (Attachment.Status.FAILED, True)
    assert code in pending.last_error
    assert (pending.next_attempt_at - graph.created_at).total_seconds() > 60
    assert attempt_upload(graph.pk) == "not due"
    assert len(s3.requests) <= 2
    s3.fault = Fault.NONE
    assert retry_now(PendingUpload.objects.all()) == 1
    assert attempt_upload(graph.pk) == "stored"
    assert_stored_once([graph], read_bucket())


def test_refused_upload_becomes_pending_again_after_a_temporary_error(owner: User, s3: FaultProxy) -> None:
    graph = create_graph(owner)
    s3.fault = Fault.ERROR
    attempt_upload(graph.pk)
    s3.error = (503, "SlowDown", "Later.")
    make_due(graph)
    attempt_upload(graph.pk)
    graph.refresh_from_db()
    assert (graph.status, PendingUpload.objects.get().is_permanent) == (Attachment.Status.PENDING, False)


def test_retry_delays_double_up_to_a_limit_and_have_jitter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "random", random.Random(3))
    delays = [
        [compute_retry_delay_s(attempts, is_permanent=False) for _ in range(200)] for attempts in (1, 2, 3, 20, 100_000)
    ]
    assert [round(sum(values) / 200 / 0.875) for values in delays[:3]] == [2, 4, 8]
    assert max(delays[3]) <= 300
    assert max(delays[4]) <= 300
    assert len(set(delays[0])) > 100
    refused = [compute_retry_delay_s(1, is_permanent=True) for _ in range(200)]
    assert 60 < min(refused) < max(refused) <= 300


def test_file_is_uploaded_after_a_missing_bucket_was_created(
    owner: User,
    s3: FaultProxy,
    s3_client: BaseClient,
    settings: Settings,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(storage, "PROBE_LIMIT_S", HANG_LIMIT_S)
    settings.AWS_STORAGE_BUCKET_NAME = "made-later"
    graph = create_graph(owner)
    worker.check_storage()
    assert "Make the bucket, or correct AWS_STORAGE_BUCKET_NAME." in caplog.text
    assert attempt_upload(graph.pk) == "postponed"
    pending = PendingUpload.objects.get(attachment=graph)
    assert "NoSuchBucket" in pending.last_error
    assert pending.next_attempt_at <= timezone.now() + timedelta(seconds=settings.UPLOAD_RETRY_LIMIT_S)
    s3_client.create_bucket(Bucket="made-later")
    PendingUpload.objects.update(next_attempt_at=Now())
    assert attempt_upload(graph.pk) == "stored"
    graph.refresh_from_db()
    s3_client.delete_object(Bucket="made-later", Key=graph.storage_name)
    s3_client.delete_bucket(Bucket="made-later")


def test_bytes_that_changed_in_storage_are_unavailable(owner: User, s3: FaultProxy, s3_client: BaseClient) -> None:
    graph = create_graph(owner)
    attempt_upload(graph.pk)
    graph.refresh_from_db()
    s3_client.put_object(Bucket="plotline", Key=graph.storage_name, Body=png()[::-1])
    with pytest.raises(BytesUnavailable, match="changed"):
        read_bytes(graph)
    s3_client.delete_object(Bucket="plotline", Key=graph.storage_name)
    with pytest.raises(BytesUnavailable, match="missing"):
        read_bytes(graph)


# --- workers ---------------------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_worker_without_work_only_reads_from_the_database(owner: User) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert worker.run_one_step() is False
    # The search for old imports, of once a minute, takes two of them.
    assert len(queries) in (4, 6)
    assert all(query["sql"].startswith("SELECT") for query in queries)


@pytest.mark.django_db(transaction=True)
def test_all_graphs_are_stored_once_after_an_outage_and_truncated_uploads(
    owner: User, s3: FaultProxy, read_bucket: ReadBucket, short_delays: None, start_worker: StartWorker
) -> None:
    s3.refuse()
    graphs = [create_graph(owner, number) for number in range(20)]
    start_worker(4)
    wait_until(lambda: not PendingUpload.objects.filter(last_error="").exists())
    assert {read_bytes(graph) for graph in graphs} == {png(number) for number in range(20)}
    s3.fault = Fault.TRUNCATE_HALF
    s3.accept()
    wait_until_stored()
    assert_stored_once(graphs, read_bucket())


@pytest.mark.django_db(transaction=True)
def test_other_uploads_continue_while_one_hangs(
    owner: User,
    s3: FaultProxy,
    short_delays: None,
    start_worker: StartWorker,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # No time limit ends the upload that hangs, so the other uploads must be done by the other thread.
    monkeypatch.setattr(s3_storage, "READ_LIMIT_S", HANG_LIMIT_S)
    monkeypatch.setattr(storage, "ATTEMPT_LIMIT_S", HANG_LIMIT_S)
    s3.fault = Fault.HANG_ON_PUT
    create_graph(owner, 0)
    start_worker(2)
    assert s3.request_hangs.wait(10)
    s3.fault = Fault.NONE
    for number in range(1, 11):
        create_graph(owner, number)
    wait_until(lambda: PendingUpload.objects.count() == 1)
    assert s3.hanging_requests == 1
    s3.release()


@pytest.mark.django_db(transaction=True)
def test_upload_of_a_killed_worker_is_finished_by_another_worker_once_its_claim_expires(
    owner: User,
    s3: FaultProxy,
    read_bucket: ReadBucket,
    short_delays: None,
    start_worker: StartWorker,
    step_results: list[bool],
) -> None:
    s3.fault = Fault.HANG_ON_PUT
    graph = create_graph(owner)
    environment = os.environ | {
        "DATABASE_URL": database_url(),
        "AWS_STORAGE_BUCKET_NAME": "plotline",
        "AWS_S3_ENDPOINT_URL": s3.url,
        "AWS_S3_REGION_NAME": "us-east-1",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
    }
    command = [sys.executable, "manage.py", "attachments_worker", "--threads", "1"]
    with subprocess.Popen(tied(command), cwd=ROOT, env=environment, stdout=subprocess.DEVNULL) as process:
        assert s3.request_hangs.wait(60)
        process.send_signal(signal.SIGKILL)
    assert DBTaskResult.objects.get().status == "RUNNING"
    s3.fault = Fault.NONE
    s3.release()
    start_worker(1)
    wait_until(lambda: step_results.count(False) >= 3)
    assert PendingUpload.objects.exists(), "the row is still claimed by the killed worker"
    # Let the claim expire.
    PendingUpload.objects.update(claimed_until=Now() - timedelta(seconds=1))
    wait_until_stored()
    assert_stored_once([graph], read_bucket())


@pytest.mark.django_db(transaction=True)
def test_worker_process_ends_on_sigterm(owner: User) -> None:
    command = [sys.executable, "manage.py", "attachments_worker"]
    environment = os.environ | {"DATABASE_URL": database_url()}
    with subprocess.Popen(tied(command), cwd=ROOT, env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert b"4 threads" in process.stdout.readline()
        process.terminate()
        assert process.wait(60) == 0


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="only SQLite locks the whole database")
def test_worker_continues_after_the_database_was_locked(
    owner: User, start_worker: StartWorker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(connections.settings["default"]["OPTIONS"], "timeout", 0.05)
    graph = create_graph(owner)
    # Without a task, the thread claims the pending row itself.
    DBTaskResult.objects.all().delete()
    with transaction.atomic():
        Attachment.objects.filter(pk=graph.pk).update(name="locked.png")
        start_worker(1)
        wait_until(lambda: "waits for the database" in caplog.text)
    wait_until_stored()


def test_worker_deletes_only_task_results_that_are_days_old(owner: User) -> None:
    for _ in range(3):
        create_graph(owner)
    old_task = DBTaskResult.objects.first()
    assert old_task is not None
    DBTaskResult.objects.filter(pk=old_task.pk).update(status="RUNNING", enqueued_at=Now() - timedelta(days=2))
    worker.prune_tasks()
    assert DBTaskResult.objects.count() == 2


def test_storage_name_is_made_from_the_owners_id_and_the_digest_of_the_content(owner: User) -> None:
    graph = create_graph(owner)
    digest = hashlib.sha256(png()).hexdigest()
    assert graph.mime_type == PNG
    assert build_storage_name(graph) == f"u{owner.pk}/{digest[:2]}/{digest}.png"


# --- other work of the process ---------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_expired_login_sessions_are_deleted() -> None:
    now = timezone.now()
    for name, expire_date in (("old", now - timedelta(seconds=1)), ("current", now + timedelta(days=1))):
        Session.objects.create(session_key=name, session_data="", expire_date=expire_date)
    worker.clear_expired_sessions()
    assert Session.objects.get().session_key == "current"


@pytest.mark.django_db(transaction=True)
def test_running_worker_touches_its_heartbeat_file(tmp_path: Path, short_delays: None) -> None:
    heartbeat = tmp_path / "heartbeat"
    attachments_worker = worker.AttachmentsWorker(1, heartbeat)
    thread = threading.Thread(target=attachments_worker.run)
    thread.start()
    try:
        wait_until(heartbeat.exists)
        heartbeat.unlink()
        wait_until(heartbeat.exists)
    finally:
        attachments_worker.stop()
        thread.join()
