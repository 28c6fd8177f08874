"""`manage.py stats` prints the statistics of the overview as text and as JSON."""

from __future__ import annotations

import io
import json
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command

from chat.models import Turn
from tests.factories import make_attachment, make_conversation, make_model_message

pytestmark = pytest.mark.django_db


def run_stats(*arguments: str) -> str:
    out = io.StringIO()
    call_command("stats", *arguments, stdout=out)
    return out.getvalue()


def test_json_contains_all_statistics_and_no_content() -> None:
    conversation = make_conversation(title="Zebrafinch")
    for cost in ("0.5", "0.25"):
        make_model_message(conversation, cost=cost)
    make_attachment(conversation.owner, data=b"12345")
    statistics = json.loads(run_stats("--json", "--days", "3"))
    assert "Zebrafinch" not in json.dumps(statistics)
    assert (statistics["days"], statistics["turns"], statistics["users"], statistics["tokens"]) == (3, 2, 1, 14)
    assert Decimal(statistics["cost"]) == Decimal("0.75")
    *empty, today = statistics["by_day"]
    assert [(day["turns"], day["first_part_p50_s"]) for day in empty] == [(0, None), (0, None)]
    assert (today["turns"], today["users"]) == (2, 1)
    assert today["first_part_p95_s"] == pytest.approx(2, abs=0.5)
    assert [(row["model"], row["turns"]) for row in statistics["by_model"]] == [("plotline-demo", 2)]
    assert statistics["by_day_and_model"] == [{"day": today["day"], **statistics["by_model"][0]}]
    assert statistics["uploads"] == [{"age": "under a minute", "status": "pending", "files": 1, "size_bytes": 5}]
    assert (statistics["cut_short"], statistics["live_turns"]) == ({}, [])


def test_json_has_no_control_characters_for_a_terminal() -> None:
    make_model_message(make_conversation())
    Turn.objects.update(model="a\x9b31m\u202eb")
    printed = run_stats("--json")
    assert printed.isascii()
    assert [row["model"] for row in json.loads(printed)["by_model"]] == ["a\x9b31m\u202eb"]


def test_columns_of_printed_statistics_are_aligned() -> None:
    make_model_message(make_conversation(), cost="0.5")
    lines = run_stats("--days", "2").splitlines()
    assert "1 turns of 1 users: 7 tokens," in lines
    head, yesterday, today = lines[lines.index("By day") + 1 :][:3]
    assert len(head) == len(yesterday) == len(today)
    assert today.split()[1:5] == ["1", "1", "7", "$0.50"]
    assert yesterday.split()[1:] == ["0", "0", "0", "$0", "-", "-"]
    assert "Live turns: none" in lines


@pytest.mark.parametrize("days", ["0", "-1", "99999"])
def test_invalid_number_of_days_is_refused(days: str) -> None:
    with pytest.raises(CommandError, match="--days must be between"):
        run_stats(f"--days={days}")
