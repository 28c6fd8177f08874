"""Results for the model: bounded, and they say what was cut."""

from __future__ import annotations

from chat.python.kernels.outputs import ErrorOutput, Execution, ExecutionStatus, TextOutput
from chat.python.sessions.run import CellResult
from chat.python.tool_set.responses import cell_response, fitting_items
from chat.vocabulary.bounded_output import OUTPUT_LIMIT_CHARS, shortened
from chat.vocabulary.parts import JSONObject, WrittenFile


def result(text: str, *, status: ExecutionStatus = ExecutionStatus.OK, is_truncated: bool = False) -> CellResult:
    """Return the result of a cell that printed a text."""
    return CellResult(Execution(status, (TextOutput("stdout", text),), 0.1, is_truncated), ())


def test_response_to_the_model_has_the_output_the_number_of_graphs_and_the_new_files() -> None:
    file = WrittenFile("out.csv", 5, "2026-01-31T12:00:00+00:00", is_new=True)
    cell = CellResult(result("42\n").execution, ("It was restarted.",), (file,))
    assert cell_response(cell, 2) == {
        "outcome": "success",
        "output": "42\n",
        "graphs": 2,
        "files": [{"name": "out.csv", "size_bytes": 5}],
        "note": "It was restarted.",
    }


def test_each_execution_status_has_its_outcome_in_the_response() -> None:
    outcomes = [cell_response(result("", status=status), 0)["outcome"] for status in ExecutionStatus]
    assert outcomes == ["success", "error", "timeout", "error"]


def test_data_uri_in_the_output_is_replaced_by_its_type_and_length() -> None:
    response = cell_response(result(f"<img src='data:image/png;base64,{'iVBO' * 30_000}'>\n"), 0)
    assert response["output"] == "<img src='[image/png, 120,000 characters of base64]'>\n"
    assert "note" not in response


def test_long_output_keeps_its_beginning_and_its_end() -> None:
    text = "".join(f"line {number}\n" for number in range(10_000))
    response = cell_response(result(text), 0)
    output = response["output"]
    assert isinstance(output, str)
    assert output.startswith("line 0\n")
    assert output.endswith("line 9999\n")
    assert len(output) < OUTPUT_LIMIT_CHARS + 100
    assert "characters are left out here" in output
    assert "its middle is left out" in str(response["note"])
    assert shortened("x" * OUTPUT_LIMIT_CHARS) == "x" * OUTPUT_LIMIT_CHARS


def test_error_at_the_end_of_a_long_output_reaches_the_model() -> None:
    outputs = (TextOutput("stdout", "x" * 100_000), ErrorOutput("ValueError", "bad", "Traceback\nValueError: bad"))
    cell = CellResult(Execution(ExecutionStatus.FAILED, outputs, 0.1, is_truncated=True), ())
    response = cell_response(cell, 0)
    assert str(response["output"]).endswith("ValueError: bad\n")
    assert "more than is kept" in str(response["note"])


def test_response_lists_at_most_50_files_and_says_how_many_were_left_out() -> None:
    files = tuple(WrittenFile(f"{number}.csv", 1, "", is_new=True) for number in range(60))
    response = cell_response(CellResult(result("").execution, (), files), 0)
    assert isinstance(response["files"], list)
    assert len(response["files"]) == 50
    assert "10 more files were written" in str(response["note"])


def test_list_is_cut_to_a_maximum_number_of_characters() -> None:
    items: list[JSONObject] = [{"name": "x" * (OUTPUT_LIMIT_CHARS // 5 - 14)} for _ in range(10)]
    fitting, left_out = fitting_items(items)
    assert (len(fitting), left_out) == (5, 5)
