"""`manage.py stats`: the overview's numbers, to read and for programs."""

from __future__ import annotations

import io
import json
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command

from tests.factories import make_attachment, make_conversation, make_model_message

pytestmark = pytest.mark.django_db


def said(*arguments: str) -> str:
    out = io.StringIO()
    call_command("stats", *arguments, stdout=out)
    return out.getvalue()


def test_json_holds_every_number() -> None:
    conversation = make_conversation(title="Zebrafinch")
    for cost in ("0.5", "0.25"):
        make_model_message(conversation, cost=cost)
    make_attachment(conversation.owner, data=b"12345")
    found = json.loads(said("--json", "--days", "3"))
    assert "Zebrafinch" not in json.dumps(found)
    assert (found["days"], found["turns"], found["users"], found["tokens"]) == (3, 2, 1, 14)
    assert Decimal(found["cost"]) == Decimal("0.75")
    *empty, today = found["by_day"]
    assert [(day["turns"], day["first_part_p50_s"]) for day in empty] == [(0, None), (0, None)]
    assert (today["turns"], today["users"]) == (2, 1)
    assert today["first_part_p95_s"] == pytest.approx(2, abs=0.5)
    assert [(row["model"], row["turns"]) for row in found["by_model"]] == [("plotline-demo", 2)]
    assert found["by_day_and_model"] == [{"day": today["day"], **found["by_model"][0]}]
    assert found["uploads"] == [{"age": "under a minute", "status": "pending", "files": 1, "size_bytes": 5}]
    assert (found["cut_short"], found["live_turns"]) == ({}, [])


def test_text_is_aligned() -> None:
    make_model_message(make_conversation(), cost="0.5")
    lines = said("--days", "2").splitlines()
    assert "1 turns of 1 users: 7 tokens," in lines
    head, yesterday, today = lines[lines.index("By day") + 1 :][:3]
    assert len(head) == len(yesterday) == len(today)
    assert today.split()[1:5] == ["1", "1", "7", "$0.50"]
    assert yesterday.split()[1:] == ["0", "0", "0", "$0", "-", "-"]
    assert "Live turns: none" in lines


@pytest.mark.parametrize("days", ["0", "-1", "99999"])
def test_number_of_days_that_is_none_is_refused(days: str) -> None:
    with pytest.raises(CommandError, match="--days must be between"):
        said(f"--days={days}")
