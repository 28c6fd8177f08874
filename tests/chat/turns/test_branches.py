"""Trees of messages: edited, regenerated, switched; each path tells the model exactly its own history."""

from __future__ import annotations

import json
import random
import uuid
from dataclasses import dataclass, field

import pytest
from asgiref.sync import sync_to_async
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_django import Settings

from chat.fragments import transcript_html
from chat.models import Conversation, LanguageModel, Message, MessageAttachment, Preset, Turn
from chat.parts import FinishReported, Part, PartKind, PartReceived, Role
from chat.turns import branches, store
from chat.turns.assembler import Assembler
from chat.turns.attempts import Replay
from chat.turns.branches import SwitchRefused
from chat.turns.deciding import StartRefused
from chat.turns.history import prepare
from chat.turns.runner import Runner, start_turn, switch_version
from chat.turns.starting import Continuation, Edit, StartedTurn, Version, create_turn
from chat.turns.transcript import snapshot
from tests.chat.turns.running import Tab, answered, asking, calls_since, finished, fresh_page, new_conversation, seen
from tests.factories import make_attachment, make_conversation

MESSAGES = 20


@dataclass
class Tree:
    """What the conversation must be, kept apart from it: texts by message, parents, and what is in view."""

    texts: dict[uuid.UUID, str] = field(default_factory=dict)
    parents: dict[uuid.UUID, uuid.UUID | None] = field(default_factory=dict)
    path: list[uuid.UUID] = field(default_factory=list)
    last_seen: dict[uuid.UUID | None, uuid.UUID] = field(default_factory=dict)
    """The child of each message that was last in view."""

    def add(self, message: Message, text: str, place: int) -> None:
        """A message came into view as number `place`."""
        del self.path[place:]
        parent = self.path[-1] if self.path else None
        self.texts[message.pk], self.parents[message.pk] = text, parent
        self.last_seen[parent] = message.pk
        self.path.append(message.pk)

    def switch(self, message_id: uuid.UUID) -> None:
        """A version came into view, with what was last seen below it."""
        self.path = []
        above: uuid.UUID | None = message_id
        while above is not None:
            self.path.insert(0, above)
            self.last_seen[self.parents[above]] = above
            above = self.parents[above]
        while self.path[-1] in self.last_seen:
            self.path.append(self.last_seen[self.path[-1]])

    def versions(self, message_id: uuid.UUID) -> list[uuid.UUID]:
        """All with the same parent, oldest first."""
        return [pk for pk, parent in self.parents.items() if parent == self.parents[message_id]]


def end(started: StartedTurn, text: str) -> None:
    """The answer comes whole: signed code, its result, text."""
    assembler = Assembler(code_execution=True, new_id=lambda: str(uuid.uuid4()))
    for part in (
        Part(PartKind.EXECUTABLE_CODE, text=f"print({text!r})", language="PYTHON", thought_signature=text.encode()),
        Part(PartKind.CODE_EXECUTION_RESULT, text=text, outcome="OUTCOME_OK"),
        Part(PartKind.TEXT, text=text),
    ):
        assembler.add(PartReceived(part))
    assembler.add(FinishReported("STOP"))
    turn = started.turn
    store._end(turn.pk, turn.message_id, turn.conversation_id, store.Ending(Turn.Status.DONE, assembler.answer))


def told(conversation: Conversation) -> list[tuple[str, list[str | None]]]:
    """What the model would be told with one more question, which is taken back."""
    with transaction.atomic():
        started = create_turn(asking(conversation, "next"), lease_owner="test")
        request = prepare(started.turn, Replay(graphs=4, images=4)).request
        transaction.set_rollback(True)
    assert request.contents[-1].parts == (Part(PartKind.TEXT, text="next"),)
    return [(content.role, [part.text for part in content.parts]) for content in request.contents[:-1]]


def expected(tree: Tree) -> list[tuple[str, list[str | None]]]:
    """What the path in view says."""
    history: list[tuple[str, list[str | None]]] = []
    for place, pk in enumerate(tree.path):
        text = tree.texts[pk]
        history.append((Role.MODEL, [f"print({text!r})", text, text]) if place % 2 else (Role.USER, [text]))
    return history


@pytest.mark.django_db
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6))
def test_each_path_of_a_tree_tells_exactly_its_own_history(seed: int) -> None:
    chance = random.Random(seed)
    with transaction.atomic():
        conversation, tree = make_conversation(model="some-model"), Tree()
        while len(tree.texts) < MESSAGES:
            grow(conversation, tree, chance)
            assert (
                list(
                    Message.objects.filter(conversation=conversation, is_shown=True)
                    .order_by("index")
                    .values_list("pk", flat=True)
                )
                == tree.path
            )
        leaves = tree.texts.keys() - set(tree.parents.values())
        for leaf in leaves:
            branches.show(conversation.pk, leaf)
            tree.switch(leaf)
            assert told(conversation) == expected(tree)
            check_view(conversation, tree)
        transaction.set_rollback(True)


def grow(conversation: Conversation, tree: Tree, chance: random.Random) -> None:
    """One more message, or a look at another version."""
    text = f"t{len(tree.texts)}"
    questions, answers = tree.path[::2], tree.path[1::2]
    match chance.choice(["send", "edit", "regenerate", "switch"]) if tree.path else "send":
        case "send":
            started = create_turn(asking(conversation, text), lease_owner="test")
            tree.add(started.turn.user_message, text, len(tree.path))
        case "edit":
            place = 2 * chance.randrange(len(questions))
            started = create_turn(
                Edit(conversation.owner, conversation.pk, text, message_id=tree.path[place]), lease_owner="test"
            )
            tree.add(started.turn.user_message, text, place)
        case "regenerate":
            place = 2 * chance.randrange(len(answers)) + 1
            started = create_turn(Version(conversation.owner, conversation.pk, tree.path[place]), lease_owner="test")
            del tree.path[place:]
        case _:
            chosen = chance.choice([pk for shown in tree.path for pk in tree.versions(shown)])
            branches.show(conversation.pk, chosen)
            tree.switch(chosen)
            return
    tree.add(started.turn.message, f"a{text}", len(tree.path))
    end(started, f"a{text}")


def check_view(conversation: Conversation, tree: Tree) -> None:
    """The page shows the path, and of each message its number among its versions."""
    views = snapshot(conversation.pk).messages
    assert [view.message_id for view in views] == tree.path
    for view in views:
        family = tree.versions(view.message_id)
        if len(family) == 1:
            assert view.versions is None
            continue
        assert view.versions
        assert (view.versions.number, view.versions.total) == (family.index(view.message_id) + 1, len(family))


@pytest.mark.django_db(transaction=True)
async def test_edit_makes_a_branch_in_every_tab_and_both_paths_live_on(emulated: Settings) -> None:
    url = emulated.GOOGLE_GEMINI_BASE_URL
    conversation = await new_conversation(model="scenario-code")
    tab = Tab(conversation.pk)
    first = await answered(conversation, "first", tab)
    await answered(conversation, "second", tab)
    with tab.following():
        edited = await finished(
            start_turn(Edit(conversation.owner, conversation.pk, "first, better", message_id=first.user_message_id))
        )
    assert edited.status == Turn.Status.DONE
    assert tab.page.transcript == await fresh_page(conversation)
    assert "2/2" in tab.page.transcript
    assert "second" not in tab.page.transcript

    await switch_version(lambda: conversation.pk, first.user_message_id)
    page = await fresh_page(conversation)
    assert "1/2" in page
    assert "second" in page
    before = seen(url)
    await answered(conversation, "third")
    [call] = calls_since(url, before)
    asked = [
        part["text"]
        for content in call["request"]["contents"]
        if content["role"] == "user"
        for part in content["parts"]
    ]
    assert asked == ["first", "second", "third"]


@pytest.mark.django_db(transaction=True)
async def test_regenerated_answer_is_a_version_beside_the_old_one(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-text")
    tab = Tab(conversation.pk)
    first = await answered(conversation, "first", tab)
    await answered(conversation, "second", tab)
    with tab.following():
        await finished(start_turn(Version(conversation.owner, conversation.pk, first.message_id)))
    assert tab.page.transcript == await fresh_page(conversation)
    assert tab.page.transcript.count("<article") == 2
    assert "2/2" in tab.page.transcript
    assert await Message.objects.filter(conversation=conversation).acount() == 5


@pytest.mark.django_db(transaction=True)
async def test_versions_stand_still_while_an_answer_is_written(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-text")
    first = await answered(conversation, "first")
    await finished(start_turn(Version(conversation.owner, conversation.pk)))
    await Conversation.objects.filter(pk=conversation.pk).aupdate(model="scenario-endless")
    started = await start_turn(asking(conversation, "go"))
    with pytest.raises(SwitchRefused):
        await switch_version(lambda: conversation.pk, first.message_id)
    with pytest.raises(StartRefused):
        await start_turn(Edit(conversation.owner, conversation.pk, "other", message_id=first.user_message_id))
    with pytest.raises(StartRefused):
        await start_turn(Version(conversation.owner, conversation.pk))
    Runner.current().stop(started.turn.pk)
    await Runner.current().drain()


@pytest.mark.django_db(transaction=True)
async def test_edit_keeps_the_files_of_the_message_and_starts_once(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-text")
    file = await sync_to_async(make_attachment)(conversation.owner, data=b"a,b")
    first = await finished(start_turn(asking(conversation, "first", attachment_ids=(file.pk,))))
    edit = Edit(conversation.owner, conversation.pk, "again", client_id="one", message_id=first.user_message_id)
    one = await finished(start_turn(edit))
    two = await finished(start_turn(edit))
    assert one.pk == two.pk
    files = MessageAttachment.objects.filter(message=one.user_message_id)
    assert [name async for name in files.values_list("attachment__name", flat=True)] == ["data.csv"]
    with pytest.raises(StartRefused):
        # It is out of view by now.
        await start_turn(Edit(conversation.owner, conversation.pk, "other", message_id=first.user_message_id))


@pytest.mark.django_db
def test_message_of_another_conversation_is_no_version_here() -> None:
    mine, other = make_conversation(), make_conversation()
    started = create_turn(asking(other, "theirs"), lease_owner="test")
    end(started, "answer")
    for message in (started.turn.user_message_id, started.turn.message_id):
        with pytest.raises(SwitchRefused):
            branches.show(mine.pk, message)
        with pytest.raises(StartRefused), transaction.atomic():
            create_turn(Edit(mine.owner, mine.pk, "x", message_id=message), lease_owner="test")
        with pytest.raises(StartRefused), transaction.atomic():
            create_turn(Version(mine.owner, mine.pk, message), lease_owner="test")
    assert json.dumps(str(transcript_html(snapshot(mine.pk).messages))) == '""'


@pytest.mark.django_db
def test_what_was_chosen_for_one_message_holds_for_other_answers_to_it() -> None:
    conversation = make_conversation(model="some-model")
    first = create_turn(asking(conversation, "tell me a story", code_mode="on"), lease_owner="test")
    end(first, "answer")
    again = create_turn(Version(conversation.owner, conversation.pk, None), lease_owner="test")
    assert (again.turn.code_mode, again.turn.code_execution) == ("on", True)


@pytest.mark.django_db
def test_answer_without_tools_stays_without_them_when_it_is_written_anew() -> None:
    row = LanguageModel.objects.create(name="m", code_execution=True, google_search=True)
    Preset.objects.create(slug="searching", label="S", language_model=row, google_search=True)
    conversation = make_conversation(model="searching", code_execution="on")
    first = create_turn(asking(conversation, "go"), lease_owner="test")
    assert (first.turn.code_execution, first.setup.google_search) == (True, True)
    end(first, "answer")
    Turn.objects.filter(pk=first.turn.pk).update(finish_reason="TOO_MANY_TOOL_CALLS")
    now = create_turn(Continuation(conversation.owner, conversation.pk, without_tools=True), lease_owner="test")
    assert (now.turn.code_execution, now.setup.google_search) == (False, False)
    end(now, "answer")
    again = create_turn(Version(conversation.owner, conversation.pk, None), lease_owner="test")
    assert (again.turn.code_execution, again.setup.google_search) == (False, False)


@pytest.mark.django_db
def test_continuing_takes_over_the_decision_on_code_as_far_as_the_model_can() -> None:
    LanguageModel.objects.create(name="codeless", code_execution=False)
    conversation = make_conversation(model="some-model", code_execution="on")
    first = create_turn(asking(conversation, "go"), lease_owner="test")
    end(first, "answer")
    Turn.objects.filter(pk=first.turn.pk).update(finish_reason="MAX_TOKENS")
    Conversation.objects.filter(pk=conversation.pk).update(model="codeless")
    continued = create_turn(Continuation(conversation.owner, conversation.pk), lease_owner="test")
    assert not continued.turn.code_execution


@pytest.mark.django_db
def test_answer_written_anew_is_decided_on_what_was_there_before_it() -> None:
    conversation = make_conversation(model="some-model")
    table = make_attachment(conversation.owner, data=b"a,b\n1,2")
    first = create_turn(asking(conversation, "what stands out here?", attachment_ids=(table.pk,)), lease_owner="test")
    end(first, "answer")
    again = create_turn(Version(conversation.owner, conversation.pk, None), lease_owner="test")
    assert (again.turn.code_execution, again.turn.code_reason) == (first.turn.code_execution, first.turn.code_reason)
    other = make_conversation(model="some-model")
    first = create_turn(asking(other, "and again?"), lease_owner="test")
    end(first, "answer")
    again = create_turn(Version(other.owner, other.pk, None), lease_owner="test")
    assert (again.turn.code_execution, again.turn.code_reason) == (first.turn.code_execution, first.turn.code_reason)


@pytest.mark.django_db
def test_files_of_a_message_do_not_grow_without_limit_by_editing() -> None:
    conversation = make_conversation(model="some-model")
    ids = [make_attachment(conversation.owner, data=bytes([number])).pk for number in range(11)]
    first = create_turn(asking(conversation, "go", attachment_ids=ids[:10]), lease_owner="test")
    end(first, "answer")
    edit = Edit(conversation.owner, conversation.pk, "go", ids[10:], message_id=first.turn.user_message_id)
    with pytest.raises(StartRefused, match="at most 10"):
        create_turn(edit, lease_owner="test")
