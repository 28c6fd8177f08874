"""Private conversations: no request holds a cell of a file, and the reader's page holds all that code showed."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest
from channels.db import database_sync_to_async
from pytest_django import Settings

from attachments.models import Attachment
from chat.answering.prompt.instructions import PRIVATE as PRIVATE_INSTRUCTION
from chat.answering.prompt.private_records import LEFT_OUT
from chat.answering.turns import private_results
from chat.answering.turns.resume import current_approval
from chat.answering.turns.runner import start_turn
from chat.answering.turns.start import Ask, Regenerate, RunCode
from chat.answering.turns.start_rules import NO_PRIVATE_CODE, NOT_PRIVATE, StartRefused
from chat.answering.turns.titles import title_request
from chat.models import Conversation, LanguageModel, Message, Project, Turn
from chat.models.projects import move_conversation
from chat.python.sessions.kept_files import keep_file
from tests.chat.answering.tools.recording_tools import UseTools
from tests.chat.answering.turns.approvals import ask_for_code, decide_and_wait, reread
from tests.chat.answering.turns.protocol_outcomes import GENERATE_CONTENT, IN_SESSION, PROTOCOLS, Case, conversation_at
from tests.chat.answering.turns.session_turns import ask_with_files, make_file, responses_of
from tests.chat.turn_driver import (
    ask_and_wait,
    calls_since,
    count_calls,
    fresh_page,
    new_conversation,
    start_and_wait,
)
from tests.openai_server.server import StandInServer

pytestmark = pytest.mark.django_db(transaction=True)

NAMES = [f"Canary{letter}{number:04}Xq" for number, letter in enumerate("abcdefghij")]
AMOUNTS = [f"{48_213.77 + 1_913.31 * number:.2f}" for number in range(len(NAMES))]
CANARY = re.compile("|".join([*NAMES, *map(re.escape, AMOUNTS)]), re.IGNORECASE)
PEOPLE = "\n".join(["name,amount", *(f"{name},{amount}" for name, amount in zip(NAMES, AMOUNTS, strict=True))]) + "\n"
LEAKS = (
    "import pandas as pd\nt = pd.read_csv('people.csv')\nprint(t.head())",
    "t",
    "raise ValueError('no ' + t['name'][0])",
    "print(t.to_json(orient='records'), t['name'].to_list(), t['amount'].max())",
    "import matplotlib.pyplot as plt\nplt.bar(t['name'], t['amount'])\nplt.title(t['name'][1])\nplt.show()",
    "open(t['name'][2] + '.txt', 'w').write(t['name'][2])",
    "globals()[t['name'][3]] = first = t['name'][4]\nt = t.drop(index=0)",
    "%list_variables",
    '%inspect_variable {"name": "t"}',
    "%list_files",
    "import warnings\nwarnings.warn(t['name'][5])\nimport this_is_missing",
    "exit(t['name'][6])",
)
"""Code and calls that show cells in every way."""
FEW_LEAKS = [LEAKS[number] for number in (0, 2, 4, 5, 6, 7)]


class Wire:
    """The requests that model services have received since this object was created."""

    def __init__(self, settings: Settings, server: StandInServer) -> None:
        self._url, self._server = settings.GOOGLE_GEMINI_BASE_URL, server
        self._calls, self._entries = count_calls(self._url), len(server.journal)

    @property
    def requests(self) -> list[str]:
        """All requests as JSON with the characters as they are."""
        calls: list[Any] = calls_since(self._url, self._calls)
        bodies = [*calls, *(entry.body for entry in self._server.journal[self._entries :])]
        return [json.dumps(body, ensure_ascii=False) for body in bodies]


async def make_private(conversation: Conversation, *, is_private: bool = True) -> None:
    await Conversation.objects.filter(pk=conversation.pk).aupdate(private_data=is_private)


async def people(conversation: Conversation) -> Attachment:
    file: Attachment = await database_sync_to_async(make_file)(conversation, "people.csv", PEOPLE.encode())
    return file


@pytest.mark.parametrize(
    ("protocol", "leaks"),
    [
        (GENERATE_CONTENT, FEW_LEAKS),
        *(pytest.param(name, LEAKS, marks=pytest.mark.drill, id=name) for name in PROTOCOLS),
    ],
)
async def test_no_request_contains_a_table_cell_and_the_owners_page_shows_all_output(
    sessions: Settings, endpoints: StandInServer, protocol: str, leaks: Sequence[str]
) -> None:
    wire = Wire(sessions, endpoints)
    conversation = await conversation_at(endpoints, protocol, Case("function-script", columns=IN_SESSION))
    await make_private(conversation)
    await ask_with_files(conversation, "print(0)", await people(conversation))
    turn = await ask_and_wait(conversation, "\n===\n".join(leaks))
    assert turn.status == "done"
    assert turn.private_data
    # The file that was named after a cell is kept, and code of the user shows cells.
    await keep_file(await Message.objects.aget(pk=turn.message_id), f"{NAMES[2]}.txt")
    own = RunCode(conversation.owner, conversation.pk, "import pandas as pd\nprint(pd.read_csv('people.csv'))")
    await start_and_wait(start_turn(own))
    second = await ask_and_wait(conversation, "print(1)")
    await start_and_wait(start_turn(Regenerate(conversation.owner, conversation.pk)))
    assert second.status == "done"
    # Without functions, what ran before goes back as text.
    await Conversation.objects.filter(pk=conversation.pk).aupdate(code_execution="off")
    assert (await ask_and_wait(conversation, "go")).status == "done"
    requests = wire.requests
    assert len(requests) >= len(leaks) + 4
    assert [found for request in requests for found in CANARY.findall(request)] == []
    # The schema is sent, and how the model is to deal with private data.
    assert r"{\"name\": \"text\", \"amount\": \"number\"}" in requests[0].replace("\\\\", "\\")
    assert PRIVATE_INSTRUCTION.strip()[:60] in requests[0]
    assert "inlineData" not in "".join(requests)
    assert "data:image" not in "".join(requests)
    page = await fresh_page(conversation)
    assert page.count("What the model got") >= len(leaks) - 1
    assert all(name in page for name in NAMES[:5])
    assert "<img " in page


async def test_results_of_a_tool_set_without_a_filter_are_withheld_from_the_model(
    emulated: Settings, use_tools: UseTools
) -> None:
    tools = use_tools("echo", "fail")
    conversation = await new_conversation(model="scenario-function-script")
    await make_private(conversation)
    await Conversation.objects.filter(pk=conversation.pk).aupdate(release="ask")
    turn = await reread(await ask_and_wait(conversation, '%echo {"value": 1}\n===\n%fail'))
    approval = await database_sync_to_async(current_approval)(turn)
    assert approval
    assert (approval.is_result, approval.is_private) == (True, True)
    turn = await decide_and_wait(turn)
    assert [response.get("note") or response["error"] for response in await responses_of(turn)] == [
        private_results.PRIVATE,
        "It cannot be done today.",
    ]
    assert tools.calls


async def test_answers_with_data_from_before_the_conversation_became_private_are_left_out(
    sessions: Settings, endpoints: StandInServer
) -> None:
    conversation = await new_conversation(model="scenario-function-script", code_execution="on", engine="session")
    await ask_with_files(conversation, "print(open('people.csv').read())", await people(conversation))
    show = "import pandas as pd\nprint(pd.read_csv('people.csv'))"
    await start_and_wait(start_turn(RunCode(conversation.owner, conversation.pk, show)))
    await make_private(conversation)
    wire = Wire(sessions, endpoints)
    await ask_and_wait(conversation, "print(1)")
    requests = wire.requests
    assert CANARY.findall("".join(requests)) == []
    assert LEFT_OUT in requests[0]
    # Answers since the setting were filtered when they were stored, so they are sent.
    await ask_and_wait(conversation, "print(2)")
    assert wire.requests[-1].count(LEFT_OUT) == 1
    # Without the setting, everything is sent again: the earlier answers, and the file.
    await make_private(conversation, is_private=False)
    wire = Wire(sessions, endpoints)
    await ask_and_wait(conversation, "print(3)")
    assert NAMES[0] in wire.requests[0]


async def test_answers_without_data_from_before_the_conversation_became_private_are_sent(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-text")
    turn = await ask_and_wait(conversation, "go")
    await make_private(conversation)
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    await ask_and_wait(conversation, "go on")
    [call] = calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)
    [message] = [one["parts"][0]["text"] for one in call["request"]["contents"] if one["role"] == "model"]
    assert message == turn.message.text


async def test_code_of_a_private_conversation_runs_in_the_session_not_at_the_service(sessions: Settings) -> None:
    await LanguageModel.objects.acreate(name="scenario-function-script", code_execution=True)
    conversation = await new_conversation(model="scenario-function-script", engine="native")
    project = await database_sync_to_async(Project.objects.start)(conversation.owner_id, name="p", private_data=True)
    await database_sync_to_async(move_conversation)(conversation, project)
    turn = await ask_with_files(conversation, "print(1)", await people(conversation))
    assert (turn.engine, turn.offers_session, turn.private_data) == ("session", False, True)
    assert "Only code can read the files of a private conversation." in turn.code_reason


async def test_private_question_with_files_is_refused_if_no_session_can_read_them(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-text")
    await make_private(conversation)
    file = await people(conversation)
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    ask = Ask(conversation.owner, conversation.pk, "go", attachment_ids=[file.pk])
    emulated.TOOL_SETS = []
    with pytest.raises(StartRefused, match=re.escape(NO_PRIVATE_CODE)):
        await start_turn(ask)
    emulated.TOOL_SETS = ["chat.python.tool_set.factory.python_tools"]
    await LanguageModel.objects.acreate(name="scenario-text", label="Painter", image_output=True)
    with pytest.raises(StartRefused, match=re.escape(NOT_PRIVATE.format(label="Painter"))):
        await start_turn(ask)
    # A person who has turned code off gets an answer from the schema. Without files, every model answers.
    assert (await ask_and_wait(conversation, "go")).status == "done"
    await Conversation.objects.filter(pk=conversation.pk).aupdate(code_execution="off")
    turn = await start_and_wait(start_turn(ask))
    assert turn.status == "done"
    requests = json.dumps(calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before))
    assert "people.csv" in requests
    assert CANARY.findall(requests) == []


async def test_answer_that_waits_for_approval_fails_if_its_conversation_becomes_private(
    emulated: Settings, code_tools: None
) -> None:
    turn = await ask_for_code()
    await make_private(turn.conversation)
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    ended = await decide_and_wait(turn)
    assert (ended.status, ended.error_code) == ("failed", "became_private")
    assert calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before) == []


async def test_no_title_is_made_from_an_answer_before_the_conversation_became_private(emulated: Settings) -> None:
    emulated.GEMINI_EMULATED, emulated.GEMINI_API_KEY = False, "a-key"
    await LanguageModel.objects.acreate(name="scenario-text", makes_titles=True)
    conversation = await new_conversation(model="scenario-text")
    turn = await ask_and_wait(conversation, "go")
    await Conversation.objects.filter(pk=conversation.pk).aupdate(private_data=True, title_source="words")
    assert await database_sync_to_async(title_request)(conversation.pk) is None
    await Turn.objects.filter(pk=turn.pk).aupdate(private_data=True)
    assert await database_sync_to_async(title_request)(conversation.pk)
