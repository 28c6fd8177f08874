"""What staff see and may do."""

from __future__ import annotations

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from attachments.models import Attachment, PendingUpload
from attachments.store import new_pending
from attachments.uploads import attempt
from tests.attachments.conftest import new_graph
from tests.attachments.fault_proxy import FaultProxy

LISTS = ["/admin/attachments/attachment/", "/admin/attachments/pendingupload/"]


@pytest.fixture
def staff(client: Client, db: None) -> Client:
    """The browser of someone who may view and retry, and no more."""
    user = User.objects.create_user("staff", is_staff=True)
    names = ["view_attachment", "view_pendingupload", "change_pendingupload"]
    user.user_permissions.set(Permission.objects.filter(codename__in=names))
    client.force_login(user)
    return client


def test_waiting_attachments_stand_first(staff: Client, owner: User) -> None:
    stored, waiting = new_graph(owner, 1), new_graph(owner, 2)
    attempt(stored.pk)
    page = staff.get(LISTS[0]).content.decode()
    assert page.index(str(waiting.pk)) < page.index(str(stored.pk))


@pytest.mark.parametrize("url", LISTS)
def test_neither_names_nor_bytes_are_shown(staff: Client, owner: User, url: str) -> None:
    graph = new_graph(owner)
    Attachment.objects.update(name="secret plans.png")
    for path in (url, f"{url}{graph.pk}/change/", f"{url}{graph.pk}/history/", f"{url}?q={graph.pk}"):
        page = staff.get(path).content.decode()
        assert str(graph.pk) in page
        assert "secret" not in page
        assert graph.url not in page
    # Nor is a name found by guessing.
    assert str(graph.pk) not in staff.get(f"{url}?q=secret").content.decode()
    for lookup in ("name__contains", "attachment__name__contains", "sha256__startswith"):
        assert staff.get(f"{url}?{lookup}=s").status_code == 400


@pytest.mark.parametrize("url", LISTS)
def test_list_takes_the_same_queries_for_few_and_many(
    staff: Client, owner: User, url: str, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    new_graph(owner, 0)
    with django_assert_num_queries(6) as few:
        staff.get(url)
    for number in range(1, 11):
        new_graph(owner, number)
    with django_assert_num_queries(6) as many:
        assert staff.get(url).status_code == 200
    assert len(few.captured_queries) == len(many.captured_queries)
    assert not [query for query in many.captured_queries if '"data"' in query["sql"]]


@pytest.mark.parametrize("url", LISTS)
def test_who_opens_a_page_is_written_down(staff: Client, owner: User, url: str) -> None:
    graph = new_graph(owner)
    staff.get(url)
    assert not LogEntry.objects.exists()
    staff.get(f"{url}{graph.pk}/change/")
    entry = LogEntry.objects.get()
    assert (entry.user.username, entry.object_id, entry.get_change_message()) == ("staff", str(graph.pk), "Read.")


@pytest.mark.parametrize("url", LISTS)
def test_refused_uploads_are_shown_with_their_reason_and_tried_again(
    staff: Client, owner: User, s3: FaultProxy, url: str
) -> None:
    graph = new_graph(owner)
    s3.fault = "deny"
    attempt(graph.pk)
    assert "RequestTimeTooSkewed" in staff.get(f"{url}{graph.pk}/change/").content.decode()
    s3.fault = "pass"
    assert attempt(graph.pk) == "not due"
    form = {"action": "try_storage_again", "_selected_action": [str(graph.pk)]}
    assert "1 upload is tried again now." in staff.post(url, form, follow=True).content.decode()
    assert attempt(graph.pk) == "stored"


@pytest.mark.parametrize("url", LISTS)
def test_nothing_can_be_added_changed_or_deleted_even_by_a_superuser(client: Client, owner: User, url: str) -> None:
    client.force_login(User.objects.create_superuser("root"))
    graph = new_graph(owner)
    assert client.get(f"{url}add/").status_code == 403
    assert client.post(f"{url}{graph.pk}/change/", {"name": "x"}).status_code == 403
    assert client.post(f"{url}{graph.pk}/delete/", {"post": "yes"}).status_code == 403
    assert Attachment.objects.get().name == "graph-0.png"


def test_retry_needs_its_permission(client: Client, owner: User) -> None:
    user = User.objects.create_user("viewer", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_pendingupload"))
    client.force_login(user)
    graph = new_graph(owner)
    due_at = PendingUpload.objects.get().next_attempt_at
    client.post(LISTS[1], {"action": "try_storage_again", "_selected_action": [str(graph.pk)]})
    assert PendingUpload.objects.get().next_attempt_at == due_at


def test_hostile_name_is_text_in_the_lists(staff: Client, owner: User) -> None:
    new_pending(
        owner_id=owner.pk,
        data=b"x",
        name='"><script>alert(1)<|script>.png',
        mime_type="image/png",
        width=1,
        height=1,
        is_graph=False,
    )
    for url in LISTS:
        assert "<script>alert(1)" not in staff.get(url).content.decode()
