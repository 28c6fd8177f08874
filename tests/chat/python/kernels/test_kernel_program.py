"""Programs run as expressions, touch no name of the user, and their answers are validated."""

from __future__ import annotations

import builtins
import json
import threading
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.python.kernels import kernel_program
from chat.python.kernels.kernel_client import KernelClient
from chat.python.kernels.kernel_program import ProgramFailed, parse_answer, program_content
from chat.python.kernels.request_runner import End, RequestRunner

if TYPE_CHECKING:
    from chat.python.kernels.kernel_api import KernelApi
    from chat.python.kernels.kernel_websocket import KernelWebSocket

MIME_TYPE = "application/vnd.plotline.answer"


def reply(data: object) -> dict[str, object]:
    """Return the content of a reply with this data."""
    return {"user_expressions": {"answer": {"status": "ok", "data": data}}}


def evaluate(content: Mapping[str, Any], namespace: dict[str, object]) -> Mapping[str, object]:
    """Evaluate the program as a kernel does, and return its parsed answer."""
    answer = eval(content["user_expressions"]["answer"], namespace)
    return parse_answer(reply(answer._repr_mimebundle_()), 10**6)


def test_program_in_the_kernel_describes_a_variable_and_adds_no_names() -> None:
    namespace: dict[str, object] = {"x": 41, "__builtins__": builtins}
    answer = evaluate(program_content("variables", "describe", "x"), namespace)
    assert "41" in str(answer["text"])
    assert set(namespace) == {"x", "__builtins__"}


def test_program_works_if_variables_of_the_user_have_the_names_that_it_uses() -> None:
    taken = dict.fromkeys(["exec", "json", "lambda_", "print", "str", "len", "ns", "f", "b", "Answer", "main"], 0)
    namespace: dict[str, object] = {**taken, "__builtins__": builtins}
    answer = evaluate(program_content("variables", "describe", "len"), namespace)
    assert "0" in str(answer["text"])


@given(st.text())
def test_program_accepts_any_text_as_an_argument(name: str) -> None:
    """Quotes, line ends and lone surrogates do not end the expression."""
    namespace: dict[str, object] = {"__builtins__": builtins, name: 7}
    answer = evaluate(program_content("variables", "describe", name), namespace)
    assert isinstance(answer["text"], str)


async def test_program_is_read_in_another_thread_before_it_is_run_for_the_first_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads: list[threading.Thread] = []

    def read(module: str) -> str:
        threads.append(threading.current_thread())
        return "''"

    async def run(*_: object, **__: object) -> End:
        return End.COMPLETED

    monkeypatch.setattr(kernel_program, "_source", cache(read))
    monkeypatch.setattr(kernel_program, "_loaded", set())
    monkeypatch.setattr(RequestRunner, "run", run)
    monkeypatch.setattr(RequestRunner, "is_alive", True)
    kernel = KernelClient(cast("KernelWebSocket", None), cast("KernelApi", None), cast("Any", None))
    for _ in range(2):
        with pytest.raises(ProgramFailed):
            await kernel.prepare()
    assert len(threads) == 1
    assert threads[0] is not threading.main_thread()


def test_error_of_a_program_is_cleaned_and_shortened() -> None:
    failed = {
        "user_expressions": {"answer": {"status": "error", "ename": "A\0", "evalue": "\x1b[31m\ud800" + "b" * 999}}
    }
    with pytest.raises(ProgramFailed) as error:
        parse_answer(failed, 10**6)
    assert str(error.value).startswith("A\ufffd: \ufffdbbb")
    assert len(str(error.value)) <= 300


def test_program_is_sent_in_a_silent_request_with_empty_code() -> None:
    content = program_content("variables", "contents")
    assert (content["code"], content["silent"], content["store_history"]) == ("", True, False)
    json.dumps(content)


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"user_expressions": []},
        {"user_expressions": {}},
        {"user_expressions": {"answer": "7"}},
        {"user_expressions": {"answer": {"status": "error", "ename": "MemoryError", "evalue": "x" * 1000}}},
        reply(None),
        reply({}),
        reply({MIME_TYPE: {"a": 1}}),
        reply({MIME_TYPE: "["}),
        reply({MIME_TYPE: "[" * 100_000}),
        reply({MIME_TYPE: "[]"}),
        reply({MIME_TYPE: '{"a": "' + "b" * 300_000 + '"}'}),
    ],
)
def test_reply_without_a_valid_result_raises_program_failed(content: dict[str, object]) -> None:
    with pytest.raises(ProgramFailed) as error:
        parse_answer(content, 200_000)
    assert len(str(error.value)) <= 300


def test_length_of_a_programs_result_is_limited() -> None:
    text = json.dumps({"a": "b"})
    assert parse_answer(reply({MIME_TYPE: text}), len(text)) == {"a": "b"}
    with pytest.raises(ProgramFailed):
        parse_answer(reply({MIME_TYPE: text}), len(text) - 1)


def test_program_of_several_modules_runs_in_the_kernel_without_importing_plotline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("a,b\n1,x\n")
    content = program_content("tables", "a.csv", "{}")
    assert "chat." not in str(content)
    answer = evaluate(content, {"__builtins__": builtins})
    assert (answer["row_count"], answer["column_count"]) == (1, 2)
