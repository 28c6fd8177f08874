"""Arguments of calls: what is accepted, and the sentences for what is not."""

from __future__ import annotations

import pytest

from chat.messages.tool_sets import ToolFailed
from chat.python.tool_set.arguments import RunArguments, read_run_arguments, read_variable_name
from chat.python.tool_set.declarations import declarations
from chat.vocabulary.parts import JSON

LIMIT_S = 120.0


@pytest.mark.parametrize(
    ("arguments", "limit_s"),
    [
        ({"code": "1"}, 60.0),
        ({"code": "1", "timeout_s": None}, 60.0),
        ({"code": "1", "timeout_s": 5}, 5.0),
        ({"code": "1", "timeout_s": 0}, 1.0),
        ({"code": "1", "timeout_s": -3.5}, 1.0),
        ({"code": "1", "timeout_s": 10**9}, LIMIT_S),
        ({"code": "1", "timeout_s": 10**400}, LIMIT_S),
    ],
)
def test_requested_time_limit_is_reduced_to_that_of_the_server(arguments: dict[str, JSON], limit_s: float) -> None:
    assert read_run_arguments(arguments, LIMIT_S) == RunArguments("1", limit_s)


def test_default_time_limit_is_at_most_that_of_the_server() -> None:
    assert read_run_arguments({"code": "1"}, 10.0).limit_s == 10.0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "code must be a text"),
        ({"code": ""}, "code must be a text"),
        ({"code": " \n"}, "code must be a text"),
        ({"code": ["print(1)"]}, "code must be a text"),
        ({"code": "x" * 200_001}, "more than 200,000 characters"),
        ({"code": "1", "timeout_s": "5"}, "timeout_s must be a number"),
        ({"code": "1", "timeout_s": True}, "timeout_s must be a number"),
        ({"code": "1", "timeout_s": float("nan")}, "timeout_s must be a number"),
        ({"code": "1", "language": "r"}, "Unknown arguments: “language”. Known: code, timeout_s."),
    ],
)
def test_invalid_arguments_of_run_python_give_the_model_an_error_sentence(
    arguments: dict[str, JSON], sentence: str
) -> None:
    with pytest.raises(ToolFailed) as caught:
        read_run_arguments(arguments, LIMIT_S)
    assert sentence in str(caught.value)
    assert str(caught.value).endswith("Nothing was run.")


@pytest.mark.parametrize("arguments", [{}, {"name": ""}, {"name": 1}, {"name": "a.b"}, {"name": "x", "deep": True}])
def test_invalid_variable_name_is_refused(arguments: dict[str, JSON]) -> None:
    with pytest.raises(ToolFailed):
        read_variable_name(arguments)
    assert read_variable_name({"name": "größe"}) == "größe"


def test_functions_still_have_the_names_and_parameters_of_stored_calls() -> None:
    known = {function.name: function.parameters.get("properties", {}) for function in declarations(LIMIT_S)}
    parameters = {name: [*properties] for name, properties in known.items() if isinstance(properties, dict)}
    assert parameters == {
        "run_python": ["code", "timeout_s"],
        "list_variables": [],
        "inspect_variable": ["name"],
        "list_files": [],
        "reset_session": [],
    }
