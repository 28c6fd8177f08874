"""Versions of messages: editing, regenerating and switching. The model is sent the history of the shown path."""

from __future__ import annotations

import json
import random
import uuid
from dataclasses import dataclass, field

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_django import Settings

from chat.answering.prompt.dates import date_note
from chat.answering.prompt.history import prepare
from chat.answering.prompt.replay import Replay
from chat.answering.prompt.rows import read_rows
from chat.answering.turns import versions
from chat.answering.turns.finish import Ending, end_turn
from chat.answering.turns.runner import Runner, start_turn, switch_version
from chat.answering.turns.start import Continue, Edit, Regenerate
from chat.answering.turns.start_plan import PlannedTurn
from chat.answering.turns.start_rules import StartRefused
from chat.answering.turns.versions import SwitchRefused
from chat.messages.assembler import Assembler
from chat.models import Conversation, LanguageModel, Message, Preset, Turn
from chat.page.fragments import transcript_html
from chat.page.transcript.snapshot import snapshot
from chat.people.access import NotFound
from chat.vocabulary.parts import CodeExecutionResult, ExecutableCode, Role, Text
from chat.vocabulary.stream_events import Finish, Finished, PartReceived
from tests.chat.turn_driver import (
    Tab,
    ask_and_wait,
    calls_since,
    count_calls,
    create_turn,
    fresh_page,
    make_question,
    new_conversation,
    start_and_wait,
)
from tests.factories import make_attachment, make_conversation, make_user

MESSAGES = 20


@dataclass
class Tree:
    """A model of a conversation: texts and parents of its messages, and the path that is shown."""

    texts: dict[uuid.UUID, str] = field(default_factory=dict)
    parents: dict[uuid.UUID, uuid.UUID | None] = field(default_factory=dict)
    path: list[uuid.UUID] = field(default_factory=list)
    last_shown: dict[uuid.UUID | None, uuid.UUID] = field(default_factory=dict)
    """The child of each message that was shown last."""

    def add(self, message: Message, text: str, index: int) -> None:
        """Show a new message at this index of the path."""
        del self.path[index:]
        parent = self.path[-1] if self.path else None
        self.texts[message.pk], self.parents[message.pk] = text, parent
        self.last_shown[parent] = message.pk
        self.path.append(message.pk)

    def switch(self, message_id: uuid.UUID) -> None:
        """Show a version, with what was last shown below it."""
        self.path = []
        ancestor: uuid.UUID | None = message_id
        while ancestor is not None:
            self.path.insert(0, ancestor)
            self.last_shown[self.parents[ancestor]] = ancestor
            ancestor = self.parents[ancestor]
        while self.path[-1] in self.last_shown:
            self.path.append(self.last_shown[self.path[-1]])

    def versions(self, message_id: uuid.UUID) -> list[uuid.UUID]:
        """Return all messages with the same parent, oldest first."""
        return [pk for pk, parent in self.parents.items() if parent == self.parents[message_id]]


def end(started: PlannedTurn, text: str) -> None:
    """Store an answer of signed code, its result, and a text."""
    assembler = Assembler(is_code_offered=True, new_id=lambda: str(uuid.uuid4()))
    for part in (
        ExecutableCode(f"print({text!r})", "PYTHON", provider_data={"thought_signature": "cw=="}),
        CodeExecutionResult(output=text, outcome="OUTCOME_OK"),
        Text(text),
    ):
        assembler.add(PartReceived(part))
    assembler.add(Finished(Finish.STOP, "STOP"))
    turn = started.turn
    end_turn(turn, Ending(Turn.Status.DONE, assembler.answer))


def read_history(conversation: Conversation) -> list[tuple[str, list[str]]]:
    """Return the history that the model would be sent with one more question. The question is not stored."""
    with transaction.atomic():
        started = create_turn(make_question(conversation, "next"))
        request = prepare(started.turn, read_rows([started.turn])[0], Replay()).request
        transaction.set_rollback(True)
    assert request.contents[-1].parts == (Text("next"), date_note(started.turn))
    return [(content.role, [part.long_text for part in content.parts]) for content in request.contents[:-1]]


def expected_history(tree: Tree) -> list[tuple[str, list[str]]]:
    """Return the history of the shown path."""
    history: list[tuple[str, list[str]]] = []
    for index, pk in enumerate(tree.path):
        text = tree.texts[pk]
        history.append((Role.MODEL, [f"print({text!r})", text, text]) if index % 2 else (Role.USER, [text]))
    return history


@pytest.mark.drill
@pytest.mark.django_db
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6))
def test_model_gets_exactly_the_messages_of_the_shown_path(seed: int) -> None:
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
            versions.show(conversation.pk, leaf)
            tree.switch(leaf)
            assert read_history(conversation) == expected_history(tree)
            check_view(conversation, tree)
        transaction.set_rollback(True)


def grow(conversation: Conversation, tree: Tree, chance: random.Random) -> None:
    """Add a message, or show another version."""
    text = f"t{len(tree.texts)}"
    questions, answers = tree.path[::2], tree.path[1::2]
    match chance.choice(["send", "edit", "regenerate", "switch"]) if tree.path else "send":
        case "send":
            started = create_turn(make_question(conversation, text))
            tree.add(started.turn.user_message, text, len(tree.path))
        case "edit":
            index = 2 * chance.randrange(len(questions))
            started = create_turn(Edit(conversation.owner, conversation.pk, text, message_id=tree.path[index]))
            tree.add(started.turn.user_message, text, index)
        case "regenerate":
            index = 2 * chance.randrange(len(answers)) + 1
            started = create_turn(Regenerate(conversation.owner, conversation.pk, tree.path[index]))
            del tree.path[index:]
        case _:
            chosen = chance.choice([pk for shown in tree.path for pk in tree.versions(shown)])
            versions.show(conversation.pk, chosen)
            tree.switch(chosen)
            return
    tree.add(started.turn.message, f"a{text}", len(tree.path))
    end(started, f"a{text}")


def check_view(conversation: Conversation, tree: Tree) -> None:
    """Check that the page shows the path, with the number of each message among its versions."""
    views = snapshot(conversation.pk).messages
    assert [view.message_id for view in views] == tree.path
    for view in views:
        siblings = tree.versions(view.message_id)
        if len(siblings) == 1:
            assert view.versions is None
            continue
        assert view.versions
        assert (view.versions.number, view.versions.total) == (siblings.index(view.message_id) + 1, len(siblings))


@pytest.mark.django_db(transaction=True)
async def test_edit_shows_a_new_branch_and_the_old_one_can_be_shown_again(emulated: Settings) -> None:
    url = emulated.GOOGLE_GEMINI_BASE_URL
    conversation = await new_conversation(model="scenario-code")
    tab = Tab(conversation.pk)
    first = await ask_and_wait(conversation, "first", tab)
    await ask_and_wait(conversation, "second", tab)
    with tab.following():
        edited = await start_and_wait(
            start_turn(Edit(conversation.owner, conversation.pk, "first, better", message_id=first.user_message_id))
        )
    assert edited.status == Turn.Status.DONE
    assert (await Conversation.objects.aget(pk=conversation.pk)).title == "first, better"
    assert any("first, better" in frame.text and "conversation-title" in frame.text for frame in tab.all_frames)
    assert tab.page.transcript == await fresh_page(conversation)
    assert "2/2" in tab.page.transcript
    assert "second" not in tab.page.transcript

    await switch_version(lambda: conversation.pk, first.user_message_id)
    page = await fresh_page(conversation)
    assert "1/2" in page
    assert "second" in page
    before = count_calls(url)
    third = await ask_and_wait(conversation, "third")
    [call] = calls_since(url, before)
    questions = [
        part["text"]
        for content in call["request"]["contents"]
        if content["role"] == "user"
        for part in content["parts"]
    ]
    assert questions == ["first", "second", "third", date_note(third).text]


@pytest.mark.django_db(transaction=True)
async def test_regenerated_answer_is_a_version_of_the_old_one(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-text")
    tab = Tab(conversation.pk)
    first = await ask_and_wait(conversation, "first", tab)
    await ask_and_wait(conversation, "second", tab)
    with tab.following():
        await start_and_wait(start_turn(Regenerate(conversation.owner, conversation.pk, first.message_id)))
    assert tab.page.transcript == await fresh_page(conversation)
    assert tab.page.transcript.count("<article") == 2
    assert "2/2" in tab.page.transcript
    assert await Message.objects.filter(conversation=conversation).acount() == 5


@pytest.mark.django_db(transaction=True)
async def test_versions_cannot_be_switched_while_an_answer_is_being_written(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-text")
    first = await ask_and_wait(conversation, "first")
    await start_and_wait(start_turn(Regenerate(conversation.owner, conversation.pk)))
    await Conversation.objects.filter(pk=conversation.pk).aupdate(model="scenario-endless")
    started = await start_turn(make_question(conversation, "go"))
    with pytest.raises(SwitchRefused):
        await switch_version(lambda: conversation.pk, first.message_id)
    with pytest.raises(StartRefused):
        await start_turn(Edit(conversation.owner, conversation.pk, "other", message_id=first.user_message_id))
    with pytest.raises(StartRefused):
        await start_turn(Regenerate(conversation.owner, conversation.pk))
    Runner.current().stop(started.turn.pk)
    await Runner.current().drain()


@pytest.mark.django_db
def test_message_that_is_no_longer_shown_cannot_be_edited() -> None:
    conversation = make_conversation(model="some-model")
    first = create_turn(make_question(conversation, "go"))
    end(first, "answer")
    edit = Edit(conversation.owner, conversation.pk, "again", message_id=first.turn.user_message_id)
    end(create_turn(edit), "answer")
    with pytest.raises(StartRefused):
        create_turn(edit)


@pytest.mark.django_db
def test_message_of_another_conversation_cannot_be_shown_as_a_version() -> None:
    mine, other = make_conversation(), make_conversation()
    started = create_turn(make_question(other, "another"))
    end(started, "answer")
    for message in (started.turn.user_message_id, started.turn.message_id):
        with pytest.raises(SwitchRefused):
            versions.show(mine.pk, message)
        with pytest.raises(StartRefused), transaction.atomic():
            create_turn(Edit(mine.owner, mine.pk, "x", message_id=message))
        with pytest.raises(StartRefused), transaction.atomic():
            create_turn(Regenerate(mine.owner, mine.pk, message))
    assert json.dumps(str(transcript_html(snapshot(mine.pk).messages))) == '""'


@pytest.mark.django_db
def test_code_mode_of_a_question_applies_when_its_answer_is_regenerated() -> None:
    conversation = make_conversation(model="some-model")
    first = create_turn(make_question(conversation, "tell me a story", code_mode="on"))
    end(first, "answer")
    again = create_turn(Regenerate(conversation.owner, conversation.pk, None))
    assert (again.turn.code_mode, again.turn.code_execution) == ("on", True)


@pytest.mark.django_db
def test_answer_without_tools_is_regenerated_without_tools() -> None:
    row = LanguageModel.objects.create(name="m", code_execution=True, web_search=True)
    Preset.objects.create(slug="searching", label="S", language_model=row, web_search=True)
    conversation = make_conversation(model="searching", code_execution="on")
    first = create_turn(make_question(conversation, "go"))
    assert (first.turn.code_execution, first.setup.web_search) == (True, True)
    end(first, "answer")
    Turn.objects.filter(pk=first.turn.pk).update(finish=Finish.TOO_MANY_TOOL_CALLS)
    second = create_turn(Continue(conversation.owner, conversation.pk, without_tools=True))
    assert (second.turn.code_execution, second.setup.web_search) == (False, False)
    end(second, "answer")
    again = create_turn(Regenerate(conversation.owner, conversation.pk, None))
    assert (again.turn.code_execution, again.setup.web_search) == (False, False)


@pytest.mark.django_db
def test_continuation_runs_no_code_if_the_new_model_of_the_conversation_cannot(settings: Settings) -> None:
    settings.KERNELS_LIMIT = 0
    LanguageModel.objects.create(name="codeless", code_execution=False)
    conversation = make_conversation(model="some-model", code_execution="on")
    first = create_turn(make_question(conversation, "go"))
    end(first, "answer")
    Turn.objects.filter(pk=first.turn.pk).update(finish=Finish.LENGTH)
    Conversation.objects.filter(pk=conversation.pk).update(model="codeless")
    continued = create_turn(Continue(conversation.owner, conversation.pk))
    assert not continued.turn.code_execution


@pytest.mark.django_db
def test_regenerated_answer_runs_code_or_not_as_the_old_one_did() -> None:
    conversation = make_conversation(model="some-model")
    table = make_attachment(conversation.owner, data=b"a,b\n1,2")
    first = create_turn(make_question(conversation, "what stands out here?", attachment_ids=(table.pk,)))
    end(first, "answer")
    again = create_turn(Regenerate(conversation.owner, conversation.pk, None))
    assert (again.turn.code_execution, again.turn.code_reason) == (first.turn.code_execution, first.turn.code_reason)
    other = make_conversation(model="some-model")
    first = create_turn(make_question(other, "and again?"))
    end(first, "answer")
    again = create_turn(Regenerate(other.owner, other.pk, None))
    assert (again.turn.code_execution, again.turn.code_reason) == (first.turn.code_execution, first.turn.code_reason)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("edited", "expected"),
    [(None, [0, 1]), ([], []), ([2, 1], [2, 1])],
    ids=["keeps its files if none are named", "loses them", "loses one and gets one"],
)
def test_edited_message_has_the_files_that_the_edit_lists_or_else_its_former_files(
    edited: list[int] | None, expected: list[int]
) -> None:
    conversation = make_conversation(model="some-model")
    ids = [make_attachment(conversation.owner, data=bytes([number])).pk for number in range(3)]
    first = create_turn(make_question(conversation, "go", attachment_ids=ids[:2]))
    end(first, "answer")
    named = None if edited is None else [ids[number] for number in edited]
    edit = Edit(conversation.owner, conversation.pk, "go", named, message_id=first.turn.user_message_id)
    assert [file.pk for file in create_turn(edit).attachments] == [ids[one] for one in expected]


@pytest.mark.django_db
def test_edit_cannot_use_a_file_of_another_user() -> None:
    conversation = make_conversation(model="some-model")
    first = create_turn(make_question(conversation, "go"))
    end(first, "answer")
    ids = [make_attachment(make_user()).pk]
    with pytest.raises(NotFound):
        create_turn(Edit(conversation.owner, conversation.pk, "go", ids, message_id=first.turn.user_message_id))
