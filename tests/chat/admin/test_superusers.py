"""At least one superuser always remains: the admin and the account page refuse to remove the last one."""

from __future__ import annotations

import threading

import pytest
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.db import connection, transaction
from django.test import Client

from chat.models import User
from chat.models.superusers import lock_superusers
from chat.people.account.due_deletions import delete_due_accounts
from tests.chat.admin.factories import admin_url, client_of
from tests.factories import make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fast_password_hasher")]

PASSWORD = "a long pass phrase"
REFUSAL = "This is the last superuser who can manage this server. Make another account a superuser first."


def make_superuser(name: str) -> User:
    return make_user(name, password=PASSWORD, is_staff=True, is_superuser=True)


def form_of(user: User, *boxes: str) -> dict[str, str]:
    """Return the fields of the admin's form. `boxes`: names of the checked boxes."""
    return {"username": user.username, **dict.fromkeys(boxes, "on")}


def has_changed(user: User) -> bool:
    return not User.objects.filter(pk=user.pk, is_superuser=True, is_active=True, deletion_at=None).exists()


@pytest.mark.parametrize("boxes", [("is_staff", "is_active"), ("is_staff", "is_superuser")])
def test_the_last_superuser_cannot_be_demoted_or_deactivated(boxes: tuple[str, ...]) -> None:
    boss = make_superuser("boss")
    client, url = client_of(boss), admin_url(User, boss.pk, "change")
    assert REFUSAL in client.post(url, form_of(boss, *boxes)).content.decode()
    assert not has_changed(boss)
    make_superuser("deputy")
    assert client.post(url, form_of(boss, *boxes)).status_code == 302
    assert has_changed(boss)


def test_staff_who_manage_accounts_cannot_become_superusers() -> None:
    boss, member = make_superuser("boss"), make_user("member")
    manager = make_user("manager", is_staff=True)
    manager.user_permissions.set(Permission.objects.filter(codename__in=["view_user", "change_user"]))
    client = client_of(manager)
    # Staff can only read the account of a superuser, so they cannot change the password.
    assert client.post(admin_url(User, boss.pk, "change"), form_of(boss, "is_active")).status_code == 403
    assert client.get(f"/admin/chat/user/{boss.pk}/password/").status_code == 403
    assert not has_changed(boss)
    for user in (member, manager):
        boxes = form_of(user, "is_active", "is_staff", "is_superuser")
        assert client.post(admin_url(User, user.pk, "change"), boxes).status_code == 302
        user.refresh_from_db()
        assert (user.is_staff, user.is_superuser) == (True, False)
    assert manager.user_permissions.count() == 2


def test_superuser_cannot_be_deactivated_if_all_others_are_inactive_or_about_to_be_deleted() -> None:
    boss, leaver, idler = (make_superuser(name) for name in ("boss", "leaver", "idler"))
    leaver_client = client_of(leaver)
    leaver_client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    assert "will be deleted" in leaver_client.post("/accounts/delete/").content.decode()
    User.objects.filter(pk=idler.pk).update(is_active=False)
    url = admin_url(User, boss.pk, "change")
    assert REFUSAL in client_of(boss).post(url, form_of(boss, "is_active")).content.decode()


def test_the_last_superuser_is_not_deleted_and_no_deletion_is_logged() -> None:
    boss, other = make_superuser("boss"), make_user("other")
    client = client_of(boss)
    one = client.post(admin_url(User, boss.pk, "delete"), {"post": "yes"}, follow=True)
    several = {"action": "delete_selected", ACTION_CHECKBOX_NAME: [str(other.pk), str(boss.pk)], "post": "yes"}
    for response in (one, client.post(admin_url(User), several, follow=True)):
        assert REFUSAL in response.content.decode()
    assert User.objects.count() == 2
    assert not LogEntry.objects.exists()
    deputy = make_superuser("deputy")
    assert client.post(admin_url(User, boss.pk, "delete"), {"post": "yes"}).status_code == 302
    assert delete_due_accounts() == 1
    assert list(User.objects.filter(is_superuser=True)) == [deputy]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("act", ["demote", "delete", "delete several", "leave"])
def test_one_superuser_remains_if_two_remove_each_other_at_once(act: str) -> None:
    ann, bob = make_superuser("ann"), make_superuser("bob")
    client = client_of(bob)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})

    def remove_ann_or_leave(client: Client) -> None:
        match act:
            case "demote":
                client.post(admin_url(User, ann.pk, "change"), form_of(ann, "is_active"))
            case "delete":
                client.post(admin_url(User, ann.pk, "delete"), {"post": "yes"})
            case "delete several":
                data = {"action": "delete_selected", ACTION_CHECKBOX_NAME: [str(ann.pk)], "post": "yes"}
                client.post(admin_url(User), data)
            case "leave":
                client.post("/accounts/delete/")
        connection.close()

    # This transaction removes the first superuser, and is not committed when the request, which would remove the second
    # one, is checked. If bob leaves, ann has left before.
    removed, staying = (ann, bob) if act == "leave" else (bob, ann)
    request = threading.Thread(target=remove_ann_or_leave, args=[client])
    with transaction.atomic():
        lock_superusers()
        User.objects.filter(pk=removed.pk).update(is_superuser=False)
        request.start()
        request.join(timeout=0.5)
        assert request.is_alive(), "the request waits"
    request.join()
    assert not has_changed(staying)
