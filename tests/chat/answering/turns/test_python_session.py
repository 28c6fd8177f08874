"""Turns whose code runs in the Python session: real kernels, against the emulator of Gemini."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path

import pytest
from asgiref.sync import sync_to_async
from pytest_django import Settings

from chat.answering.turns.runner import Runner, start_turn, stop_turn
from chat.models import CLEARED_INDEX, MessageAttachment, PythonSession, Turn
from chat.vocabulary.parts import (
    OUTCOME_FAILED,
    OUTCOME_OK,
    CodeExecutionResult,
    Display,
    Engine,
    ExecutableCode,
    FunctionCall,
    FunctionResponse,
    InlineData,
)
from tests.attachments.conftest import png
from tests.chat.answering.turns.session_turns import (
    ask_with_files,
    make_file,
    outputs_of,
    responses_of,
    session_conversation,
)
from tests.chat.turn_driver import Tab, ask_and_wait, fresh_page, make_question, parts_of
from tests.parsed_html import ParsedHtml

pytestmark = pytest.mark.django_db(transaction=True)


async def test_variables_are_kept_from_turn_to_turn(sessions: Settings) -> None:
    conversation = await session_conversation()
    tab = Tab(conversation.pk)
    for question, output in (("x = 20", ""), ("x += 1\nx", "21\n"), ("print(2 * x)", "42\n")):
        turn = await ask_and_wait(conversation, question, tab)
        assert turn.status == "done"
        assert turn.engine == Engine.SESSION
        assert await outputs_of(turn) == [output]
    parts = await parts_of(turn)
    assert [type(part) for part in parts[:4]] == [FunctionCall, ExecutableCode, CodeExecutionResult, FunctionResponse]
    call = parts[0]
    assert isinstance(call, FunctionCall)
    assert parts[1] == ExecutableCode("print(2 * x)", "PYTHON", call.call_id, Engine.SESSION, made_by=call.call_id)
    assert isinstance(parts[2], CodeExecutionResult)
    assert parts[2].duration_ms is not None
    assert replace(parts[2], duration_ms=None) == CodeExecutionResult(
        output="42\n", outcome=OUTCOME_OK, call_id=call.call_id, engine=Engine.SESSION, made_by=call.call_id
    )
    assert tab.page.transcript == await fresh_page(conversation)
    session = await PythonSession.objects.aget(conversation=conversation)
    assert (session.state, session.generation, session.execution_count) == ("running", 1, 3)
    assert [variable["name"] for variable in session.variables] == ["x"]
    assert session.last_message_id == turn.message_id


async def test_page_and_model_get_a_list_of_the_changes_in_tables(sessions: Settings) -> None:
    conversation = await session_conversation()
    tab = Tab(conversation.pk)
    await ask_and_wait(
        conversation, "import pandas as pd\ncities = pd.DataFrame({'city': list('aab'), 'n': [1, 2, 3]})", tab
    )
    code = """
sales = pd.DataFrame({"city": list("abca") * 5, "price": [1.5, None] * 10})
joined = sales.merge(cities, on="city")
print(len(joined))
sales = sales.dropna()
"""
    turn = await ask_and_wait(conversation, code, tab)
    lines = (
        "A merge made 25 rows of 20: keys occur more than once in the other table",
        "`sales`: new, 10 rows; duplicate rows 8",
        "`joined`: made from `cities`; 3 -> 25 rows; duplicate rows 0 -> 20; new column `price`; `price` missing 15",
    )
    [result] = [part for part in await parts_of(turn) if isinstance(part, CodeExecutionResult)]
    assert result.table_changes == lines
    [response] = await responses_of(turn)
    assert response["changed_tables"] == list(lines)
    page = await fresh_page(conversation)
    assert tab.page.transcript == page
    assert '<p class="muted" data-table-change><code>sales</code>: new, 10 rows; duplicate rows 8</p>' in page
    session = await PythonSession.objects.aget(conversation=conversation)
    previews = {variable["name"]: variable["preview"] for variable in session.variables}
    assert previews["joined"] == "columns 'city', 'price' (15 missing), 'n'"
    await ask_and_wait(conversation, "sales['price'] *= 100", tab)
    assert "<code>sales</code>: <code>price</code> all values times 100</p>" in tab.page.transcript


async def test_page_shows_missing_cells_of_a_column_that_code_of_a_later_answer_reads(sessions: Settings) -> None:
    conversation = await session_conversation()
    tab = Tab(conversation.pk)
    await ask_and_wait(
        conversation, "import pandas as pd\nsales = pd.DataFrame({'price': [1, None, 3], 'n': [1, 2, 3]})", tab
    )
    found = []
    mean = "print(sales['price'].mean())"
    for code in (mean, "print(sales.n.mean())", "sales['price'] = sales.price.fillna(0)", mean):
        turn = await ask_and_wait(conversation, code, tab)
        [result] = [part for part in await parts_of(turn) if isinstance(part, CodeExecutionResult)]
        found.append((result.table_changes, result.missing_cells))
        if code == mean:
            assert "Missing cells in “price”: 1." in tab.page.transcript
            assert tab.page.transcript == await fresh_page(conversation)
    assert found == [
        ((), ("`sales`: `price` missing 1",)),
        ((), ()),
        (("`sales`: `price` missing 1 -> 0",), ()),
        ((), ()),
    ]
    assert tab.page.transcript.count("Missing cells in “price”") == 1


async def test_output_that_code_updates_is_shown_only_in_its_last_form(sessions: Settings) -> None:
    conversation = await session_conversation()
    tab = Tab(conversation.pk)
    code = """
import sys, time, pandas, matplotlib.pyplot as plt
from IPython.display import clear_output, display, Markdown
for epoch in range(4):
    clear_output(wait=True)
    plt.plot([epoch, 1]); plt.show()
    print("epoch", epoch)
    time.sleep(0.2)
handle = display(Markdown("*working*"), display_id=True)
table = display(pandas.DataFrame({"step": [0]}), display_id="t")
for step in range(1, 51):
    sys.stderr.write(f"\\rtraining {step}/50"); sys.stderr.flush()
sys.stderr.write("\\n")
table.update(pandas.DataFrame({"step": [0, 1, 2, 3]}))
handle.update(Markdown("**finished**"))
"""
    turn = await ask_and_wait(conversation, code, tab)
    assert turn.status == "done"
    graph, epoch, finished, table, bar = [part for part in await parts_of(turn) if part.made_by][1:-1]
    assert isinstance(graph, InlineData)
    assert isinstance(epoch, CodeExecutionResult)
    assert epoch.output == "epoch 3\n"
    assert isinstance(finished, Display)
    assert finished.bundle["text/markdown"] == "**finished**"
    assert isinstance(table, Display)
    assert "3" in str(table.bundle["text/plain"])
    assert isinstance(bar, CodeExecutionResult)
    assert (bar.output, bar.outcome) == ("training 50/50\n", OUTCOME_OK)
    assert bar.cleared[:3] == ("epoch 0", "epoch 1", "epoch 2")
    [response] = await responses_of(turn)
    assert response["graphs"] == 1
    assert "working" not in response["output"]
    assert "training 50/50\n" in response["output"]
    assert "training 49" not in response["output"]
    indexes = [one.index async for one in MessageAttachment.objects.filter(message=turn.message_id).order_by("index")]
    assert indexes == [0, *range(CLEARED_INDEX, CLEARED_INDEX + len(indexes) - 1)]
    assert len(indexes) > 1
    page = await fresh_page(conversation)
    assert tab.page.transcript == page
    assert page.count("data-graph-index") == 1
    details = ParsedHtml(page).only(class_="fold cleared")
    assert "epoch 0" in details.text
    assert "step" in details.text


async def test_graphs_and_text_and_tables_are_shown_in_the_order_of_the_code(sessions: Settings) -> None:
    conversation = await session_conversation()
    tab = Tab(conversation.pk)
    code = """
import matplotlib.pyplot as plt, pandas
print("before")
plt.plot([1, 2]); plt.show()
print("between")
display(pandas.DataFrame({"a": [1, 2]}))
print("after")
"""
    turn = await ask_and_wait(conversation, code, tab)
    parts = [part for part in await parts_of(turn) if part.made_by]
    kinds = [type(part) for part in parts]
    assert kinds == [
        ExecutableCode,
        CodeExecutionResult,
        InlineData,
        CodeExecutionResult,
        Display,
        CodeExecutionResult,
        FunctionResponse,
    ]
    texts = [part for part in parts if isinstance(part, CodeExecutionResult)]
    assert [(part.output, part.outcome) for part in texts] == [
        ("before\n", OUTCOME_OK),
        ("between\n", OUTCOME_OK),
        ("after\n", OUTCOME_OK),
    ]
    [response] = await responses_of(turn)
    assert response["graphs"] == 1
    assert "before\nbetween\n" in response["output"]
    assert "[GRAPH:0]" in turn.message.text
    assert tab.page.transcript == await fresh_page(conversation)


def shown_output(tab: Tab) -> str:
    """Return the output of code on a page."""
    return "".join(output.text for output in ParsedHtml(tab.page.transcript).select("pre", aria_label="Output"))


async def test_image_printed_as_base64_becomes_a_graph_and_its_text_is_not_stored(sessions: Settings) -> None:
    conversation = await session_conversation()
    tab = Tab(conversation.pk)
    # Short URIs are left in the result for the model.
    payload = base64.b64encode(png(5) + bytes(300)).decode()
    code = f"uri = 'data:image/png;base64,' + {payload[:20]!r} + {payload[20:]!r}\nprint('a', uri)\nprint('b')"
    turn = await ask_and_wait(conversation, code, tab)
    assert "[GRAPH:0]" in turn.message.text
    texts = [part.long_text for part in await parts_of(turn) if isinstance(part, CodeExecutionResult)]
    assert "".join(texts) == "a \nb\n"
    rows = [json.dumps(data) async for data in turn.events.values_list("data", flat=True)]
    page = await fresh_page(conversation)
    assert not [text for text in (*texts, *rows, page) if payload in text]
    assert tab.page.transcript == page


async def test_output_is_shown_while_code_runs_and_a_stop_interrupts_it_and_keeps_variables(sessions: Settings) -> None:
    conversation = await session_conversation()
    tab = Tab(conversation.pk)
    # The question is on the page, too, so the code does not hold what it prints.
    code = "x = 5\nprint('begun', 20 + 22, flush=True)\nwhile True: pass"
    with tab.following():
        await start_turn(make_question(conversation, code))
        await tab.receive_text("begun 42")
        assert 'data-status="running"' in tab.page.transcript
        await stop_turn(conversation.pk)
        await Runner.current().drain()
    turn = await Turn.objects.aget(conversation=conversation)
    assert turn.status == "stopped"
    assert [part.long_text for part in await parts_of(turn) if isinstance(part, CodeExecutionResult)] == ["begun 42\n"]
    assert tab.page.transcript == await fresh_page(conversation)
    session = await PythonSession.objects.aget(conversation=conversation)
    assert (session.state, session.note, session.generation, session.busy_until) == ("running", "", 1, None)
    assert [variable["name"] for variable in session.variables] == ["x"]
    assert await outputs_of(await ask_and_wait(conversation, "print(x)")) == ["5\n"]


async def test_errors_of_code_are_sent_to_the_model_as_results(sessions: Settings) -> None:
    conversation = await session_conversation()
    tab = Tab(conversation.pk)
    turn = await ask_and_wait(conversation, "print('a')\n1/0\n---\nprint('b')", tab)
    first, second = await responses_of(turn)
    assert (first["outcome"], second["outcome"]) == ("error", "success")
    assert first["output"].startswith("a\n")
    assert first["output"].endswith("ZeroDivisionError: division by zero\n")
    results = [part for part in await parts_of(turn) if isinstance(part, CodeExecutionResult)]
    assert [part.outcome for part in results] == [OUTCOME_FAILED, OUTCOME_OK]
    assert results[0].output == first["output"]
    assert tab.page.transcript == await fresh_page(conversation)


async def test_functions_of_the_session_describe_its_state(sessions: Settings) -> None:
    conversation = await session_conversation()
    question = "\n---\n".join(
        [
            "%list_variables {}",
            "%list_files {}",
            "import pandas\ndf = pandas.DataFrame({'a': [1, 2, 3]})\nopen('out.csv', 'w').write('a')",
            "%list_variables {}",
            '%inspect_variable {"name": "df"}',
            "%list_files {}",
        ]
    )
    turn = await ask_and_wait(conversation, question)
    early, no_files, cell, variables, frame, files = await responses_of(turn)
    assert "No Python session is running" in early["note"]
    assert no_files["files"] == []
    assert [file["name"] for file in cell["files"]] == ["out.csv"]
    [listed] = variables["variables"]
    assert (listed["name"], listed["type"], listed["shape"]) == ("df", "DataFrame", [3, 1])
    assert "a" in frame["description"]
    assert [file["name"] for file in files["files"]] == ["out.csv"]


async def test_reset_session_ends_the_session_and_the_next_call_starts_a_new_one(sessions: Settings) -> None:
    conversation = await session_conversation()
    turn = await ask_and_wait(conversation, "x = 1\n---\n%reset_session {}\n---\nprint('x' in globals())")
    _, reset, cell = await responses_of(turn)
    assert "ended" in reset["note"]
    assert cell["output"] == "False\n"
    assert "note" not in cell
    session = await PythonSession.objects.aget(conversation=conversation)
    assert session.generation == 2


async def test_model_and_page_get_a_note_that_the_kernel_died_and_the_next_call_starts_another(
    sessions: Settings,
) -> None:
    conversation = await session_conversation()
    tab = Tab(conversation.pk)
    turn = await ask_and_wait(conversation, "x = 1\n---\nimport os\nprint('a', flush=True)\nos._exit(1)", tab)
    _, death = await responses_of(turn)
    assert death["outcome"] == "error"
    assert "variables are lost" in death["output"]
    session = await PythonSession.objects.aget(conversation=conversation)
    assert session.state == "stopped"
    assert "variables are lost" in session.note
    assert session.variables == []
    turn = await ask_and_wait(conversation, "print('x' in globals())", tab)
    [cell] = await responses_of(turn)
    assert cell["output"] == "False\n"
    assert cell["note"].startswith("A new Python session was started.")
    assert "variables are lost" in shown_output(tab)
    assert tab.page.transcript == await fresh_page(conversation)
    turn = await ask_and_wait(conversation, "print(1)", tab)
    assert "note" not in (await responses_of(turn))[0]


async def test_model_gets_an_error_sentence_if_the_kernel_service_does_not_run(
    sessions: Settings, tmp_path: Path
) -> None:
    sessions.KERNEL_SERVICE_DIR = tmp_path
    conversation = await session_conversation()
    tab = Tab(conversation.pk)
    turn = await ask_and_wait(conversation, "print(1)", tab)
    assert turn.status == "done"
    [response] = await responses_of(turn)
    assert "service for Python sessions does not run" in response["error"]
    session = await PythonSession.objects.aget(conversation=conversation)
    assert session.state == "error"
    assert session.note == response["error"]
    assert tab.page.transcript == await fresh_page(conversation)


async def test_demo_model_uses_the_session(sessions: Settings) -> None:
    conversation = await session_conversation(model="")
    tab = Tab(conversation.pk)
    plot = await ask_and_wait(conversation, "Plot a sine wave", tab)
    assert (plot.status, plot.engine, plot.round_count) == ("done", Engine.SESSION, 2)
    [response] = await responses_of(plot)
    assert (response["outcome"], response["graphs"]) == ("success", 1)
    await plot.message.arefresh_from_db()
    assert "[GRAPH:0]" in plot.message.text
    # The text of the answer quotes what the code printed.
    assert "**1 (x = 1.57)**" in plot.message.text
    await ask_and_wait(conversation, "```python\nwaves = 3\n```", tab)
    later = await ask_and_wait(conversation, "```python\nprint(waves + 1, 'y' in dir())\n```", tab)
    assert await outputs_of(later) == ["4 False\n"], "the names of its own programs do not stay"
    failed = await ask_and_wait(conversation, "```python\n1 / 0\n```", tab)
    await failed.message.arefresh_from_db()
    assert "The code failed: `ZeroDivisionError: division by zero`" in failed.message.text
    assert "Code execution is off" not in failed.message.text


async def test_demo_model_reads_a_table_in_the_session(sessions: Settings) -> None:
    conversation = await session_conversation(model="")
    rivers = "".join(f"river {number},{number}\n" for number in range(1, 101))
    file = await sync_to_async(make_file)(conversation, "rivers.csv", f"river,km\n{rivers}".encode())
    turn = await ask_with_files(conversation, "What is the mean of km?", file)
    assert (turn.status, turn.round_count, await outputs_of(turn)) == ("done", 2, ["mean: 50.5\n"])
    await turn.message.arefresh_from_db()
    assert "Mean of `km`: **50.5**" in turn.message.text
