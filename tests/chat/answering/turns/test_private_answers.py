"""Private conversations: a model that gets only filtered results answers questions right that need no row."""

from __future__ import annotations

import csv
import json
import random
import re
import subprocess
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from io import StringIO
from typing import TypeAlias

import pytest
from channels.db import database_sync_to_async
from pytest_django import Settings

from chat.messages.code_results import shown_text
from chat.models import Part, Turn
from chat.vocabulary.parts import CodeExecutionResult, Display, ExecutableCode, PartKind
from tests.chat.answering.turns.session_turns import ask_with_files, make_file, responses_of
from tests.chat.turn_driver import ask_and_wait, new_conversation, parts_of
from tests.environment import ROOT
from tests.scenarios.private_questions import PRIVATE_QUESTIONS, SEPARATOR, PrivateQuestion

pytestmark = pytest.mark.django_db(transaction=True)

Truths: TypeAlias = Mapping[PrivateQuestion, Sequence[float | str]]
REGIONS = ("Bavaria", "Saxony", "Hesse", "Berlin", "Bremen")
PRODUCTS = ("Lantern", "Kettle", "Hammock", "Tripod", "Blanket", "Compass", "Thermos", "Rucksack")
COMPUTE = """
import json, sys
import numpy as np, pandas as pd
from io import StringIO
from scipy import stats
tables, questions = json.load(sys.stdin)
tables = {name: pd.read_csv(StringIO(text)) for name, text in tables.items()}
found = [eval(truth.replace("\\n", " "), {"t": tables[file], "np": np, "stats": stats}) for file, truth in questions]
print(json.dumps(found, default=float))
"""


def sales(rng: random.Random) -> list[Sequence[object]]:
    rows: list[Sequence[object]] = [("order", "date", "region", "product", "price", "quantity", "revenue", "discount")]
    for order in range(482):
        day = datetime(2023, 1, 1) + timedelta(days=rng.randrange(731))
        price, quantity = round(rng.uniform(4, 90), 2), rng.randrange(1, 40)
        discount = rng.choice(["", 0.05, 0.1, 0.15, 0.2])
        where = rng.choice(REGIONS), rng.choice(PRODUCTS)
        rows.append((10_001 + order, f"{day:%Y-%m-%d}", *where, price, quantity, round(price * quantity, 2), discount))
    return rows


def patients(rng: random.Random) -> list[Sequence[object]]:
    rows: list[Sequence[object]] = [("patient", "arm", "sex", "age", "weight", "before", "after")]
    for number in range(240):
        arm, age, before = rng.choice(["placebo", "treatment"]), rng.randrange(31, 84), rng.randrange(128, 185)
        fall = rng.gauss(9 if arm == "treatment" else 3, 7)
        weight = round(rng.gauss(78, 12), 1)
        rows.append((f"P{number:03}", arm, rng.choice("mf"), age, weight, before, round(before - fall + age / 12)))
    return rows


def sensors(rng: random.Random) -> list[Sequence[object]]:
    rows: list[Sequence[object]] = [("time", "room", "temperature", "humidity")]
    for hour in range(480):
        moment = datetime(2025, 3, 1) + timedelta(hours=hour)
        for warmth, room in enumerate(("cellar", "kitchen", "office")):
            temperature = round(15 + 3 * warmth - abs(moment.hour - 15) / 3 + rng.gauss(0, 1.2), 2)
            humidity = "" if rng.random() < 0.03 else round(70 - temperature + rng.gauss(0, 4), 1)
            rows.append((f"{moment:%Y-%m-%d %H:%M}", room, temperature, humidity))
    return rows


def survey(rng: random.Random) -> list[Sequence[object]]:
    rows: list[Sequence[object]] = [("respondent", "department", "satisfaction", "salary", "years")]
    for number in range(60):
        years = rng.randrange(31)
        salary = 38_000 + 900 * years + rng.randrange(-6_000, 9_000) + (60_000 if number == 17 else 0)
        department = rng.choice(["Finance", "Logistics", "Research", "Support"])
        rows.append((number + 1, department, rng.randrange(1, 6), salary, years))
    return rows


def make_tables(seed: int) -> dict[str, str]:
    rng = random.Random(seed)
    tables = {make.__name__: make(rng) for make in (sales, patients, sensors, survey)}
    return {f"{name}.csv": "".join(",".join(map(str, row)) + "\n" for row in rows) for name, rows in tables.items()}


def right_figures(tables: dict[str, str], questions: Sequence[PrivateQuestion]) -> Truths:
    """Compute the right figures with pandas, outside of the product."""
    asked = json.dumps([tables, [(one.file, one.truth) for one in questions]])
    command = [str(ROOT / ".venv-kernel/bin/python"), "-c", COMPUTE]
    found = subprocess.run(command, input=asked, capture_output=True, text=True, check=True, timeout=150)
    return dict(zip(questions, json.loads(found.stdout), strict=True))


def is_right(figure: str, truth: float | str, shown: str) -> bool:
    """Return whether a figure of an answer is right. `shown`: the output that the reader sees in its place."""
    if isinstance(truth, str):
        # The model has a label such as [text 1]. At its place in the output, the reader sees the text itself.
        return shown == truth and re.fullmatch(r"\[text \d+\]", figure) is not None
    if not re.search(r"\d", figure):
        return False
    plain = figure.replace(",", "")
    digits = len(plain.partition("e")[0].partition(".")[2])
    unit = 10.0 ** (int(plain.partition("e")[2] or 0) - digits)
    return abs(float(plain) - truth) <= 0.501 * unit + 1e-9 * abs(truth)


async def problem_of(turn: Turn, question: PrivateQuestion, truth: Sequence[float | str]) -> str:
    """Return what is wrong with the answer to a question; empty if it is right."""
    parts = await parts_of(turn)
    last = max(index for index, part in enumerate(parts) if isinstance(part, ExecutableCode))
    shown = question.figures(
        shown_text(part for part in parts[last:] if isinstance(part, CodeExecutionResult | Display))
    )
    figures = turn.message.text.split(SEPARATOR) if turn.message else []
    if len(figures) == len(truth) and all(map(is_right, figures, truth, shown)):
        return ""
    return f"{question.text}\n  {figures}, right are {truth}; the model got {await responses_of(turn)}"


async def ask_all(tables: dict[str, str], truths: Truths) -> list[str]:
    """Ask the questions, in one private conversation for each table, and return what is wrong with the answers."""
    columns = {"model": "scenario-answer-from-output", "code_execution": "on", "engine": "session"}
    problems: list[str] = []
    for name in sorted({one.file for one in truths}):
        conversation = await new_conversation(**columns, private_data=True)
        file = await database_sync_to_async(make_file)(conversation, name, tables[name].encode())
        turn = None
        for question in (one for one in truths if one.file == name):
            ask = (
                ask_and_wait(conversation, question.text) if turn else ask_with_files(conversation, question.text, file)
            )
            turn = await ask
            problems.append(await problem_of(turn, question, truths[question]))
    return [one for one in problems if one]


async def test_answer_about_regions_in_private_data_has_the_right_labels_and_figures(sessions: Settings) -> None:
    tables = make_tables(0)
    totals = dict.fromkeys(REGIONS, 0.0)
    for row in csv.DictReader(StringIO(tables["sales.csv"])):
        totals[row["region"]] += float(row["revenue"])
    [question] = [one for one in PRIVATE_QUESTIONS if "each region" in one.text]
    truth: list[float | str] = [part for region in sorted(totals) for part in (region, totals[region])]
    assert await ask_all(tables, {question: truth}) == []


@pytest.mark.drill
@pytest.mark.parametrize("seed", range(5))
async def test_all_questions_about_private_tables_are_answered_with_the_right_figures(
    sessions: Settings, seed: int
) -> None:
    tables = make_tables(seed)
    problems = await ask_all(tables, right_figures(tables, PRIVATE_QUESTIONS))
    again = await Part.objects.filter(kind=PartKind.FUNCTION_CALL).acount() - len(PRIVATE_QUESTIONS)
    right = len(PRIVATE_QUESTIONS) - len(problems)
    print(f"{right} of {len(PRIVATE_QUESTIONS)} questions are answered right, {again} of them with more digits")
    assert problems == []
