"""What of a project is in the requests of its conversations."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from attachments.models import Attachment
from chat.answering.prompt.context_window import tokens_of
from chat.answering.prompt.dates import date_note
from chat.answering.prompt.history import PreparedRequest, prepare
from chat.answering.prompt.project_files import project_contents
from chat.answering.prompt.provider_files import forget_uploaded
from chat.answering.prompt.replay import Replay
from chat.answering.prompt.rows import read_rows
from chat.answering.prompt.table_notes import TableNotes
from chat.answering.turns.start import Ask
from chat.answering.turns.start_rules import CodeChoice, TurnChoices, decide_code
from chat.messages.records import MessageRecord, PlacedAttachment
from chat.models import Conversation, Project, ProviderFile, Turn
from chat.models.projects import add_files, move_conversation
from chat.providers.catalogue.setups import Setup
from chat.providers.requests import Content
from chat.python.sessions.files import session_files
from chat.vocabulary.parts import FileData, InlineData, Part, Text
from chat.vocabulary.stream_events import Finish
from tests.chat.turn_driver import create_turn
from tests.factories import (
    attach,
    make_attachment,
    make_conversation,
    make_model_message,
    make_user_message,
)

pytestmark = pytest.mark.django_db

NAMES = "[Files of the project “Harbour”, for all its conversations: {names}]"


def make_project(conversation: Conversation, *files: Attachment, instruction: str = "") -> Project:
    """Create a project with files, and put the conversation into it."""
    project = Project.objects.start(conversation.owner_id, name="Harbour", instruction=instruction)
    add_files(project, files)
    move_conversation(conversation, project)
    return project


def start(conversation: Conversation) -> Turn:
    return create_turn(Ask(conversation.owner, conversation.pk, text="And now?")).turn


def prepare_next(turn: Turn, replay: Replay | None = None) -> PreparedRequest:
    [rows] = read_rows([turn])
    return prepare(turn, rows, replay or Replay())


def sent_parts(prepared: PreparedRequest) -> list[Part]:
    return [part for content in prepared.request.contents for part in content.parts]


def test_project_instruction_follows_that_of_the_person_and_precedes_that_of_the_conversation() -> None:
    conversation = make_conversation(system_instruction="Own.")
    conversation.owner.instruction = "Person."
    conversation.owner.save()
    make_project(conversation, instruction="Project.")
    sent = prepare_next(start(conversation)).request.system_instruction
    assert sent.endswith("Person.\n\nProject.\n\nOwn.")
    other = make_conversation()
    assert "Project." not in prepare_next(start(other)).request.system_instruction


def test_project_files_come_before_the_first_message_in_the_request() -> None:
    conversation = make_conversation()
    make_user_message(conversation, "First")
    make_model_message(conversation)
    owner = conversation.owner
    make_project(conversation, make_attachment(owner, name="a.csv", data=b"1"), make_attachment(owner, name="b.csv"))
    turn = start(conversation)
    parts = sent_parts(prepare_next(turn))
    assert parts[:4] == [
        Text(NAMES.format(names="a.csv, b.csv")),
        InlineData("text/csv", "a.csv", b"1"),
        InlineData("text/csv", "b.csv", b"some bytes"),
        Text("First"),
    ]
    assert parts[-2:] == [Text("And now?"), date_note(turn)]


def test_next_request_uses_the_current_files_and_instruction_of_the_project() -> None:
    conversation = make_conversation()
    project = make_project(conversation, instruction="Old.")
    turn = start(conversation)
    assert sent_parts(prepare_next(turn)) == [Text("And now?"), date_note(turn)]
    add_files(project, [make_attachment(conversation.owner, name="new.csv")])
    assert Text(NAMES.format(names="new.csv")) in sent_parts(prepare_next(turn))
    move_conversation(conversation, None)
    Turn.objects.update(status=Turn.Status.DONE)
    later = prepare_next(start(conversation))
    assert "Old." not in later.request.system_instruction
    assert not any("new.csv" in str(part) for part in sent_parts(later))


def test_file_is_numbered_in_the_session_if_a_refused_question_had_one_of_the_same_name() -> None:
    """The session has the files of a refused question, too, so a later file of the same name gets a number."""
    conversation = make_conversation(engine="session")
    files = [make_attachment(conversation.owner, name="a.csv", data=bytes([number]) * 70_000) for number in range(2)]
    attach(make_user_message(conversation, "First"), files[0])
    make_model_message(conversation, parts=(), finish=Finish.SAFETY)
    turn = create_turn(Ask(conversation.owner, conversation.pk, "And now?", [files[1].pk], code_mode="on")).turn
    labels = {file.attachment.pk: file.label for file in session_files(conversation.pk)}
    assert labels == {files[0].pk: "a.csv", files[1].pk: "a-2.csv"}
    texts = [part.text for part in sent_parts(prepare_next(turn)) if isinstance(part, Text)]
    assert [text for text in texts if "a.csv" in text] == [
        "[The file a.csv (70,000 bytes) is in the working directory of the Python session, as “a-2.csv”.]"
    ]


def test_file_of_both_the_project_and_a_question_is_sent_once() -> None:
    conversation = make_conversation()
    file = make_attachment(conversation.owner, name="a.csv")
    attach(make_user_message(conversation, "First"), file)
    make_model_message(conversation)
    make_project(conversation, file)
    parts = sent_parts(prepare_next(start(conversation)))
    assert len([part for part in parts if isinstance(part, InlineData)]) == 1


def test_request_contains_only_the_names_of_project_files_that_do_not_fit(settings: Settings) -> None:
    settings.REQUEST_FILES_LIMIT_BYTES = 10
    conversation = make_conversation(model="scenario-text")
    owner = conversation.owner
    small, large = make_attachment(owner, name="s.csv", data=b"12345"), make_attachment(owner, name="l.csv")
    make_project(conversation, small, large)
    prepared = prepare_next(start(conversation))
    parts = sent_parts(prepared)
    assert InlineData("text/csv", "s.csv", b"12345") in parts
    if prepared.to_upload:
        assert prepared.to_upload == (large,)
    assert Text("[The file l.csv is not sent with this request.]") in parts


def test_request_that_is_repeated_without_files_omits_project_files_too() -> None:
    conversation = make_conversation()
    make_project(conversation, make_attachment(conversation.owner, name="a.csv"))
    parts = sent_parts(prepare_next(start(conversation), Replay(has_files=False)))
    assert not any(isinstance(part, InlineData | FileData) for part in parts)
    assert Text("[The file a.csv is not sent with this request.]") in parts


def test_project_files_fill_at_most_half_of_the_context_window() -> None:
    conversation = make_conversation()
    owner = conversation.owner
    files = [make_attachment(owner, name=f"{number}.csv", data=b"x" * 3_500) for number in range(4)]
    record = MessageRecord(
        make_user_message(conversation, "names"), attachments=[PlacedAttachment(file, 0, None) for file in files]
    )

    def contents_of(window: int | None, share: float) -> tuple[list[Content], int]:
        def part_of(file: Attachment) -> InlineData:
            return InlineData("text/csv", file.name, b"x" * 3_500)

        return project_contents(record, part_of, window, share, {}, TableNotes({}))

    def number_sent(window: int | None, share: float = 1.0) -> int:
        contents, tokens = contents_of(window, share)
        assert tokens == sum(tokens_of(content, {}) for content in contents)
        return sum(isinstance(part, InlineData) for part in contents[0].parts)

    assert [number_sent(None), number_sent(100_000), number_sent(5_000), number_sent(1_000)] == [4, 4, 2, 0]
    # The provider has refused the request as too long.
    assert number_sent(None, 0.5) == 2


def decide(text: str, project_files: Sequence[Attachment], *, native: bool = True) -> CodeChoice:
    """Decide about code for a first question."""
    conversation = make_conversation()
    question = make_user_message(conversation, text)
    setup = Setup("gemini", "plotline-demo", "Demo", code_execution=native)
    return decide_code(conversation, question, [], TurnChoices(), setup, None, lambda: False, project_files)


def test_table_among_the_project_files_makes_code_run_as_an_attached_table_does() -> None:
    owner = make_conversation().owner
    data, note = make_attachment(owner, name="data.csv"), make_attachment(owner, name="note.txt")
    Attachment.objects.filter(pk=note.pk).update(mime_type="text/plain")
    note.refresh_from_db()
    text = "Which month was the best?"
    assert decide(text, [data]).engine is not None
    assert decide(text, [note]).engine is None


def test_project_files_of_all_turns_are_read_with_one_further_query() -> None:
    turns = [start(make_conversation()) for _ in range(2)]
    with CaptureQueriesContext(connection) as without:
        read_rows(turns)
    conversations = [make_conversation() for _ in range(2)]
    for conversation in conversations:
        make_project(conversation, make_attachment(conversation.owner))
    inside = [start(conversation) for conversation in conversations]
    with CaptureQueriesContext(connection) as within:
        rows = read_rows(inside)
    assert len(within) == len(without) + 1
    assert [len(one.project_files) for one in rows] == [1, 1]


def test_provider_upload_of_a_project_file_is_forgotten_with_those_of_its_conversation() -> None:
    conversation = make_conversation()
    file = make_attachment(conversation.owner)
    make_project(conversation, file)
    ProviderFile.objects.create(
        attachment=file, account="a", uri="files/1", mime_type="text/csv", expires_at="2030-01-01T00:00:00Z"
    )
    forget_uploaded(make_conversation(conversation.owner).pk, "a")
    assert ProviderFile.objects.exists()
    forget_uploaded(conversation.pk, "a")
    assert not ProviderFile.objects.exists()
