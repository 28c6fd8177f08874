"""The work of a provider's tool in words."""

from __future__ import annotations

import pytest

from chat.page.rendering.provider_tools import LINES_LIMIT, TEXT_LIMIT_CHARS, ToolLine, ToolWork, tool_work
from chat.vocabulary.parts import ToolCall, ToolResponse


@pytest.mark.parametrize(
    ("part", "work"),
    [
        (
            ToolCall("GOOGLE_SEARCH_WEB", {"queries": ["a  b", "c"]}),
            ToolWork("Searched the web", "a b; c", (ToolLine("queries", "a b; c"),)),
        ),
        (
            ToolResponse("GOOGLE_SEARCH_WEB", {"search_suggestions": "<style>a</style>"}),
            ToolWork(
                "Results of the web search",
                "",
                (ToolLine("search_suggestions", "16 characters of HTML, not shown", is_described=True),),
            ),
        ),
        (ToolCall("URL_CONTEXT"), ToolWork("Opened web pages", "", ())),
        (
            ToolCall("TELEPATHY", {"to": {"name": "x"}, "loud": True, "list": [{}]}),
            ToolWork(
                "Used a tool of the model's service",
                "TELEPATHY",
                (
                    ToolLine("to", "1 entry", is_described=True),
                    ToolLine("loud", "true"),
                    ToolLine("list", "1 entry", is_described=True),
                ),
            ),
        ),
        (ToolResponse(), ToolWork("Result of a tool of the model's service", "", ())),
    ],
)
def test_work_of_a_providers_tool_is_described_in_words(part: ToolCall | ToolResponse, work: ToolWork) -> None:
    assert tool_work(part) == work


def test_long_arguments_and_results_of_a_tool_are_shortened() -> None:
    work = tool_work(ToolResponse("X", {str(number): "y" * 9_999 for number in range(99)}))
    assert len(work.lines) == LINES_LIMIT
    assert all(len(value) == TEXT_LIMIT_CHARS for _, value, _ in work.lines)
