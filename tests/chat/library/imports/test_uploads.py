"""Large files are uploaded in pieces, imported by a worker, and shown on a page with the result."""

from __future__ import annotations

import io
import json
import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from attachments.models import Attachment, ObjectDeletion
from chat.library.imports import jobs, uploads
from chat.library.imports.archives import IN_FILE, Archive
from chat.library.imports.importer import import_file
from chat.library.imports.jobs import run_one_step
from chat.library.imports.refusal import RefusedImport
from chat.library.imports.uploads import begin_upload, delete_old
from chat.management.commands import import_conversations
from chat.models import Conversation, ImportJob, ImportPiece, Message, Quota, User
from chat.people.quotas.usage import stored_bytes
from tests.chat.library.imports.documents import zipped
from tests.chat.library.imports.large_archives import TUS, begin, conversation, send_piece, write_archive
from tests.factories import make_user

pytestmark = pytest.mark.django_db

PIECE_BYTES = 300_000


@pytest.fixture(autouse=True)
def media(tmp_path: Path, settings: Settings) -> Path:
    """Give each test its own storage, and return its folder."""
    settings.MEDIA_ROOT = tmp_path / "media"
    return tmp_path / "media"


@pytest.fixture
def owner() -> User:
    return make_user()


@pytest.fixture
def client(owner: User) -> Client:
    client = Client()
    client.force_login(owner)
    return client


def archive_of(conversations: list[dict[str, Any]], *, file_bytes: int = 1000) -> bytes:
    file = io.BytesIO()
    write_archive(file, conversations, file_bytes=file_bytes)
    return file.getvalue()


def upload(client: Client, data: bytes, name: str = "export.zip") -> ImportJob:
    """Upload a file, and return its job."""
    url = begin(client, len(data), name).headers["Location"]
    for offset in range(0, len(data), PIECE_BYTES):
        assert send_piece(client, url, offset, data[offset : offset + PIECE_BYTES]).status_code == 204
    return ImportJob.objects.get(pk=url.split("/")[2])


def stored_objects(media: Path) -> list[Path]:
    return [path for path in media.rglob("*") if path.is_file()]


def test_upload_continues_where_it_ended_and_its_result_is_shown(client: Client, owner: User, media: Path) -> None:
    data = archive_of([conversation(number) for number in range(4)], file_bytes=200_000)
    created = begin(client, len(data), fingerprint="a")
    url = created.headers["Location"]
    assert (created.status_code, created.headers["Upload-Offset"]) == (201, "0")
    assert send_piece(client, url, 0, data[:PIECE_BYTES]).headers["Upload-Offset"] == str(PIECE_BYTES)
    # A piece that is sent twice, or after a gap.
    for offset in (0, 2 * PIECE_BYTES):
        refused = send_piece(client, url, offset, data[offset : offset + PIECE_BYTES])
        assert (refused.status_code, refused.headers["Upload-Offset"]) == (409, str(PIECE_BYTES))
    assert len(stored_objects(media)) == 1
    # The page was closed, and the same file is chosen again.
    again = begin(client, len(data), fingerprint="a")
    assert (again.headers["Location"], again.headers["Upload-Offset"]) == (url, str(PIECE_BYTES))
    state = client.head(url, headers=TUS)
    assert (state.headers["Upload-Offset"], state.headers["Upload-Length"]) == (str(PIECE_BYTES), str(len(data)))
    assert "no-store" in state.headers["Cache-Control"]
    assert stored_bytes(owner.pk) == PIECE_BYTES
    for offset in range(PIECE_BYTES, len(data), PIECE_BYTES):
        assert send_piece(client, url, offset, data[offset : offset + PIECE_BYTES]).status_code == 204
    assert "as soon as a worker is free" in client.get(url).text
    assert run_one_step()
    page = client.get(url).text
    assert "The import is complete." in page
    assert "4 conversations are new." in page
    assert all(f"Conversation {number}</bdi>" in page for number in range(4))
    assert url in client.get("/import/").text
    assert Attachment.objects.count() == 4
    assert not ImportPiece.objects.exists()
    # The objects of the pieces are deleted by the worker's next steps.
    assert ObjectDeletion.objects.filter(storage_name__contains="/imports/").count() == len(stored_objects(media))


def test_invalid_conversations_are_left_out_and_listed_on_the_result_page(client: Client) -> None:
    broken = {"name": "Broken one", "uuid": "broken", "chat_messages": [7]}
    other = {"title": "Of another product"}
    job = upload(client, archive_of([conversation(1), broken, other, conversation(2)]))
    run_one_step()
    job.refresh_from_db()
    assert (job.state, job.created, job.left_out) == (ImportJob.State.DONE, 2, 2)
    page = client.get(job.get_absolute_url()).text
    assert "<bdi>Broken one</bdi>: " in page
    assert "<bdi>Of another product</bdi>: This file cannot be imported." in page


def test_import_whose_worker_died_is_repeated_without_duplicates(client: Client, owner: User) -> None:
    conversations = [conversation(number) for number in range(6)]
    job = upload(client, archive_of(conversations))
    earlier = conversation(9)
    import_file(archive_of([earlier]), owner_id=owner.pk)
    started_at = timezone.now()
    import_file(archive_of(conversations[:3]), owner_id=owner.pk)
    row = ImportJob.objects.filter(pk=job.pk)
    row.update(state=ImportJob.State.RUNNING, attempts=1, started_at=started_at, claimed_until=started_at)
    assert run_one_step()
    job.refresh_from_db()
    assert (job.state, job.created, job.existing) == (ImportJob.State.DONE, 6, 0)
    assert Conversation.objects.count() == 7
    assert Message.objects.count() == 7 * 4
    # A later export has one conversation that has grown, and a new one.
    grown = conversation(0, turns=3)
    job = upload(client, archive_of([grown, *conversations[1:], conversation(7)]))
    run_one_step()
    job.refresh_from_db()
    assert (job.created, job.continued, job.existing) == (1, 1, 5)


def test_import_that_fails_too_often_ends_with_an_error_message(client: Client) -> None:
    job = upload(client, archive_of([conversation(1)]))
    ImportJob.objects.filter(pk=job.pk).update(attempts=jobs.ATTEMPTS_LIMIT)
    run_one_step()
    assert jobs.BROKEN_OFF in client.get(job.get_absolute_url()).text
    assert not ImportPiece.objects.exists()


def test_import_stops_when_a_quota_is_used_up_and_the_rest_can_be_imported_later(client: Client, owner: User) -> None:
    quota = Quota.objects.create(user=owner, conversations_per_day=2)
    data = archive_of([conversation(number) for number in range(4)])
    job = upload(client, data)
    run_one_step()
    job.refresh_from_db()
    assert (job.state, job.created) == (ImportJob.State.REFUSED, 2)
    assert "You have created 2 conversations today" in client.get(job.get_absolute_url()).text
    quota.conversations_per_day = 10
    quota.save()
    job = upload(client, data)
    run_one_step()
    job.refresh_from_db()
    assert (job.created, job.existing) == (2, 2)


def test_uploaded_archive_does_not_count_towards_the_quota_in_addition_to_its_files(
    client: Client, owner: User
) -> None:
    data = archive_of([conversation(1)], file_bytes=700_000)
    Quota.objects.create(user=owner, storage_mb=1)
    job = upload(client, data)
    run_one_step()
    job.refresh_from_db()
    assert (job.state, job.created, job.reasons) == (ImportJob.State.DONE, 1, [])


def test_size_and_number_of_uploads_are_limited(client: Client, owner: User, settings: Settings) -> None:
    settings.IMPORT_LIMIT_BYTES = 5 * 1024**2
    too_large = begin(client, 6 * 1024**2)
    assert (too_large.status_code, json.loads(too_large.content)["detail"]) == (
        413,
        "This file is too large: at most 5 MB can be imported.",
    )
    assert begin(client, 0).status_code == 400
    Quota.objects.create(user=owner, storage_mb=9)
    url = begin(client, 5 * 1024**2).headers["Location"]
    over_quota = begin(client, 5 * 1024**2)
    assert over_quota.status_code == 403
    assert "Your files take up" in json.loads(over_quota.content)["detail"]
    assert [begin(client, 1000).status_code for _ in range(3)] == [201, 201, 400]
    assert send_piece(client, url, 0, bytes(uploads.PIECE_LIMIT_BYTES + 1)).status_code == 413
    assert send_piece(client, url, 0, bytes(1000)).status_code == 400
    assert client.patch(url, b"x", content_type="text/plain", headers=TUS).status_code == 415
    assert client.head(url, headers={"Tus-Resumable": "0.2"}).status_code == 412
    assert not Attachment.objects.exists()


def test_piece_that_storage_cannot_save_is_refused_and_can_be_sent_again(client: Client, media: Path) -> None:
    url = begin(client, 600_000).headers["Location"]
    media.write_text("This is no folder.")
    refused = send_piece(client, url, 0, bytes(PIECE_BYTES))
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
    assert client.head(url, headers=TUS).headers["Upload-Offset"] == "0"
    assert not Attachment.objects.exists()
    media.unlink()
    assert send_piece(client, url, 0, bytes(PIECE_BYTES)).status_code == 204


def test_import_waits_while_storage_cannot_be_read(client: Client, media: Path) -> None:
    job = upload(client, archive_of([conversation(1)]))
    shutil.move(media, media.with_name("away"))
    assert run_one_step()
    job.refresh_from_db()
    assert (job.state, job.attempts) == (ImportJob.State.RUNNING, 0)
    shutil.rmtree(media)
    shutil.move(media.with_name("away"), media)
    ImportJob.objects.update(claimed_until=None)
    run_one_step()
    job.refresh_from_db()
    assert (job.state, job.created) == (ImportJob.State.DONE, 1)


@pytest.mark.parametrize("state", [ImportJob.State.UPLOADING, ImportJob.State.QUEUED])
def test_cancelled_upload_is_deleted_with_its_pieces(client: Client, state: str) -> None:
    data = archive_of([conversation(1)], file_bytes=600_000)
    url = begin(client, len(data)).headers["Location"]
    send_piece(client, url, 0, data[:PIECE_BYTES])
    ImportJob.objects.update(state=state)
    assert client.delete(url, headers=TUS).status_code == 204
    assert not ImportJob.objects.exists()
    assert not Attachment.objects.exists()
    assert client.head(url, headers=TUS).status_code == 404


def test_cancelled_import_stops_and_keeps_what_it_has_stored(
    client: Client, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "REPORT_S", 0)
    job = upload(client, archive_of([conversation(number) for number in range(5)]))
    # An attempt whose worker died had read more. The progress on the page does not go back.
    ImportJob.objects.filter(pk=job.pk).update(percent=100)
    store = uploads.write_pieces

    def cancel_then_write(*arguments: Any) -> None:
        store(*arguments)
        client.post(f"{job.get_absolute_url()}cancel/")

    monkeypatch.setattr(jobs, "write_pieces", cancel_then_write)
    run_one_step()
    assert Conversation.objects.count() == 1
    page = client.get(job.get_absolute_url()).text
    assert uploads.CANCELLED in page
    assert "1 conversation is new." in page
    assert ImportJob.objects.get(pk=job.pk).percent == 100
    assert not ImportPiece.objects.exists()


def test_import_ends_if_the_account_of_its_owner_is_deactivated(
    client: Client, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "REPORT_S", 0)
    upload(client, archive_of([conversation(number) for number in range(5)]))
    url = begin(client, 600_000).headers["Location"]
    send_piece(client, url, 0, bytes(PIECE_BYTES))
    store = uploads.write_pieces

    def deactivate_then_write(*arguments: Any) -> None:
        store(*arguments)
        User.objects.update(is_active=False)

    monkeypatch.setattr(jobs, "write_pieces", deactivate_then_write)
    run_one_step()
    assert Conversation.objects.count() == 1
    assert ImportJob.objects.exclude(state=ImportJob.State.UPLOADING).get().state == ImportJob.State.REFUSED
    assert delete_old()
    assert not ImportPiece.objects.exists()
    assert not ImportJob.objects.filter(state__in=ImportJob.OPEN).exists()


def test_result_page_leaves_out_counts_that_are_zero(client: Client) -> None:
    job = upload(client, zipped({"conversations.json": b"[]"}))
    run_one_step()
    page = client.get(job.get_absolute_url()).text
    assert "There is no conversation in this file." in page
    assert "0 conversation" not in page


def test_abandoned_uploads_and_old_results_are_deleted(client: Client, owner: User) -> None:
    upload(client, archive_of([conversation(1)]))
    run_one_step()
    url = begin(client, 600_000).headers["Location"]
    send_piece(client, url, 0, bytes(PIECE_BYTES))
    young = begin_upload(owner.pk, name="young.zip", size_bytes=9)
    assert not delete_old()
    day_ago = timezone.now() - timedelta(days=1, seconds=1)
    ImportJob.objects.exclude(pk=young.pk).update(updated_at=day_ago)
    assert delete_old()
    assert ImportJob.objects.filter(state=ImportJob.State.UPLOADING).get() == young
    assert not ImportPiece.objects.exists()
    ImportJob.objects.exclude(pk=young.pk).update(updated_at=day_ago - timedelta(days=30))
    assert delete_old()
    assert not delete_old()
    assert Conversation.objects.count() == 1


def test_file_with_one_conversation_is_imported_and_unknown_or_empty_files_are_refused(client: Client) -> None:
    alone = json.dumps(conversation(1, files=0)).encode()
    job = upload(client, alone, "conversations.json")
    run_one_step()
    unknown = upload(client, b"%PDF", "a.pdf")
    run_one_step()
    empty = upload(client, b"[]", "conversations.json")
    run_one_step()
    states = [ImportJob.objects.get(pk=one.pk) for one in (job, unknown, empty)]
    assert [one.created for one in states] == [1, 0, 0]
    assert states[1].refusal.startswith("This file cannot be imported.")
    assert states[2].refusal == "There is no conversation in this file."


def test_import_command_leaves_out_invalid_conversations_of_a_large_file(
    owner: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(import_conversations, "IMPORT_LIMIT_BYTES", 1000)
    path = tmp_path / "export.zip"
    write_archive(path, [conversation(1), {"title": "Broken"}, conversation(2)])
    call_command("import_conversations", str(path), user=owner.username)
    assert capsys.readouterr().out.startswith("Imported 2; 0 were there already.\nLeft out: Broken: This file cannot")


def test_archive_with_too_many_entries_is_refused_before_its_entries_are_parsed() -> None:
    limits = replace(IN_FILE, entries=10)
    Archive(io.BytesIO(zipped({f"{number}": b"" for number in range(10)})), limits)
    with pytest.raises(RefusedImport, match="more than 10 entries"):
        Archive(io.BytesIO(zipped({f"{number}": b"" for number in range(11)})), limits)
    with pytest.raises(RefusedImport, match="more than 10 entries"):
        Archive(io.BytesIO(zipped({"x" * 1000: b""})), replace(limits, directory_bytes=1000))
