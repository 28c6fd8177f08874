"""Code of a conversation runs on a newer file: what changed is listed, and the conversation stays as it is."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import AsyncClient
from pytest_django import Settings

from attachments.models import Attachment
from chat.models import Conversation, Message, NewerFileRun, Part, PythonSession
from chat.models.deletion import delete_conversation, find_unsent_files
from chat.models.plain_sql import database_time
from chat.python.newer_files import run as runs
from chat.python.newer_files.results import Results, results_of
from chat.python.newer_files.rows import INTERRUPTED, RUNS_ALREADY
from chat.vocabulary.parts import OUTCOME_OK, CodeExecutionResult, ExecutableCode, Text
from chat.vocabulary.parts import Part as PartValue
from tests.factories import attach, make_attachment, make_conversation, make_model_message, make_user_message
from tests.polling import wait_until_awaited

pytestmark = pytest.mark.django_db(transaction=True)

OLD = b"city,orders,price\nUlm,815,2.5\nBonn,500,3.5\n"
NEWER = b"city,orders,price\nUlm,815,2.5\nBonn,600,3.5\nKiel,5,3.0\n"
CODE = (
    "import pandas as pd\ndf = pd.read_csv('sales.csv')\n"
    "print('orders', df['orders'].sum())\nprint('Ulm', df.loc[df['city'] == 'Ulm', 'orders'].item())\n"
)
ANSWER = "There are 1,315 orders, 815 of them in Ulm. Prices are between 2.5 and 3.5."


def make_analysis(first: str = CODE) -> tuple[Conversation, Attachment]:
    """Return a conversation with a table and an answer with two blocks of code, and the table."""
    conversation = make_conversation()
    question = make_user_message(conversation)
    table = make_attachment(conversation.owner, name="sales.csv", data=OLD)
    attach(question, table)
    answer = make_model_message(conversation, parts=())
    values: list[PartValue] = [
        ExecutableCode(first, "PYTHON"),
        CodeExecutionResult("orders 1315\nUlm 815\n", OUTCOME_OK),
        ExecutableCode("print(df['price'].min(), df['price'].max())", "PYTHON"),
        CodeExecutionResult("2.5 3.5\n", OUTCOME_OK),
        Text(ANSWER),
    ]
    Part.objects.bulk_create(Part.from_value(one, index=index, message=answer) for index, one in enumerate(values))
    Message.objects.filter(pk=answer.pk).update(text=ANSWER)
    return conversation, table


class Person:
    """The owner of an analysis, with the API."""

    def __init__(self, conversation: Conversation, table: Attachment) -> None:
        self.conversation, self.table = conversation, table
        self.client = AsyncClient()

    async def upload(self, data: bytes, name: str = "newer.csv") -> Attachment:
        """Return a file of the person."""
        made: Attachment = await sync_to_async(make_attachment)(self.conversation.owner, name=name, data=data)
        return made

    async def start(self, newer: Attachment, **more: bool) -> tuple[int, dict[str, Any]]:
        """Start a run, and return the status and the JSON."""
        body = {"replaced": str(self.table.pk), "newer": str(newer.pk), **more}
        path = f"/api/v1/conversations/{self.conversation.pk}/newer-files/"
        response: Any = await self.client.post(path, json.dumps(body), content_type="application/json")
        return response.status_code, json.loads(response.content)

    async def results(self, run_id: str) -> dict[str, Any]:
        """Return the JSON of a run that has ended. The API, which answers so many requests a minute, is asked once."""
        await wait_until_awaited(NewerFileRun.objects.filter(pk=run_id, until=None).aexists)
        response: Any = await self.client.get(f"/api/v1/newer-files/{run_id}/")
        found: dict[str, Any] = json.loads(response.content)
        return found


async def new_person(first: str = CODE) -> Person:
    person = Person(*await sync_to_async(make_analysis)(first))
    await person.client.aforce_login(person.conversation.owner)
    return person


def state_of(conversation: Conversation) -> list[Any]:
    """Return what a run must not change."""
    rows = [*Message.objects.filter(conversation=conversation).order_by("index").values()]
    parts = [*Part.objects.filter(message__conversation=conversation).order_by("message", "index").values()]
    return [rows, parts, Conversation.objects.values().get(pk=conversation.pk), PythonSession.objects.count()]


async def test_code_runs_on_the_newer_file_and_the_conversation_is_not_changed(sessions: Settings) -> None:
    person = await new_person()
    before = await sync_to_async(state_of)(person.conversation)
    newer = await person.upload(NEWER)
    status, started = await person.start(newer)
    assert (status, started["state"], started["newer"]["name"]) == (202, "running", "newer.csv")
    results = await person.results(started["id"])
    assert (results["state"], results["verdict"]) == ("done", "differs")
    assert [(one["index"], one["verdict"], one["detail"]) for one in results["blocks"]] == [
        (0, "differs", "Line 1 was “orders 1315” and is now “orders 1420”."),
        (2, "reproduced", "The output is the same."),
    ]
    assert [(one["text"], one["after"], one["line_after"]) for one in results["numbers"]] == [
        ("1,315", "1420", "orders 1420")
    ]
    assert await sync_to_async(state_of)(person.conversation) == before

    page: Any = await person.client.get(f"/newer-files/{started['id']}/")
    html = page.content.decode()
    assert re.findall(r'data-verdict="(\w+)"', html) == ["differs", "reproduced"]
    assert '<b dir="auto">1,315</b> → <b dir="auto">1420</b>' in html
    assert "data-open" not in html
    # The page that started the run shows it again.
    form: Any = await person.client.get(f"/c/{person.conversation.pk}/newer-file/{person.table.pk}/")
    assert f'href="/newer-files/{started["id"]}/"' in form.content.decode()
    # The newer file is not one of the unsent files, which are deleted.
    unsent = find_unsent_files(await sync_to_async(database_time)() + timedelta(hours=1))
    assert newer.pk not in [one async for one in unsent.values_list("pk", flat=True)]
    await sync_to_async(delete_conversation)(person.conversation)
    assert await Attachment.objects.acount() == await NewerFileRun.objects.acount() == 0


async def test_missing_column_is_reported_before_code_runs_on_the_newer_file(sessions: Settings) -> None:
    person = await new_person()
    file = SimpleUploadedFile("march.csv", b"city,orders\nUlm,many\nBonn,few\n")
    page = f"/c/{person.conversation.pk}/newer-file/{person.table.pk}/"
    response: Any = await person.client.post(page, {"file": file})
    html = response.content.decode()
    assert response.status_code == 400
    assert re.findall("<li>(“[^<]*|The type[^<]*)</li>", html) == [
        "The type of “orders” is “text” in “march.csv”, and “whole number” in “sales.csv”.",
        "“march.csv” has no column “price”.",
    ]
    assert await NewerFileRun.objects.acount() == 0
    [newer_id] = re.findall('name="newer" value="(.*?)"', html)
    newer = await Attachment.objects.aget(pk=newer_id)
    status, problem = await person.start(newer)
    assert (status, "has no column “price”" in problem["detail"]) == (409, True)
    # On the page, the person can run the code although a column is missing.
    response = await person.client.post(page, {"newer": newer_id})
    run_id = response.headers["Location"].split("/")[2]
    results = await person.results(run_id)
    assert [one["verdict"] for one in results["blocks"]] == ["differs", "failed"]
    assert results["blocks"][1]["detail"] == "The code failed: “KeyError: 'price'”."
    assert [(one["text"], one["after"]) for one in results["numbers"]] == [
        ("1,315", ""),
        ("815", ""),
        ("2.5", ""),
        ("3.5", ""),
    ]


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("same.csv", OLD, "“same.csv” has the same content as “sales.csv”."),
        ("b.xlsx", b"PK", "“b.xlsx” must end with .csv like “sales.csv”"),
    ],
)
async def test_newer_file_with_the_same_content_or_another_type_is_refused(
    emulated: Settings, name: str, data: bytes, sentence: str
) -> None:
    person = await new_person()
    status, problem = await person.start(await person.upload(data, name))
    assert (status, sentence in problem["detail"]) == (409, True)


async def test_run_is_refused_for_a_conversation_without_code_and_for_an_unknown_file(emulated: Settings) -> None:
    person = await new_person()
    newer = await person.upload(NEWER)
    await Part.objects.all().adelete()
    assert (await person.start(newer))[1]["detail"] == "There is no Python code here that can be run again."
    person.table, table = newer, person.table
    assert (await person.start(newer))[0] == 422
    person.table = table
    assert (await person.start(Attachment()))[1]["errors"] == {"newer": ["There is no such file. Upload it first."]}


async def test_deleting_the_run_stops_its_code(sessions: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "LEASE_S", 0.3)
    person = await new_person("while True:\n    pass\n")
    _, started = await person.start(await person.upload(NEWER))
    assert (await person.start(await person.upload(NEWER)))[1]["detail"] == RUNS_ALREADY
    [task] = runs._tasks[asyncio.get_running_loop()]
    response: Any = await person.client.post(f"/newer-files/{started['id']}/")
    assert response.headers["Location"] == f"/c/{person.conversation.pk}/newer-file/{person.table.pk}/"
    async with asyncio.timeout(60):
        await asyncio.wait({task})
    assert await NewerFileRun.objects.acount() == 0


async def test_run_on_a_newer_file_is_reported_as_interrupted_after_its_process_has_ended(sessions: Settings) -> None:
    person = await new_person("while True:\n    pass\n")
    _, started = await person.start(await person.upload(NEWER))
    await runs.end_all()
    results = await person.results(started["id"])
    assert (results["state"], results["detail"], results["blocks"]) == ("failed", INTERRUPTED, [])
    # A killed process could not store its end.
    now = await sync_to_async(database_time)()
    assert results_of(NewerFileRun(until=now - timedelta(seconds=1)), now) == Results("failed", "", INTERRUPTED)
