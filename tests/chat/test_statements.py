"""A statement that is compiled once gives what the ORM gives, whatever the values."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import nullcontext
from datetime import timedelta
from decimal import Decimal
from typing import Any, TypeVar

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.db.models import DurationField, F, Model
from django.db.models.functions import Now
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import given as drawn
from hypothesis import strategies as st
from pytest_django import DjangoAssertNumQueries

from chat.models import Conversation, Message, Part, Turn
from chat.statements import Given, Insert, Select, Update, given

pytestmark = pytest.mark.django_db

TITLED = Select(
    lambda count: Conversation.objects.filter(
        title__in=[given(Conversation, "title", f"title_{number}") for number in range(count)]
    ).order_by("title")
)
"""Of so many titles."""
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)


@pytest.fixture
def owner() -> User:
    return User.objects.create_user("ada")


def columns(row: Model) -> dict[str, object]:
    """What the database holds of it, as the ORM reads it."""
    kept = type(row)._base_manager.get(pk=row.pk)
    return {field.attname: getattr(kept, field.attname) for field in kept._meta.concrete_fields}


def test_rows_and_objects_are_as_the_orm_reads_them(owner: User) -> None:
    for title in ("a", "b", "c"):
        Conversation.objects.create(owner=owner, title=title, side_cost=Decimal("0.5"))
    statement = Select(lambda: Conversation.objects.filter(owner=given(Conversation, "owner_id")).order_by("title"))
    assert list(map(columns, statement.objects(owner_id=owner.pk))) == list(
        map(columns, Conversation.objects.order_by("title"))
    )
    pairs = Select(lambda: Conversation.objects.order_by("title").values_list("id", "side_cost", "created_at"))
    assert pairs.rows() == list(Conversation.objects.order_by("title").values_list("id", "side_cost", "created_at"))
    assert statement.first(owner_id=owner.pk + 1) is None


ModelT = TypeVar("ModelT", bound=Model)


def inserted(row: ModelT) -> ModelT:
    """The object, stored."""
    Insert(type(row)).all([row])
    return row


def test_each_shape_is_compiled_once_and_asked_once(
    owner: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for title in ("a", "b", "c"):
        Conversation.objects.create(owner=owner, title=title)
    for _ in range(2):
        with django_assert_num_queries(2):
            assert [row.title for row in TITLED.objects(1, title_0="b")] == ["b"]
            assert [row.title for row in TITLED.objects(2, title_0="c", title_1="a")] == ["a", "c"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@drawn(text=TEXT, fields=st.dictionaries(TEXT, TEXT | st.integers() | st.none()), signature=st.none() | st.binary())
def test_what_is_inserted_and_updated_is_as_the_orm_writes_it(
    owner: User, text: str, fields: dict[str, object], signature: bytes | None
) -> None:
    conversation = inserted(Conversation(owner=owner, title="a"))
    assert columns(conversation) == columns(Conversation.objects.get(pk=conversation.pk))
    assert conversation.created_at == columns(conversation)["created_at"]
    message = inserted(Message(conversation=conversation, index=0, role="user", text=text))
    whole = {"language": "", "outcome": "", "call_id": "", "mime_type": "", "attachment_id": None}
    told = {"kind": "text", "text": text, "fields": fields, "thought_signature": signature, **whole}
    Insert(Part).many({"message_id": message.pk, "index": index, **told} for index in range(3))
    Part.objects.create(message=message, index=3, **told)
    *statements, by_orm = (columns(part) for part in message.parts.order_by("index"))
    assert [{**row, "id": 0, "index": 0} for row in statements] == [{**by_orm, "id": 0, "index": 0}] * 3
    change = Update(lambda: Message.objects.filter(pk=given(Message, "id")), text=given(Message, "text"))
    assert change.run(id=message.pk, text=text + "!") == 1
    assert Message.objects.get(pk=message.pk).text == text + "!"
    assert change.run(id=uuid.uuid4(), text="") == 0


def test_database_reckons_from_what_is_given(owner: User) -> None:
    conversation = Conversation.objects.create(owner=owner)
    question = Message.objects.create(conversation=conversation, index=0, role="user")
    answer = Message.objects.create(conversation=conversation, index=1, role="model", parent=question)
    lease = Insert(Turn, lease_expires_at=Now() + Given("lease", DurationField()))
    turn = Turn(conversation=conversation, user_message=question, message=answer, parameters={"a": [1]})
    lease.all([turn], lease=timedelta(hours=1))
    ends_at = Turn.objects.get(pk=turn.pk).lease_expires_at
    assert ends_at is not None
    assert abs(ends_at - timezone.now() - timedelta(hours=1)) < timedelta(minutes=1)
    bump = Update(lambda: Conversation.objects.filter(pk=given(Conversation, "id")), revision=F("revision") + 1)
    assert [bump.run(id=conversation.pk) for _ in range(2)] == [1, 1]
    assert Conversation.objects.get(pk=conversation.pk).revision == 2


def test_row_that_was_inserted_can_be_saved_again(owner: User) -> None:
    conversation = inserted(Conversation(owner=owner, title="a"))
    conversation.title = "b"
    conversation.save()
    assert [row.title for row in Conversation.objects.all()] == ["b"]


def test_whoever_listens_to_queries_hears_of_them_and_changes_nothing(owner: User) -> None:
    titled = Select(lambda: Conversation.objects.filter(title=given(Conversation, "title")))
    rename = Update(lambda: Conversation.objects.filter(title=given(Conversation, "title")), title=F("title"))
    heard: list[str] = []

    def listen(execute: Callable[..., Any], sql: str, *told: Any) -> Any:  # noqa: ANN401 - Django's own
        heard.append(sql)
        return execute(sql, *told)

    def all_of_them(title: str) -> tuple[list[dict[str, object]], int]:
        made = inserted(Conversation(owner=owner, title=title))
        found = [{**columns(row), "id": None, "created_at": None, "updated_at": None} for row in [made]]
        assert [row.pk for row in titled.objects(title=title)] == [made.pk]
        return [{**row, "title": ""} for row in found], rename.run(title=title)

    alone = all_of_them("50 % of %s?")
    with connection.execute_wrapper(listen):
        assert all_of_them("other") == alone
    assert sorted({sql.split()[0] for sql in heard}) == ["INSERT", "SELECT", "UPDATE"]


@pytest.mark.parametrize("is_listened_to", [False, True])
def test_what_goes_wrong_is_told_as_django_tells_it(
    owner: User, is_listened_to: bool, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    first = inserted(Conversation(owner=owner, title="a"))
    with django_assert_max_num_queries(9) if is_listened_to else nullcontext():
        with transaction.atomic():
            with pytest.raises(IntegrityError):
                inserted(Conversation(pk=first.pk, owner=owner, title="again"))
            connection.set_rollback(True)
            with pytest.raises(transaction.TransactionManagementError):
                TITLED.rows(1, title_0="a")
        assert [row.title for row in TITLED.objects(1, title_0="a")] == ["a"]
