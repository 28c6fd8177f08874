"""The CSV export of review results, which a spreadsheet must not evaluate as formulas."""

from __future__ import annotations

import csv
import io

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient

from chat.admin.review_csv import FORMULA_PREFIXES, escape_cell
from chat.models import Conversation, Review, ReviewDecision
from tests.chat.admin.actions import stream_action
from tests.chat.admin.factories import make_account
from tests.factories import make_conversation, make_model_message, make_user


def make_conversations_with_formulas() -> list[Conversation]:
    """Return three conversations whose title, owner, label and note begin with formulas; the first one is flagged."""
    conversations = [
        make_conversation(make_user(f"-user{number}"), title=f"={number}+cmd|'/c calc'!A0") for number in range(3)
    ]
    make_model_message(conversations[0])
    boss = make_account("superuser")
    ids, labels = [conversations[0].pk], ["@x", "b"]
    Review.objects.decide(ids, boss, ReviewDecision.FLAGGED, note='+1, "quoted"\nline', labels=labels)
    return conversations


@pytest.mark.django_db(transaction=True)
async def test_csv_of_results_has_one_row_per_conversation_with_escaped_cells() -> None:
    conversations = await sync_to_async(make_conversations_with_formulas)()
    client = AsyncClient()
    await client.aforce_login(await sync_to_async(make_account)("reviewer"))
    stream = await stream_action(client, "export_results", conversations[:1])
    text = b"".join([block async for block in stream]).decode()
    rows = {row["conversation"]: row for row in csv.DictReader(io.StringIO(text))}
    assert set(rows) == {str(conversation.pk) for conversation in conversations}
    row = rows[str(conversations[0].pk)]
    expected = {
        "title": "'=0+cmd|'/c calc'!A0",
        "user": "'-user0",
        "labels": "'@x, b",
        "note": '\'+1, "quoted"\nline',
        "state": "flagged",
        "decided_by": "superuser",
        "messages": "2",
        "tokens": "7",
    }
    assert {column: row[column] for column in expected} == expected


@pytest.mark.parametrize("prefix", FORMULA_PREFIXES)
@pytest.mark.parametrize("rest", ["1+1", "cmd|' /C calc'!A0", "", 'HYPERLINK("http://x","y")'])
def test_possible_formulas_are_escaped(prefix: str, rest: str) -> None:
    assert escape_cell(prefix + rest) == f"'{prefix}{rest}"
    assert escape_cell(f"  {prefix}{rest}") == f"'  {prefix}{rest}"


@pytest.mark.parametrize("value", ["plain", "a=b", "1", 7, "", "'quoted"])
def test_cells_that_are_no_formulas_are_not_changed(value: object) -> None:
    assert escape_cell(value) == str(value)
