"""What requests say about attached tables, and where code reads them, in the first question and in later ones."""

from __future__ import annotations

import gzip
import json
from base64 import b64decode
from dataclasses import replace
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.utils import timezone
from pytest_django import Settings

from attachments.models import Attachment, AttachmentPreview
from attachments.validation import EXCEL
from chat.answering.prompt.provider_files import NOT_TAKEN, TOO_LARGE
from chat.answering.prompt.table_notes import INTRODUCTION
from chat.models import Conversation, Message, ProviderFile, PythonSession
from chat.providers.google.provider import GeminiProvider
from chat.python.kernels.table_reading import parse_table_reading
from chat.python.session_panel import panel_html
from chat.python.sessions import control
from chat.python.table_readings.stored_readings import store_choices
from chat.python.table_readings.suggestions import DESCRIBE
from chat.vocabulary.demo_model import DEMO_MODEL
from chat.vocabulary.parts import Engine
from tests.chat.answering.turns.session_turns import ask_with_files, make_file, outputs_of, session_conversation
from tests.chat.turn_driver import ask_and_wait, calls_since, count_calls, fresh_page, new_conversation
from tests.table_files import Cell, excel_file

pytestmark = pytest.mark.django_db(transaction=True)

TICKS = "DateTime,Bid,Ask\n" + "".join(f"2024-01-{day:02d} 09:30,1.{day:02d},1.{day + 1:02d}\n" for day in range(1, 31))
capabilities = GeminiProvider.capabilities


async def ask(settings: Settings, conversation: Conversation, text: str, *files: Attachment) -> tuple[Any, list[str]]:
    """Ask, and return the turn and all texts of its first request."""
    before = count_calls(settings.GOOGLE_GEMINI_BASE_URL)
    turn = await (ask_with_files(conversation, text, *files) if files else ask_and_wait(conversation, text))
    contents = calls_since(settings.GOOGLE_GEMINI_BASE_URL, before)[0]["request"]["contents"]
    return turn, [part["text"] for content in contents for part in content["parts"] if "text" in part]


def told(texts: list[str]) -> list[str]:
    return [text for text in texts if text.startswith(INTRODUCTION)]


async def test_description_of_a_table_is_the_same_in_each_request_and_for_each_engine(sessions: Settings) -> None:
    conversation = await new_conversation(model="scenario-text", code_execution="on", engine="native")
    file = await database_sync_to_async(make_file)(conversation, "ticks.csv", TICKS.encode("utf-16-le"))
    turn, first = await ask(sessions, conversation, "What is the highest bid?", file)
    assert turn.engine == Engine.NATIVE
    [line] = told(first)[0].splitlines()[1:]
    read = json.loads(line)
    assert (read["file"], read["rows"], list(read["columns"])) == ("ticks.csv", 30, ["DateTime", "Bid", "Ask"])
    assert any("UTF-16" in note for note in read["notes"])
    # A newer version of the reader has not read it yet.
    await AttachmentPreview.objects.filter(attachment=file).aupdate(version=1)
    _, second = await ask(sessions, conversation, "What is the highest bid?")
    await Conversation.objects.filter(pk=conversation.pk).aupdate(engine="session", model="scenario-function-script")
    code = f"import pandas as pd\ntable = {read['read_as']}\nprint(len(table), *table)"
    turn, third = await ask(sessions, conversation, code)
    assert turn.engine == Engine.SESSION
    assert told(first) == told(second) == told(third)
    assert await outputs_of(turn) == ["30 DateTime Bid Ask\n"]


async def test_demo_model_describes_workbooks_of_this_and_of_an_earlier_question(sessions: Settings) -> None:
    conversation = await new_conversation(model=DEMO_MODEL)
    rows: list[list[Cell]] = [["month", "sales"]]
    rows += [[f"M{number}", number * 1.5] for number in range(1, 10)]
    file = await database_sync_to_async(make_file)(conversation, "sales.xlsx", excel_file({"Sales": rows}), EXCEL)
    for files in ([file], []):
        turn, _ = await ask(sessions, conversation, DESCRIBE, *files)
        assert (turn.engine, turn.status) == (Engine.SESSION, "done")
        message = await Message.objects.aget(pk=turn.message_id)
        assert "The table has **9** rows" in message.text
        assert all(name in message.text for name in ("`month`", "`sales`"))


async def test_code_runs_in_the_session_if_an_earlier_question_has_a_workbook(sessions: Settings) -> None:
    conversation = await session_conversation(engine="auto", code_execution="auto")
    rows: list[list[Cell]] = [["month", "sales"]]
    rows += [[f"M{number}", number * 1.5] for number in range(1, 10)]
    file = await database_sync_to_async(make_file)(conversation, "sales.xlsx", excel_file({"Sales": rows}), EXCEL)
    code = "import pandas as pd\nprint(pd.read_excel('sales.xlsx', engine='calamine').sales.sum())"
    turn, first = await ask(sessions, conversation, code, file)
    assert await outputs_of(turn) == ["67.5\n"]
    # The session ends, so that only the file can be the reason for the session.
    await control.end(await PythonSession.objects.aget(conversation=conversation), "")
    turn, later = await ask(sessions, conversation, code)
    assert turn.engine == Engine.SESSION
    assert "does not take files like “sales.xlsx”" in turn.code_reason
    assert await outputs_of(turn) == ["67.5\n"]
    assert told(first) == told(later)
    assert json.loads(told(later)[0].splitlines()[1])["columns"] == {"month": "text", "sales": "number"}
    # If no session is possible, the request says which file the model does not get.
    sessions.KERNELS_LIMIT = 0
    turn, texts = await ask(sessions, conversation, "And now?")
    assert turn.engine == Engine.NATIVE
    assert NOT_TAKEN.format(name="sales.xlsx") in texts


async def test_code_runs_in_the_session_if_a_table_no_longer_fits_into_the_request(
    sessions: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        GeminiProvider, "capabilities", lambda self, model: replace(capabilities(self, model), stores_files=False)
    )
    conversation = await session_conversation(engine="auto", model="scenario-text")
    file = await database_sync_to_async(make_file)(conversation, "data.csv", b"n\n" + b"1\n" * 100_000)
    sessions.REQUEST_LIMIT_BYTES = 150_000
    turn, _ = await ask(sessions, conversation, "How many rows are there?", file)
    assert turn.engine == Engine.NATIVE
    await Conversation.objects.filter(pk=conversation.pk).aupdate(model="scenario-function-script")
    turn, _ = await ask(sessions, conversation, "print(len(open('data.csv').readlines()))")
    assert (turn.engine, turn.status) == (Engine.SESSION, "done")
    assert "too large to be sent" in turn.move_reason
    assert await outputs_of(turn) == ["100001\n"]
    await control.end(await PythonSession.objects.aget(conversation=conversation), "")
    sessions.KERNELS_LIMIT = 0
    turn, texts = await ask(sessions, conversation, "print(1)")
    assert (turn.engine, turn.status) == (Engine.NATIVE, "done")
    assert TOO_LARGE.format(name="data.csv") in texts


async def test_models_and_code_get_a_file_in_the_encoding_that_a_person_has_chosen(sessions: Settings) -> None:
    conversation = await session_conversation()
    file = await database_sync_to_async(make_file)(conversation, "prices.csv", "price\n5 €\n".encode("iso8859-15"))
    code = "print(open('prices.csv').read())"
    turn, _ = await ask(sessions, conversation, code, file)
    [found] = await outputs_of(turn)
    preview = await AttachmentPreview.objects.aget(attachment=file)
    reading = replace(parse_table_reading(preview.content), code="pd.read_csv('prices.csv', decimal=',')")
    await ProviderFile.objects.acreate(attachment=file, account="any", uri="files/1", expires_at=timezone.now())
    # Uploads hold the bytes of the former encoding.
    await database_sync_to_async(store_choices)(file.pk, reading, {"encoding": "ISO 8859-15"})
    assert not await ProviderFile.objects.aexists()
    before = count_calls(sessions.GOOGLE_GEMINI_BASE_URL)
    turn = await ask_and_wait(conversation, code)
    assert found != "price\n5 €\n\n"
    assert await outputs_of(turn) == ["price\n5 €\n\n"]
    sent = calls_since(sessions.GOOGLE_GEMINI_BASE_URL, before)[0]["request"]["contents"][0]["parts"][0]
    assert b64decode(sent["inlineData"]["data"]).decode() == "price\n5 €\n"
    session = await PythonSession.objects.aget(conversation=conversation)
    assert session.placed_files == {"prices.csv": f"{file.pk} ISO 8859-15"}
    panel = await database_sync_to_async(panel_html)(conversation.pk)
    assert "pd.read_csv(&#39;prices.csv&#39;, decimal=&#39;,&#39;)" in panel
    # Only the first answer read the file with the earlier encoding.
    page = await fresh_page(conversation)
    assert page.count("Read with an earlier reading of “prices.csv”.") == 1
    assert page.index("Read with an earlier reading") < page.index(f"message-{turn.message_id}")


async def test_models_and_code_get_a_gzip_text_file_decompressed(sessions: Settings) -> None:
    conversation = await new_conversation(model="scenario-text", code_execution="on", engine="native")
    data = gzip.compress(TICKS.encode("utf-16-le"))
    file = await database_sync_to_async(make_file)(conversation, "ticks.csv.gz", data)
    before = count_calls(sessions.GOOGLE_GEMINI_BASE_URL)
    await ask_with_files(conversation, "What is in it?", file)
    sent = calls_since(sessions.GOOGLE_GEMINI_BASE_URL, before)[0]["request"]["contents"][0]["parts"]
    assert sent[0]["inlineData"]["displayName"] == "ticks.csv"
    assert b64decode(sent[0]["inlineData"]["data"]).decode() == TICKS
    assert json.loads(sent[1]["text"].splitlines()[1])["rows"] == 30
    await Conversation.objects.filter(pk=conversation.pk).aupdate(engine="session", model="scenario-function-script")
    turn, texts = await ask(sessions, conversation, "print(len(open('ticks.csv').readlines()))")
    assert await outputs_of(turn) == ["31\n"]
    assert any("ticks.csv.gz (" in text and "as “ticks.csv”" in text for text in texts)
