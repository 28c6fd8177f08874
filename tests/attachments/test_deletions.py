"""The objects of deleted attachments are deleted from storage, and no object that an attachment uses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from botocore.client import BaseClient
from django.contrib.auth.models import Permission
from django.db import connection, transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.test import Client

from attachments import deletions, storage
from attachments.deletions import attempt_deletion, find_due_deletions
from attachments.models import Attachment, ObjectDeletion, PendingUpload
from attachments.storage.base import StorageRefused
from attachments.uploads import attempt_upload, build_storage_name, find_due_uploads
from chat.models import User
from tests.attachments.conftest import create_graph
from tests.attachments.fault_proxy import Fault, FaultProxy
from tests.polling import wait_until

pytestmark = pytest.mark.django_db

ReadBucket = Callable[[], dict[str, bytes]]


def create_stored(owner: User, number: int = 0) -> Attachment:
    """Create a graph whose object is in storage."""
    graph = create_graph(owner, number)
    assert attempt_upload(graph.pk) == "stored"
    graph.refresh_from_db()
    return graph


def make_due() -> None:
    """Make all deletions due now, as time would."""
    ObjectDeletion.objects.update(next_attempt_at=Now(), claimed_until=None)


def run_worker() -> None:
    """Attempt what is due, as the worker does."""
    for upload_id in find_due_uploads().values_list("pk", flat=True):
        attempt_upload(upload_id)
    for deletion_id in find_due_deletions().values_list("pk", flat=True):
        attempt_deletion(deletion_id)


# --- the queue


@pytest.mark.parametrize("way", ["instance", "bulk", "cascade", "sql"])
def test_every_way_to_delete_an_attachment_queues_the_deletion_of_its_object(
    owner: User, s3: FaultProxy, way: str
) -> None:
    graph = create_stored(owner)
    match way:
        case "instance":
            graph.delete()
        case "bulk":
            Attachment.objects.all().delete()
        case "cascade":
            owner.delete()
        case "sql":
            with connection.cursor() as cursor:
                cursor.execute("DELETE FROM attachments_attachment")
    deletion = ObjectDeletion.objects.get()
    assert (deletion.owner_id, deletion.storage_name) == (graph.owner_id, graph.storage_name)
    assert deletion.size_bytes == graph.size_bytes


def test_deletion_of_an_attachment_that_is_rolled_back_queues_no_object(owner: User) -> None:
    graph = create_stored(owner)
    with transaction.atomic():
        graph.delete()
        transaction.set_rollback(True)
    assert not ObjectDeletion.objects.exists()


@pytest.mark.skipif(connection.vendor != "sqlite", reason="only SQLite drops the triggers of a rebuilt table")
def test_trigger_exists_after_the_last_migration() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT tbl_name FROM sqlite_master WHERE name = 'attachments_attachment_deleted'")
        assert cursor.fetchone() == ("attachments_attachment",), "the migration that rebuilt the table must create it"


# --- the objects


def test_worker_deletes_the_object_from_the_bucket(owner: User, s3: FaultProxy, read_bucket: ReadBucket) -> None:
    kept, deleted = create_stored(owner, 1), create_stored(owner, 2)
    deleted.delete()
    run_worker()
    assert list(read_bucket()) == [kept.storage_name]
    assert not ObjectDeletion.objects.exists()


def test_worker_deletes_the_file_and_the_folders_that_become_empty(owner: User, media: Path) -> None:
    create_stored(owner).delete()
    leftover = media / f"{ObjectDeletion.objects.get().storage_name}.x.part"
    leftover.write_bytes(b"left by a writer that was killed")
    run_worker()
    assert list(media.iterdir()) == []


def test_object_is_kept_while_another_attachment_uses_it(owner: User, s3: FaultProxy, read_bucket: ReadBucket) -> None:
    first, second = create_stored(owner), create_stored(owner)
    assert first.storage_name == second.storage_name
    first.delete()
    run_worker()
    assert list(read_bucket()) == [second.storage_name]
    second.delete()
    run_worker()
    assert read_bucket() == {}


def test_object_is_deleted_although_another_owner_or_type_has_the_same_content(
    owner: User, s3: FaultProxy, read_bucket: ReadBucket
) -> None:
    graph = create_stored(owner)
    other = create_stored(User.objects.create_user("other"))
    file = create_graph(owner)
    Attachment.objects.filter(pk=file.pk).update(mime_type="application/octet-stream")
    attempt_upload(file.pk)
    graph.delete()
    run_worker()
    file.refresh_from_db()
    assert sorted(read_bucket()) == sorted([other.storage_name, file.storage_name])


def test_attachment_that_is_deleted_while_its_upload_runs_leaves_no_object(
    owner: User, s3: FaultProxy, read_bucket: ReadBucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = create_graph(owner)
    put = storage.put

    def put_after_the_deletion(name: str, data: bytes, content_type: str) -> None:
        Attachment.objects.all().delete()
        run_worker()
        put(name, data, content_type)

    monkeypatch.setattr(storage, "put", put_after_the_deletion)
    attempt_upload(graph.pk)
    # The deletion waits until no upload can be under way.
    assert list(read_bucket()) == [build_storage_name(graph)]
    make_due()
    run_worker()
    assert read_bucket() == {}


def test_upload_waits_while_its_object_is_being_deleted(
    owner: User, s3: FaultProxy, read_bucket: ReadBucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_stored(owner).delete()
    delete = storage.delete
    results = []

    def delete_after_an_upload_was_tried(name: str) -> None:
        results.append(attempt_upload(create_graph(owner).pk))
        delete(name)

    monkeypatch.setattr(storage, "delete", delete_after_an_upload_was_tried)
    assert attempt_deletion(ObjectDeletion.objects.get().pk) == "deleted"
    assert results == ["postponed"]
    PendingUpload.objects.update(next_attempt_at=Now())
    run_worker()
    graph = Attachment.objects.get()
    assert list(read_bucket()) == [graph.storage_name]


def test_worker_that_was_killed_blocks_neither_deletion_nor_upload(
    owner: User, s3: FaultProxy, read_bucket: ReadBucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_stored(owner).delete()

    def die(name: str) -> None:
        raise KeyboardInterrupt

    deletion = ObjectDeletion.objects.get()
    with monkeypatch.context() as patch:
        patch.setattr(storage, "delete", die)
        with pytest.raises(KeyboardInterrupt):
            attempt_deletion(deletion.pk)
    assert attempt_deletion(deletion.pk) == "not due"
    make_due()  # The claim expires.
    run_worker()
    assert read_bucket() == {}


def test_worker_that_was_suspended_deletes_no_object_that_was_uploaded_again(
    owner: User, s3: FaultProxy, read_bucket: ReadBucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_stored(owner).delete()
    is_used = deletions._is_used

    def suspend_after_looking(deletion: ObjectDeletion, name: str) -> bool:
        result = is_used(deletion, name)
        ObjectDeletion.objects.update(claimed_until=Now())  # The claim expires.
        create_stored(owner)
        return result

    with monkeypatch.context() as patch:
        patch.setattr(deletions, "_is_used", suspend_after_looking)
        assert attempt_deletion(ObjectDeletion.objects.get().pk) == "not due"
    run_worker()
    assert list(read_bucket()) == [Attachment.objects.get().storage_name]
    assert not ObjectDeletion.objects.exists()


# --- storage that fails


def test_deletions_are_retried_until_storage_is_back(
    owner: User,
    s3: FaultProxy,
    read_bucket: ReadBucket,
    start_worker: Callable[[int], None],
    short_delays: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(deletions, "CLAIM_S", 0.05)
    for number in range(8):
        create_stored(owner, number)
    s3.fault = Fault.ERROR
    s3.error = (503, "SlowDown", "Later.")
    Attachment.objects.all().delete()
    start_worker(2)
    # An attempt that outlives its claim records no error.
    wait_until(lambda: not ObjectDeletion.objects.filter(Q(attempts__lt=2) | Q(last_error="")).exists())
    assert {deletion.last_error for deletion in ObjectDeletion.objects.all()} == {
        "Storage answered 503 SlowDown: Later."
    }
    s3.fault = Fault.FAIL_HALF
    wait_until(lambda: not ObjectDeletion.objects.exists())
    assert read_bucket() == {}


def test_deletion_stays_claimed_after_a_failed_request_and_retry_delays_grow(owner: User, s3: FaultProxy) -> None:
    create_stored(owner).delete()
    s3.refuse()
    deletion = ObjectDeletion.objects.get()
    pauses_s = []
    for attempts in (1, 20):
        ObjectDeletion.objects.update(attempts=attempts - 1)
        make_due()
        assert attempt_deletion(deletion.pk) == "postponed"
        deletion.refresh_from_db()
        assert deletion.claimed_until is not None
        assert "not reached" in deletion.last_error
        pauses_s.append((deletion.next_attempt_at - deletion.claimed_until).total_seconds() + deletions.CLAIM_S)
    assert deletions.CLAIM_S <= pauses_s[0] + 1 < 70
    assert pauses_s[1] > 200


def test_deletion_of_an_object_that_is_already_missing_succeeds(
    owner: User, s3: FaultProxy, s3_client: BaseClient
) -> None:
    graph = create_stored(owner)
    s3_client.delete_object(Bucket="plotline", Key=graph.storage_name)
    graph.delete()
    assert attempt_deletion(ObjectDeletion.objects.get().pk) == "deleted"


def test_deletion_of_an_object_in_a_missing_bucket_raises_storage_refused(owner: User, s3: FaultProxy) -> None:
    create_stored(owner).delete()
    s3.fault, s3.error = Fault.ERROR, (404, "NoSuchBucket", "Gone.")
    with pytest.raises(StorageRefused):
        storage.delete("u1/a")


# --- the admin


def test_operators_see_refused_deletions_with_their_error_and_try_them_again(
    client: Client, owner: User, s3: FaultProxy, read_bucket: ReadBucket
) -> None:
    staff = User.objects.create_user("staff", is_staff=True)
    codenames = ["view_objectdeletion", "change_objectdeletion"]
    staff.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    client.force_login(staff)
    create_stored(owner).delete()
    s3.fault = Fault.ERROR
    deletion = ObjectDeletion.objects.get()
    assert attempt_deletion(deletion.pk) == "postponed"
    url = "/admin/attachments/objectdeletion/"
    assert "RequestTimeTooSkewed" in client.get(url).content.decode()
    s3.fault = Fault.NONE
    assert attempt_deletion(deletion.pk) == "not due"
    form = {"action": "try_storage_again", "_selected_action": [str(deletion.pk)]}
    assert "1 deletion is tried again now." in client.post(url, form, follow=True).content.decode()
    assert attempt_deletion(deletion.pk) == "deleted"
    assert read_bucket() == {}
