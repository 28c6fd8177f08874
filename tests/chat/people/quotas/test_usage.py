"""Counters and limits in the database."""

from __future__ import annotations

import threading
from datetime import date

import pytest
from django.contrib.auth.models import Group
from django.db import IntegrityError, connection, transaction
from django.utils import timezone
from pytest_django import Settings

from chat.models import Quota, QuotaUse, User
from chat.people.quotas.enforcement import check_quota, count_usage, spend_quota
from chat.people.quotas.resources import QuotaExceeded, Resource, day_of
from chat.people.quotas.usage import add_usage, read_usage
from tests.factories import make_attachment, make_user

pytestmark = pytest.mark.django_db

DAY = date(2026, 11, 23)


def limit(user: User, resource: Resource = Resource.TURNS) -> int | None:
    """Return the limit of a user when usage is read, which must equal the limit when usage is added."""
    read = read_usage(user.pk, [resource], day=DAY)[resource].limit
    if resource.is_daily:
        assert add_usage({user.pk: {}}, day=DAY, reads=[resource])[user.pk][resource].limit == read
    return read


def test_usage_of_several_people_is_counted_and_returned_together() -> None:
    ada, ben = make_user(), make_user()
    reads = [Resource.TURNS, Resource.TOKENS]
    add_usage({ada.pk: {Resource.TOKENS: 7}}, day=DAY, reads=())
    amounts = {ben.pk: {Resource.TURNS: 2}, ada.pk: {Resource.TURNS: 1, Resource.IMPORTS: 5}}
    usages = add_usage(amounts, day=DAY, reads=reads)
    assert {pk: [one.used for one in by_resource.values()] for pk, by_resource in usages.items()} == {
        ada.pk: [1, 7],
        ben.pk: [2, 0],
    }
    assert add_usage({ada.pk: {Resource.TURNS: 1}}, day=DAY, reads=reads)[ada.pk][Resource.TURNS].used == 2
    assert QuotaUse.objects.get(user=ada).import_bytes == 5
    assert (
        add_usage({ada.pk: {Resource.TURNS: 1}}, day=date(2026, 11, 24), reads=reads)[ada.pk][Resource.TURNS].used == 1
    )
    assert add_usage({}, day=DAY, reads=reads) == {}


def test_limits_of_a_person_override_those_of_groups_which_override_the_settings(settings: Settings) -> None:
    settings.QUOTAS = {**settings.QUOTAS, "turns_per_day": 100, "upload_mb_per_day": 3}
    user = make_user()
    small, large, free, other = (Group.objects.create(name=name) for name in "abcd")
    Quota.objects.create(group=small, turns_per_day=5)
    Quota.objects.create(group=large, turns_per_day=50)
    Quota.objects.create(group=free, turns_per_day=0)
    Quota.objects.create(group=other, turns_per_day=7_000)
    assert limit(user) == 100
    user.groups.add(small)
    assert limit(user) == 5
    user.groups.add(large)
    assert limit(user) == 50
    user.groups.add(free)
    assert limit(user) is None
    own = Quota.objects.create(user=user, turns_per_day=2)
    assert limit(user) == 2
    assert limit(user, Resource.UPLOADS) == 3 * 1024**2
    own.turns_per_day = 0
    own.save()
    assert limit(user) is None
    assert limit(make_user()) == 100


def test_quota_row_must_have_either_a_person_or_a_group() -> None:
    for columns in ({}, {"user": make_user(), "group": Group.objects.create(name="both")}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Quota.objects.create(**columns)


def test_quotas_limit_superusers_too(settings: Settings) -> None:
    settings.QUOTAS = {**settings.QUOTAS, "turns_per_day": 1}
    assert limit(make_user(is_staff=True, is_superuser=True)) == 1


def test_storage_use_is_the_sum_of_all_files_of_the_user() -> None:
    user = make_user()
    make_attachment(user, data=b"x" * 5)
    make_attachment(user, data=b"x" * 7, is_graph=True)
    make_attachment(make_user(), data=b"x")
    assert read_usage(user.pk, Resource, day=DAY)[Resource.STORAGE].used == 12


def test_refused_amount_is_not_counted_and_a_smaller_amount_is_still_allowed(settings: Settings) -> None:
    settings.QUOTAS = {**settings.QUOTAS, "turns_per_day": 5, "conversations_per_day": 100}
    user = make_user()
    spend_quota(user.pk, {Resource.TURNS: 3})
    with pytest.raises(QuotaExceeded, match="You have started 3 answers today, of at most 5 answers a day"):
        spend_quota(user.pk, {Resource.CONVERSATIONS: 1, Resource.TURNS: 3})
    assert QuotaUse.objects.values_list("turns", "conversations").get() == (3, 0)
    spent = spend_quota(user.pk, {Resource.TURNS: 2})
    with pytest.raises(QuotaExceeded):
        check_quota(user.pk, Resource.TURNS)
    spent.refund()
    check_quota(user.pk, Resource.TURNS)


def test_exhausted_resource_does_not_prevent_an_action_that_uses_none_of_it(settings: Settings) -> None:
    settings.QUOTAS = {**settings.QUOTAS, "import_mb_per_day": 1}
    user = make_user()
    count_usage(user.pk, Resource.IMPORTS, 2 * 1024**2)
    spend_quota(user.pk, {Resource.CONVERSATIONS: 1, Resource.IMPORTS: 0})


@pytest.mark.django_db(transaction=True)
def test_nothing_is_counted_for_a_deleted_account() -> None:
    user = make_user()
    user_id = user.pk
    user.delete()
    count_usage(user_id, Resource.KERNEL_TIME, 5)
    assert not QuotaUse.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_concurrent_usage_is_counted_exactly(settings: Settings) -> None:
    settings.QUOTAS = {**settings.QUOTAS, "turns_per_day": 7}
    user = make_user()
    outcomes: list[bool] = []
    barrier = threading.Barrier(5)

    def start_some() -> None:
        barrier.wait()
        for _ in range(3):
            try:
                spend_quota(user.pk, {Resource.TURNS: 1})
                outcomes.append(True)
            except QuotaExceeded:
                outcomes.append(False)
        connection.close()

    threads = [threading.Thread(target=start_some) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (outcomes.count(True), outcomes.count(False)) == (7, 8)
    assert QuotaUse.objects.get(user=user, day=day_of(timezone.now())).turns == 7
