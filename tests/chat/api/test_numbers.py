"""The numbers of an answer through the API: traced when first asked for, stored, and only for their owner."""

from __future__ import annotations

import asyncio
import json
import uuid
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.db import database_sync_to_async
from django.test import AsyncClient
from django.utils import timezone
from pytest_django import Settings

from attachments.models import Attachment
from chat.library.exports import as_html, as_markdown, as_notebook
from chat.library.exports.as_json import message_json
from chat.library.exports.source import ExportSource
from chat.messages.background_ledgers import begin_ledger
from chat.messages.number_ledgers import VERSION
from chat.messages.records import records_by_id
from chat.models import Message, NumberLedger, Turn, User
from chat.page.fragments import message_html
from chat.page.number_list import numbers_html
from chat.page.readers import OWNER
from chat.page.transcript.views import message_view
from chat.python.newer_files.numbers import find_lost_numbers
from chat.vocabulary.parts import PartKind
from tests.chat.turn_driver import ask_and_wait, new_conversation
from tests.factories import attach, make_attachment, make_conversation, make_model_message, make_user, make_user_message
from tests.tables.corpus.workbooks import Cell, Sheet, write_xlsx

pytestmark = pytest.mark.django_db(transaction=True)

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
ANSWER = "Ulm has 1,381 orders, 815 of them from the file, and 99 from nowhere."


def make_answer(owner: User) -> tuple[Message, Message]:
    """Return a question with a table, and its answer with an output."""
    conversation = make_conversation(owner)
    question = make_user_message(conversation)
    attach(question, make_attachment(owner, name="a.csv", data=b"key;sum\nx;815\n"))
    parts = [
        (PartKind.EXECUTABLE_CODE, "print(df)"),
        (PartKind.CODE_EXECUTION_RESULT, "  city  orders\n0  Ulm    1381\n"),
        (PartKind.TEXT, ANSWER),
    ]
    answer = make_model_message(conversation, parts=parts)
    Turn.objects.filter(message=answer).update(ended_at=timezone.now() - timedelta(hours=1))
    return question, answer


async def test_numbers_of_an_earlier_answer_are_traced_at_the_first_request() -> None:
    owner = await sync_to_async(make_user)(str(uuid.uuid4()))
    question, answer = await sync_to_async(make_answer)(owner)
    client = AsyncClient()
    await client.aforce_login(owner)
    path = f"/api/v1/messages/{answer.pk}/numbers/"
    # The page shows the traced numbers if they are stored. It starts tracing only when asked to.
    page = f"/messages/{answer.pk}/numbers/"
    assert (await client.get(page)).status_code == 204
    response: Any = await client.get(path)
    assert (response.status_code, response.headers["Retry-After"]) == (202, "1")
    async with asyncio.timeout(60):
        while (response := await client.get(path)).status_code == 202:
            await asyncio.sleep(0.05)
    numbers = json.loads(response.content)
    assert [(one["text"], one["verdict"]) for one in numbers] == [
        ("1,381", "output"),
        ("815", "file"),
        ("99", "nowhere"),
    ]
    assert numbers[0]["source"] == {
        "message_id": str(answer.pk),
        "part_index": 1,
        "line": 2,
        "text": "0  Ulm    1381",
    }
    assert numbers[1]["source"]["message_id"] == str(question.pk)
    assert [ANSWER[one["start"] : one["end"]] for one in numbers] == [one["text"] for one in numbers]
    ledger = await NumberLedger.objects.aget()
    assert (ledger.message_id, ledger.without_source) == (answer.pk, 1)

    html = (await client.get(page)).content.decode()
    assert "<summary>2 of 3 numbers are in the results</summary>" in html
    assert html.count("<li") == 3
    assert 'data-verdict="nowhere" data-before="ileand"' in html
    assert "0  Ulm    1381</code>" in html

    other = AsyncClient()
    await other.aforce_login(await sync_to_async(make_user)(str(uuid.uuid4())))
    assert {(await other.get(one)).status_code for one in (path, page)} == {404}
    assert (await client.get(f"/api/v1/messages/{question.pk}/numbers/")).status_code == 404


def test_exports_contain_the_traced_numbers_and_those_without_a_source(owner: User) -> None:
    answer = make_model_message(make_conversation(owner), parts=[(PartKind.TEXT, "7 of 8")])
    common = {"value": "1", "unit": ""}
    numbers = [
        {"text": "7", "start": 0, "end": 1, "verdict": "file", **common},
        {"text": "8", "start": 5, "end": 6, "verdict": "nowhere", **common},
    ]
    ledger = NumberLedger.objects.create(message=answer, version=VERSION, numbers=numbers, without_source=1)
    source = ExportSource(answer.conversation, timezone.now())
    assert [message_json(one).get("numbers") for one in source.messages(shown_only=False)] == [None, numbers]
    sentence = "1 of 2 numbers are in the results"
    html = b"".join(as_html.chunks(source)).decode()
    assert f'<details class="numbers"><summary>{sentence}</summary>' in html
    assert f"*{sentence}. Without a source: 8*" in b"".join(as_markdown.chunks(source)).decode()
    assert f"*{sentence}. Without a source: 8*" in b"".join(as_notebook.export(source).chunks).decode()
    # Pages also ignore numbers that an earlier version of the rules has traced.
    ledger.version = VERSION - 1
    ledger.save()
    assert sentence not in b"".join(as_html.chunks(source)).decode()


async def test_numbers_are_traced_when_an_answer_ends(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-code")
    await ask_and_wait(conversation, "Please compute")
    ledger = await NumberLedger.objects.aget(message__conversation=conversation)
    assert ledger.message_id == (await conversation.messages.aget(role="model")).pk


async def test_numbers_are_traced_only_on_request_if_no_result_or_file_precedes_the_answer(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-text")
    await ask_and_wait(conversation, "What is 6 * 7?")
    answer = await conversation.messages.aget(role="model")
    client = AsyncClient()
    await client.aforce_login(await User.objects.aget(pk=conversation.owner_id))
    page = f"/messages/{answer.pk}/numbers/"
    assert (await client.get(page)).status_code == 204
    # A file that is attached after the answer is no source.
    table = await sync_to_async(make_attachment)(answer.conversation.owner)
    await sync_to_async(attach)(await sync_to_async(make_user_message)(conversation), table)
    assert (await client.get(page)).status_code == 204
    assert not await NumberLedger.objects.aexists()
    assert (await client.get(f"{page}?begin")).status_code == 202


def test_line_that_says_no_numbers_is_hidden_unless_the_user_asked_for_the_check() -> None:
    sentence = "No numbers to check"
    assert numbers_html("As in step 1.", []).startswith(f"<summary hidden>{sentence}</summary>")
    assert numbers_html("As in step 1.", [], is_asked=True).startswith(f"<summary>{sentence}</summary>")


async def test_page_starts_tracing_numbers_and_lists_attached_files_that_were_not_read(owner: User) -> None:
    question, answer = await sync_to_async(make_answer)(owner)
    workbook = await sync_to_async(make_attachment)(owner, name="b.xlsx")
    workbook.mime_type = XLSX
    await workbook.asave()
    await sync_to_async(attach)(question, workbook)
    client = AsyncClient()
    await client.aforce_login(owner)
    page = f"/messages/{answer.pk}/numbers/?begin"
    response: Any = await client.get(page)
    assert response.status_code == 202
    async with asyncio.timeout(60):
        while (response := await client.get(page)).status_code == 202:
            await asyncio.sleep(0.05)
    assert "<bdi>b.xlsx</bdi>" in response.content.decode()


async def test_numbers_come_from_the_cells_of_an_attached_workbook(table_kernels: Settings, owner: User) -> None:
    def make(orders: int) -> Attachment:
        rows: list[list[Cell]] = [["city", "orders", "share"], ["Ulm", orders, 0.125], ["Bonn", 240, None]]
        hidden = Sheet("notes", [["secret", 4711]], state="hidden")
        workbook = make_attachment(owner, name="b.xlsx", data=write_xlsx([Sheet("May", rows), hidden]))
        workbook.mime_type = XLSX
        workbook.save()
        return workbook

    def make_question() -> Message:
        answer = make_model_message(
            make_conversation(owner), parts=[(PartKind.TEXT, "Ulm has 815 orders, which is 12.5 %. 4711 is hidden.")]
        )
        assert answer.parent
        attach(answer.parent, former)
        return answer

    former, newer = await sync_to_async(make)(815), await sync_to_async(make)(900)
    answer = await sync_to_async(make_question)()
    await begin_ledger(answer.pk)
    ledger = await NumberLedger.objects.aget(message=answer)
    found = [(one["text"], one["verdict"], one.get("source", {}).get("text")) for one in ledger.numbers]
    assert found == [
        ("815", "file", "Ulm\t815\t0.125"),
        ("12.5 %", "file", "Ulm\t815\t0.125"),
        ("4711", "nowhere", None),
    ]
    assert ledger.unread_files == []
    # Lost numbers of a newer workbook are found by its cells, too.
    find = database_sync_to_async(find_lost_numbers, thread_sensitive=False)
    [lost] = await find(answer.conversation_id, former, newer, {})
    assert lost["text"] == "815"


@pytest.mark.parametrize(("text", "may_act"), [("It is 5.", True), ("Yes.", True), ("It is 5.", False)])
def test_line_that_checks_numbers_is_shown_only_to_owners_and_if_the_answer_has_digits(
    text: str, may_act: bool, owner: User
) -> None:
    answer = make_model_message(make_conversation(owner), parts=[(PartKind.TEXT, text)])
    view = message_view(records_by_id([answer.pk])[answer.pk], replace(OWNER, may_act=may_act))
    assert ('<details class="numbers"' in message_html(view)) == (may_act and "5" in text)
