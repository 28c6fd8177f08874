"""How conversations stand when turns begin in them: read at once for as many as begin together, and kept true."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable
from functools import reduce
from operator import or_
from typing import Any, TypeVar

from django.conf import settings
from django.db import transaction
from django.db.models import F, OuterRef, Q, Subquery
from django.db.models.expressions import RawSQL

from chat.access import AnyUser, check_writable
from chat.catalogue.setups import Setup, setup_of
from chat.models import Conversation, Message, Turn
from chat.statements import Select, given
from chat.turns.deciding import StartRefused

T = TypeVar("T")

SIZES = (1, 8, 64)
"""So many are asked for at once, some of them more than once: each size is a statement of its own to compile."""


def _ids(count: int) -> Any:  # noqa: ANN401 - values for a lookup, which the types say are ids
    return [given(Conversation, "id", f"id_{number}") for number in range(count)]


def _begun_by(number: int) -> Q:
    by = Q(
        conversation=given(Conversation, "id", f"id_{number}"),
        client_id=given(Turn, "client_id", f"client_id_{number}"),
    )
    # As their index says it, which SQLite takes only then.
    return by & ~Q(client_id=RawSQL("''", ()))


# What all starts ask, each for all that begin together; see `chat.statements`.
_LOCKED = Select(lambda count: Conversation.objects.select_for_update().filter(pk__in=_ids(count)).order_by("pk"))
_ENDS = Select(
    lambda count: Message.objects.filter(
        pk__in=Conversation.objects.filter(pk__in=_ids(count))
        .order_by()
        .values_list(
            Subquery(
                Message.objects.filter(conversation=OuterRef("pk"), is_shown=True).order_by("-index").values("pk")[:1]
            )
        )
    ).order_by()
)
_KNOWN = Select(lambda count: Turn.objects.filter(reduce(or_, map(_begun_by, range(count)))).order_by())
_LIVE = Select(
    lambda count: (
        # From the index of live turns, which is short: SQLite takes it only where the statuses stand in the statement,
        # and by the owner's own index it would go through all that they ever asked.
        Turn.objects.filter(status__in=[RawSQL(f"'{status.value}'", ()) for status in Turn.LIVE])
        .annotate(owner_id=F("conversation__owner") + 0)
        .filter(owner_id__in=[given(Conversation, "owner_id", f"owner_id_{number}") for number in range(count)])
        .order_by()
        .values_list("owner_id", "conversation_id")
    )
)


def warm_up() -> None:
    """Compile what is asked, in all sizes: the first fifty questions at once would else wait 40 ms for it."""
    with transaction.atomic():
        for size in SIZES:
            for statement in (_LOCKED, _ENDS, _KNOWN, _LIVE):
                statement.prepare(size)


class Standing:
    """What starts find, in the order in which they begin; in the transaction that stores them."""

    def __init__(self, wanted: Collection[tuple[uuid.UUID, str]]) -> None:
        """`wanted`: conversation and `client_id` of each start.

        The locks order two tabs that send at once: the second sees the first's turn.
        """
        ids = _padded(conversation_id for conversation_id, _ in wanted)
        self._conversations = {row.pk: row for row in _LOCKED.objects(len(ids), **_named("id", ids))}
        if not self._conversations:
            return
        ids = _padded(self._conversations)
        self._ends = {row.conversation_id: row for row in _ENDS.objects(len(ids), **_named("id", ids))}
        self._known = _turns_known(wanted)
        self._live: dict[int, list[uuid.UUID]] = defaultdict(list)
        owners = _padded(conversation.owner_id for conversation in self._conversations.values())
        for owner_id, conversation_id in _LIVE.rows(len(owners), **_named("owner_id", owners)):
            self._live[owner_id].append(conversation_id)
        self._setups: dict[str, Setup] = {}

    def conversation(self, user: AnyUser, conversation_id: uuid.UUID) -> Conversation:
        """As it is now. Raises NotFound where `user` may not write in it."""
        return check_writable(user, self._conversations.get(conversation_id))

    def end(self, conversation: Conversation) -> Message | None:
        """The last message in view."""
        return self._ends.get(conversation.pk)

    def known(self, conversation: Conversation, client_id: str) -> Turn | None:
        """The turn that this `client_id` has begun before."""
        return self._known.get((conversation.pk, client_id)) if client_id else None

    def refuse_live(self, conversation: Conversation) -> None:
        """Raises StartRefused while an answer is written here, or too many for this owner."""
        places = self._live[conversation.owner_id]
        if conversation.pk in places:
            raise StartRefused("An answer is still being written here. Stop it, or wait until it is done.")
        if len(places) >= settings.LIVE_TURNS_LIMIT:
            raise StartRefused(f"{len(places)} answers are being written for you already. Wait for one, or stop one.")

    def setup(self, name: str) -> Setup:
        """Of a model or preset; raises UnknownModel."""
        if name not in self._setups:
            self._setups[name] = setup_of(name)
        return self._setups[name]

    def begins(self, turn: Turn) -> None:
        """What the starts after this one find: its turn is live, and will be known."""
        self._live[turn.conversation.owner_id].append(turn.conversation_id)
        if turn.client_id:
            self._known[turn.conversation_id, turn.client_id] = turn


def _turns_known(wanted: Iterable[tuple[uuid.UUID, str]]) -> dict[tuple[uuid.UUID, str], Turn]:
    pairs = _padded((conversation_id, client_id) for conversation_id, client_id in wanted if client_id)
    if not pairs:
        return {}
    ids, client_ids = zip(*pairs, strict=True)
    rows = _KNOWN.objects(len(pairs), **_named("id", ids), **_named("client_id", client_ids))
    return {(row.conversation_id, row.client_id): row for row in rows}


def _padded(values: Iterable[T]) -> list[T]:
    """Without repetitions, then filled up with one of them to one of the sizes."""
    distinct = list(dict.fromkeys(values))
    size = next((size for size in SIZES if size >= len(distinct)), len(distinct)) if distinct else 0
    return distinct + distinct[:1] * (size - len(distinct))


def _named(name: str, values: Iterable[T]) -> dict[str, T]:
    return {f"{name}_{number}": value for number, value in enumerate(values)}
