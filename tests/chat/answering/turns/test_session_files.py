"""Files of questions in the Python session: where the code finds them, and what the model is told about them."""

from __future__ import annotations

import json
from base64 import b64decode

import pytest
from channels.db import database_sync_to_async
from pytest_django import Settings

from attachments.models import Attachment
from attachments.store import BytesUnavailable
from attachments.validation import EXCEL
from chat.models import PythonSession
from chat.python.sessions import files as session_files
from tests.chat.answering.turns.session_turns import (
    ask_with_files,
    make_file,
    outputs_of,
    responses_of,
    session_conversation,
)
from tests.chat.turn_driver import calls_since, count_calls
from tests.table_files import excel_file

pytestmark = pytest.mark.django_db(transaction=True)


async def test_code_finds_attached_files_in_its_working_directory(sessions: Settings) -> None:
    conversation = await session_conversation()
    small = await database_sync_to_async(make_file)(conversation, "small.csv", b"a,b\n1,2\n")
    twin = await database_sync_to_async(make_file)(conversation, "../small.csv", b"c\n3\n")
    large = await database_sync_to_async(make_file)(conversation, "large.csv", b"x\n" + b"1\n" * 700_000)
    before = count_calls(sessions.GOOGLE_GEMINI_BASE_URL)
    code = "for name in ('small.csv', 'small-2.csv', 'large.csv'):\n    print(name, len(open(name, 'rb').read()))"
    turn = await ask_with_files(conversation, code, small, twin, large)
    [cell] = await responses_of(turn)
    assert cell["output"] == "small.csv 8\nsmall-2.csv 4\nlarge.csv 1400002\n"
    # Files of the conversation are not files that the code has written.
    assert cell["files"] == []
    first = calls_since(sessions.GOOGLE_GEMINI_BASE_URL, before)[0]["request"]
    sent = first["contents"][0]["parts"]
    assert ["inlineData" in part for part in sent] == [True, True, False, False, False, False, False]
    assert "large.csv (1,400,002 bytes) is in the working directory of the Python session" in sent[2]["text"]
    told = [json.loads(line) for line in sent[3]["text"].splitlines()[1:]]
    assert [(one["file"], one["rows"]) for one in told] == [
        ("small.csv", 1),
        ("small-2.csv", 1),
        ("large.csv", 700_000),
    ]
    assert "The next call of run_python puts these files" in first["contents"][0]["parts"][-1]["text"]
    # Each file is put into the session once; the file of a later question is added.
    later = await database_sync_to_async(make_file)(conversation, "later.csv", b"z\n")
    code = "open('small.csv', 'w').write('mine')\n---\nprint(open('small.csv').read(), open('later.csv').read())"
    turn = await ask_with_files(conversation, code, later)
    assert (await outputs_of(turn))[1] == "mine z\n\n"
    session = await PythonSession.objects.aget(conversation=conversation)
    assert set(session.placed_files) == {"small.csv", "small-2.csv", "large.csv", "later.csv"}


async def test_code_reads_a_small_excel_file_under_the_name_that_the_request_contains(sessions: Settings) -> None:
    conversation = await session_conversation()
    data = excel_file({"A": [["a", "b"], [1, "x"]]})
    book = await database_sync_to_async(make_file)(conversation, "book.xlsx", data, EXCEL)
    before = count_calls(sessions.GOOGLE_GEMINI_BASE_URL)
    turn = await ask_with_files(
        conversation, "import pandas\nprint(pandas.read_excel('book.xlsx', engine='calamine').to_csv())", book
    )
    assert (await outputs_of(turn))[-1] == ",a,b\n0,1,x\n\n"
    sent = calls_since(sessions.GOOGLE_GEMINI_BASE_URL, before)[0]["request"]["contents"][0]["parts"]
    assert "is in the working directory of the Python session, as “book.xlsx”" in sent[0]["text"]


async def test_code_and_model_get_text_files_of_any_encoding_as_utf_8(sessions: Settings) -> None:
    conversation = await session_conversation()
    files = [
        await database_sync_to_async(make_file)(conversation, f"{codec}.csv", "城市,额\n北京,3\n上海,4\n".encode(codec))
        for codec in ("gb18030", "utf-16-le", "utf-8-sig")
    ]
    code = f"import pandas\nfor name in {[file.name for file in files]}:\n    print(pandas.read_csv(name).to_csv())"
    before = count_calls(sessions.GOOGLE_GEMINI_BASE_URL)
    turn = await ask_with_files(conversation, code, *files)
    assert (await outputs_of(turn))[-1] == ",城市,额\n0,北京,3\n1,上海,4\n\n" * 3
    sent = calls_since(sessions.GOOGLE_GEMINI_BASE_URL, before)[0]["request"]["contents"][0]["parts"]
    assert [b64decode(part["inlineData"]["data"]).decode() for part in sent[:3]] == ["城市,额\n北京,3\n上海,4\n"] * 3


async def test_note_for_the_model_says_that_a_file_is_missing_in_storage(
    sessions: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation = await session_conversation()
    file = await database_sync_to_async(make_file)(conversation, "data.csv", b"x\n" * 100_000)

    def fail(attachment: Attachment) -> bytes:
        raise BytesUnavailable(f"“{attachment.name}” is missing in storage.")

    monkeypatch.setattr(session_files, "read_bytes", fail)
    turn = await ask_with_files(conversation, "print(1)", file)
    [cell] = await responses_of(turn)
    assert "The file “data.csv” could not be put into the session" in cell["note"]
    assert cell["output"] == "1\n"
