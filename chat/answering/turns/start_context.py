"""Loads the state that the start of a turn needs, for a batch of starts."""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from functools import cache, cached_property

from django.conf import settings

from attachments.models import Attachment
from chat.answering.code_tools import code_tools
from chat.answering.prompt.rows import files_of_projects
from chat.answering.turns.start_quotas import StartQuotas
from chat.answering.turns.start_rules import TOO_MANY_LIVE, StartRefused, capabilities_or_refusal
from chat.models import Conversation, Message, Project, Turn, User
from chat.models.plain_sql import lock_clause, select_rows
from chat.people.access import AnyUser, check_writable
from chat.providers.catalogue.setups import find_setup


class StartContext:
    """The state that starting a turn needs, for a whole batch of starts. It is updated as turns are planned.

    The constructor reads it in at most seven statements, inside the transaction that stores the turns. It locks the
    conversations, so if two tabs send at the same time, the second start sees the turn of the first. After that, it
    locks the counters of their owners, so the limits hold across conversations and processes.
    """

    def __init__(self, wanted: Collection[tuple[uuid.UUID, str]]) -> None:
        """`wanted`: the conversation and the `client_id` of each start."""
        ids = {conversation_id for conversation_id, _ in wanted}
        self._conversations = {conversation.pk: conversation for conversation in _locked_conversations(ids)}
        self.quotas = StartQuotas(
            Counter(self._conversations[pk].owner_id for pk, _ in wanted if pk in self._conversations)
        )
        self._last_messages = _last_messages(ids)
        self._known_turns = _known_turns(wanted)
        self._live: dict[int, list[uuid.UUID]] = defaultdict(list)
        """Owner -> the conversations in which answers are being written."""
        self._waiting: set[uuid.UUID] = set()
        """The conversations in which an answer waits for a decision. Such an answer does not count as being written."""
        for turn in _live_turns():
            if turn.status == Turn.Status.WAITING:
                self._waiting.add(turn.conversation_id)
            else:
                self._live[vars(turn)["owner_id"]].append(turn.conversation_id)
        # For an endpoint's model, both functions run queries, so their results are cached for the batch.
        self.setup = cache(find_setup)
        """Returns the setup of a model or preset. Raises UnknownModel if there is none."""
        self.capabilities = cache(capabilities_or_refusal)
        """Returns what requests to a setup's model may contain, and its account. Raises as the cached function does."""

    def conversation(self, user: AnyUser, conversation_id: uuid.UUID) -> Conversation:
        """Return the locked conversation. Raises NotFound if `user` may not write in it."""
        return check_writable(user, self._conversations.get(conversation_id))

    def has_code_state(self, conversation: Conversation) -> bool:
        """Return whether code of the conversation has left state, such as variables, which its next code should find.

        The first call for a batch runs a query.
        """
        return conversation.pk in self._with_code_state

    @cached_property
    def _with_code_state(self) -> set[uuid.UUID]:
        tools = code_tools()
        return tools.with_state(self._conversations) if tools else set()

    def project_files(self, conversation: Conversation) -> Sequence[Attachment]:
        """Return the files of the conversation's project.

        The first call for a batch runs one query if any conversation of the batch has a project.
        """
        return self._project_files.get(conversation.project_id, ())

    @cached_property
    def _project_files(self) -> dict[uuid.UUID | None, list[Attachment]]:
        return files_of_projects({one.project_id for one in self._conversations.values()} - {None})

    def last_message(self, conversation: Conversation) -> Message | None:
        """Return the last shown message."""
        return self._last_messages.get(conversation.pk)

    def known_turn(self, conversation: Conversation, client_id: str) -> Turn | None:
        """Return the turn that this `client_id` has started before; `None` if there is none."""
        return self._known_turns.get((conversation.pk, client_id)) if client_id else None

    def check_may_start(self, conversation: Conversation) -> None:
        """Raise StartRefused if an answer of this conversation is unfinished, or too many are being written for this
        owner.

        Raise QuotaExceeded if this owner may start no more turns today.
        """
        if conversation.pk in self._waiting:
            raise StartRefused("An answer here waits for your decision. Decide about it, or stop it.")
        live = self._live[conversation.owner_id]
        if conversation.pk in live:
            raise StartRefused("An answer is still being written here. Stop it, or wait until it is done.")
        if len(live) >= settings.LIVE_TURNS_LIMIT:
            raise StartRefused(TOO_MANY_LIVE.format(number=len(live)))
        self.quotas.check_turn(conversation.owner_id)

    def add(self, turn: Turn) -> None:
        """Count a planned turn as live, for the starts that are planned after it."""
        self.quotas.add_turn(turn.conversation.owner_id)
        self._live[turn.conversation.owner_id].append(turn.conversation_id)
        if turn.client_id:
            self._known_turns[turn.conversation_id, turn.client_id] = turn


def _locked_conversations(ids: set[uuid.UUID]) -> list[Conversation]:
    """Return the conversations with their owners and projects, whose instructions are part of every prompt."""
    conversations = select_rows(Conversation, "id IN %s AND deleted_at IS NULL ORDER BY id" + lock_clause(), ids)
    owners = {user.pk: user for user in select_rows(User, "id IN %s", {one.owner_id for one in conversations})}
    project_ids = {one.project_id for one in conversations if one.project_id}
    projects = {project.pk: project for project in select_rows(Project, "id IN %s", project_ids)}
    for one in conversations:
        one.owner = owners[one.owner_id]
        one.project = projects[one.project_id] if one.project_id else None
    return conversations


def _last_messages(conversation_ids: set[uuid.UUID]) -> dict[uuid.UUID, Message]:
    """Return the last shown message of each conversation that has one."""
    last = (
        "SELECT shown.id FROM chat_message shown WHERE shown.conversation_id = chat_conversation.id AND shown.is_shown"
        ' ORDER BY shown."index" DESC LIMIT 1'
    )
    condition = f"id IN (SELECT ({last}) FROM chat_conversation WHERE chat_conversation.id IN %s)"
    return {message.conversation_id: message for message in select_rows(Message, condition, conversation_ids)}


def _live_turns() -> Sequence[Turn]:
    """Return the live turns of all users: their conversations, states and, as `owner_id`, the conversations' owners."""
    return select_rows(
        Turn,
        f"chat_turn.status IN ({Turn.live_literals()})",
        columns="chat_turn.id, conversation_id, status, owner_id",
        joined="JOIN chat_conversation ON chat_conversation.id = conversation_id",
    )


def _known_turns(wanted: Collection[tuple[uuid.UUID, str]]) -> dict[tuple[uuid.UUID, str], Turn]:
    with_client_id = {(conversation_id, client_id) for conversation_id, client_id in wanted if client_id}
    turns = select_rows(
        Turn,
        "conversation_id IN %s AND client_id IN %s",
        {conversation_id for conversation_id, _ in with_client_id},
        {client_id for _, client_id in with_client_id},
    )
    known = {(turn.conversation_id, turn.client_id or ""): turn for turn in turns}
    return {key: turn for key, turn in known.items() if key in with_client_id}
