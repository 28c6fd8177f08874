"""The admin pages of attachments: what staff may see and do."""

from __future__ import annotations

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from attachments.models import Attachment, PendingUpload
from attachments.uploads import attempt_upload
from chat.models import User
from tests.attachments.conftest import create_graph
from tests.attachments.fault_proxy import Fault, FaultProxy

LISTS = ["/admin/attachments/attachment/", "/admin/attachments/pendingupload/"]


@pytest.fixture
def staff(client: Client, db: None) -> Client:
    """Return the client of a staff user who may only view rows and retry uploads."""
    user = User.objects.create_user("staff", is_staff=True)
    names = ["view_attachment", "view_pendingupload", "change_pendingupload"]
    user.user_permissions.set(Permission.objects.filter(codename__in=names))
    client.force_login(user)
    return client


def test_pending_attachments_are_listed_first(staff: Client, owner: User) -> None:
    stored, waiting = create_graph(owner, 1), create_graph(owner, 2)
    attempt_upload(stored.pk)
    page = staff.get(LISTS[0]).content.decode()
    assert page.index(str(waiting.pk)) < page.index(str(stored.pk))


@pytest.mark.parametrize("url", LISTS)
def test_staff_pages_show_neither_file_names_nor_links_to_files(staff: Client, owner: User, url: str) -> None:
    graph = create_graph(owner)
    Attachment.objects.update(name="secret plans.png")
    for path in (url, f"{url}{graph.pk}/change/", f"{url}{graph.pk}/history/", f"{url}?q={graph.pk}"):
        page = staff.get(path).content.decode()
        assert str(graph.pk) in page
        assert "secret" not in page
        assert graph.url not in page
    # Searches and lookups cannot be used to guess a name.
    assert str(graph.pk) not in staff.get(f"{url}?q=secret").content.decode()
    for lookup in ("name__contains", "attachment__name__contains", "sha256__startswith"):
        assert staff.get(f"{url}?{lookup}=s").status_code == 400


@pytest.mark.parametrize("url", LISTS)
def test_number_of_queries_does_not_grow_with_the_list(
    staff: Client, owner: User, url: str, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    create_graph(owner, 0)
    with django_assert_num_queries(6) as few:
        staff.get(url)
    for number in range(1, 11):
        create_graph(owner, number)
    with django_assert_num_queries(6) as many:
        assert staff.get(url).status_code == 200
    assert len(few.captured_queries) == len(many.captured_queries)
    assert not [query for query in many.captured_queries if '"data"' in query["sql"]]


@pytest.mark.parametrize("url", LISTS)
def test_opening_the_page_of_an_attachment_is_logged_and_opening_the_list_is_not(
    staff: Client, owner: User, url: str
) -> None:
    graph = create_graph(owner)
    staff.get(url)
    assert not LogEntry.objects.exists()
    staff.get(f"{url}{graph.pk}/change/")
    entry = LogEntry.objects.get()
    assert (entry.user.username, entry.object_id, entry.get_change_message()) == ("staff", str(graph.pk), "Read.")


@pytest.mark.parametrize("url", LISTS)
def test_refused_upload_shows_its_error_and_can_be_retried(
    staff: Client, owner: User, s3: FaultProxy, url: str
) -> None:
    graph = create_graph(owner)
    s3.fault = Fault.ERROR
    attempt_upload(graph.pk)
    assert "RequestTimeTooSkewed" in staff.get(f"{url}{graph.pk}/change/").content.decode()
    s3.fault = Fault.NONE
    assert attempt_upload(graph.pk) == "not due"
    form = {"action": "try_storage_again", "_selected_action": [str(graph.pk)]}
    assert "1 upload is tried again now." in staff.post(url, form, follow=True).content.decode()
    assert attempt_upload(graph.pk) == "stored"


def test_staff_without_the_permission_to_retry_uploads_cannot_retry_them(client: Client, owner: User) -> None:
    user = User.objects.create_user("viewer", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_pendingupload"))
    client.force_login(user)
    graph = create_graph(owner)
    due_at = PendingUpload.objects.get().next_attempt_at
    client.post(LISTS[1], {"action": "try_storage_again", "_selected_action": [str(graph.pk)]})
    assert PendingUpload.objects.get().next_attempt_at == due_at
