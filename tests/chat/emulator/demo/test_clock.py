"""Questions about date and time: the demo model answers them from the server's note, or refuses them."""

from __future__ import annotations

import pytest

from chat.emulator.demo.plan import answer_clock
from chat.emulator.generation_request import GenerationRequest, parse_generation_request

NOTE = "[Note of the server: it is Thursday, 26 November 2026, 16:55, in the zone Europe/Berlin (UTC+01:00).]"


def request(*texts: str) -> GenerationRequest:
    """Return a request whose only content has these texts."""
    parts = [{"text": text} for text in texts]
    return parse_generation_request("m", {"contents": [{"role": "user", "parts": parts}]}, "id")


DATE = request("?", NOTE).date


@pytest.mark.parametrize(
    ("prompts", "words"),
    [
        (
            ["What day is it today?", "What is the date?", "what time is it", "Do you know what day it is?"],
            "**Thursday, 26 November 2026, 16:55**, in the time zone Europe/Berlin (UTC+01:00)",
        ),
        (
            ["Welcher Tag ist heute?", "Welches Datum haben wir heute?", "Wie spät ist es gerade?"],
            "**Donnerstag, 26. November 2026, 16:55 Uhr**, in der Zeitzone Europe/Berlin (UTC+01:00)",
        ),
        (
            ["今天星期几？", "今天是几号", "现在几点了"],
            "**2026 年 11 月 26 日星期四 16:55**，时区为 Europe/Berlin (UTC+01:00)",
        ),
    ],
    ids=["en", "de", "zh"],
)
def test_question_about_date_or_time_is_answered_from_the_servers_note_about_the_time(
    prompts: list[str], words: str
) -> None:
    assert [prompt for prompt in prompts if words not in answer_clock(prompt, DATE)] == []
    assert [prompt for prompt in prompts if "2026" in answer_clock(prompt, {}) or not answer_clock(prompt, {})] == []


@pytest.mark.parametrize(
    "prompt",
    [
        "What time is it in Tokyo?",
        "What day is it tomorrow?",
        "What is the date of Easter?",
        "Plot the date",
        "明天星期几",
    ],
)
def test_question_about_another_day_or_place_is_not_answered_with_the_present_time(prompt: str) -> None:
    assert answer_clock(prompt, DATE) == ""


def test_servers_note_about_the_time_is_not_read_as_part_of_the_question() -> None:
    asked = request("[1, 2]", "mean of 3, 5, 8", NOTE)
    assert asked.prompt == "mean of 3, 5, 8"
    assert dict(asked.date) == {
        "weekday": "Thursday",
        "day": "26",
        "month": "November",
        "year": "2026",
        "time": "16:55",
        "zone": "Europe/Berlin (UTC+01:00)",
    }
    assert request("What day is it?").date == {}
