"""The demo model, through the real SDK: it really runs code."""

from __future__ import annotations

import asyncio
import base64
import io
from pathlib import Path

import aiohttp
import pytest
from google import genai
from google.genai import types
from PIL import Image

from chat.emulator.generation_request import TABLES
from chat.emulator.wire import WireObject
from chat.vocabulary.demo_model import DEMO_MODEL
from tests.chat.emulator.sdk import answer, finishes_of, model_content, parts_of, text_of, user
from tests.emulator_server import running_emulator
from tests.kernel_service import running_service
from tests.polling import wait_until_async

RIVERS = b"river,km\nVolga,3530\nDanube,2850\nRhine,1230\n"
TABLE = types.Part(inline_data=types.Blob(mime_type="text/csv", data=RIVERS))


async def _post(session: aiohttp.ClientSession, prompt: str) -> WireObject:
    """Return the whole answer to a prompt, with code execution."""
    body = {"contents": [{"parts": [{"text": prompt}]}], "tools": [{"codeExecution": {}}]}
    async with session.post(f"/v1beta/models/{DEMO_MODEL}:generateContent", json=body) as response:
        answered: WireObject = await response.json()
    return answered


def _outputs(parts: list[types.Part]) -> list[tuple[types.Outcome | None, str]]:
    results = [part.code_execution_result for part in parts if part.code_execution_result]
    return [(result.outcome, result.output or "") for result in results]


async def test_answer_to_plot_a_sine_wave_has_thought_code_result_graph_and_computed_values(
    client: genai.Client,
) -> None:
    chunks = await answer(client, DEMO_MODEL, "Plot a sine wave")
    parts = parts_of(chunks)
    assert parts[0].thought
    [code] = [part for part in parts if part.executable_code]
    assert code.executable_code
    assert "np.sin" in (code.executable_code.code or "")
    assert code.thought_signature
    [(outcome, output)] = _outputs(parts)
    assert outcome is types.Outcome.OUTCOME_OK
    assert "highest: 1 (x = 1.57)" in output
    [graph] = [part.inline_data for part in parts if part.inline_data]
    assert graph.mime_type == "image/png"
    assert graph.data
    image = Image.open(io.BytesIO(graph.data))
    image.load()
    assert image.width > 400
    assert "**1 (x = 1.57)**" in text_of(chunks)
    assert parts[-1].text == ""
    assert parts[-1].thought_signature
    assert finishes_of(chunks) == ["STOP"]
    sizes = [len(part.text) for part in parts if part.text and not part.thought]
    assert max(sizes) <= 70
    usage = chunks[-1].usage_metadata
    assert usage
    assert usage.total_token_count == sum(
        count or 0
        for count in (
            usage.prompt_token_count,
            usage.candidates_token_count,
            usage.thoughts_token_count,
            usage.tool_use_prompt_token_count,
        )
    )


async def test_demo_model_says_that_code_failed(client: genai.Client) -> None:
    chunks = await answer(client, DEMO_MODEL, "```python\nprint(84 / 0)\n```")
    [(failed, traceback)] = _outputs(parts_of(chunks))
    assert failed is types.Outcome.OUTCOME_FAILED
    assert traceback.endswith("ZeroDivisionError: division by zero\n")
    assert "The code failed: `ZeroDivisionError: division by zero`" in text_of(chunks)


async def test_code_in_the_prompt_is_run_unchanged_and_run_again_if_asked(client: genai.Client) -> None:
    prompt = user("Run this:\n```python\nprint(6 * 7)\n```")
    chunks = await answer(client, DEMO_MODEL, prompt)
    assert _outputs(parts_of(chunks)) == [(types.Outcome.OUTCOME_OK, "42\n")]
    history = [prompt, model_content(parts_of(chunks)), user("Run it again")]
    again = await answer(client, DEMO_MODEL, history)
    assert _outputs(parts_of(again)) == [(types.Outcome.OUTCOME_OK, "42\n")]


async def test_fenced_blocks_share_their_state_within_and_across_prompts(client: genai.Client) -> None:
    first = user("```python\nx = 40\n```\nand\n```python\nx += 1\nprint(x)\n```")
    chunks = await answer(client, DEMO_MODEL, first)
    assert _outputs(parts_of(chunks)) == [(types.Outcome.OUTCOME_OK, "41\n")]
    history = [first, model_content(parts_of(chunks)), user("```python\nprint(x + 1)\n```")]
    assert _outputs(parts_of(await answer(client, DEMO_MODEL, history))) == [(types.Outcome.OUTCOME_OK, "42\n")]


async def test_code_block_in_a_prompt_runs_once_if_the_stopped_answer_is_continued(client: genai.Client) -> None:
    code = user("```python\nruns = globals().get('runs', 0) + 1\nprint(runs)\n```")
    chunks = await answer(
        client, DEMO_MODEL, [code, model_content([types.Part(text="It was stopped.")]), user("Continue")]
    )
    assert _outputs(parts_of(chunks)) == [(types.Outcome.OUTCOME_OK, "1\n")]


async def test_attached_table_is_described_and_available_in_a_later_turn(client: genai.Client) -> None:
    first = user("What is in here?", TABLE)
    chunks = await answer(client, DEMO_MODEL, first)
    assert "**3** rows and **2** columns" in text_of(chunks)
    assert any(part.inline_data for part in parts_of(chunks))
    code = "```python\nprint(open('input_file_0.csv').readline())\n```"
    later = [first, types.Content(role="model", parts=[types.Part(text="A table.")]), user(code)]
    assert "river,km" in _outputs(parts_of(await answer(client, DEMO_MODEL, later)))[0][1]


async def test_uploaded_table_is_read_by_its_name(client: genai.Client) -> None:
    config = types.UploadFileConfig(mime_type="text/csv", display_name="rivers.csv")
    file = await client.aio.files.upload(file=io.BytesIO(RIVERS), config=config)
    assert file.uri
    part = types.Part(file_data=types.FileData(file_uri=file.uri, mime_type="text/csv"))
    code = types.Part(text="```python\nprint(len(open('rivers.csv').readlines()))\n```")
    chunks = await answer(client, DEMO_MODEL, user(part, code))
    assert _outputs(parts_of(chunks)) == [(types.Outcome.OUTCOME_OK, "4\n")]


async def test_code_that_runs_too_long_exceeds_the_deadline() -> None:
    with running_emulator(code_limit_s=1.0) as url:
        async with aiohttp.ClientSession(url) as session:
            answered = await _post(session, "```python\nprint('begun', flush=True)\nwhile True: pass\n```")
    results = [part.get("codeExecutionResult") for part in answered["candidates"][0]["content"]["parts"]]
    [result] = [result for result in results if result]
    assert result["outcome"] == "OUTCOME_DEADLINE_EXCEEDED"
    assert result["output"].startswith("begun")


async def test_answer_says_that_code_cannot_be_run_without_a_kernel_service(tmp_path: Path) -> None:
    with running_emulator(kernel_service_directory=tmp_path) as url:
        async with aiohttp.ClientSession(url) as session:
            answered = await _post(session, "Plot a sine wave")
    text = "".join(part.get("text", "") for part in answered["candidates"][0]["content"]["parts"])
    assert "I could not run this code: The service for Python sessions does not run on this machine." in text


@pytest.mark.drill
async def test_kernel_ends_if_the_client_disconnects_before_the_answer() -> None:
    with (
        running_service("--warm-kernels", "0") as service,
        running_emulator(kernel_service_directory=service.directory) as url,
    ):
        async with aiohttp.ClientSession(url) as session:
            answer = asyncio.create_task(_post(session, "```python\nwhile True: pass\n```"))
            await wait_until_async(lambda: service.place.status().kernels == 1)
            answer.cancel()
            await wait_until_async(lambda: service.place.status().kernels == 0)


async def test_code_is_shown_but_not_run_if_execution_is_off(client: genai.Client) -> None:
    chunks = await answer(client, DEMO_MODEL, "Plot a sine wave", code=False)
    assert not any(part.executable_code or part.inline_data for part in parts_of(chunks))
    assert "Code execution is off for this message" in text_of(chunks)
    assert "```python\nimport matplotlib" in text_of(chunks)


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("What is love?", "I am not an AI"),
        ("Was ist das Leben? Bitte", "Ich bin keine KI"),
        ("你好", "我不是人工智能"),
        ("Describe and plot my CSV", "There is no table yet"),
    ],
)
async def test_answer_to_an_unknown_prompt_says_what_the_demo_model_cannot_do(
    client: genai.Client, prompt: str, text: str
) -> None:
    chunks = await answer(client, DEMO_MODEL, prompt)
    assert text in text_of(chunks)
    assert finishes_of(chunks) == ["STOP"]


async def test_answer_names_the_demo_model_whichever_model_was_asked_for(client: genai.Client) -> None:
    for model in (DEMO_MODEL, "gemini-pro-latest"):
        assert {chunk.model_version for chunk in await answer(client, model, "Hello")} == {DEMO_MODEL}


async def test_answer_with_an_image_has_text_an_image_with_a_signature_and_text(client: genai.Client) -> None:
    images = []
    for prompt in ("A calm sea", "A calm sea", "A storm"):
        config = types.GenerateContentConfig(response_modalities=["TEXT", "IMAGE"])
        answered = await client.aio.models.generate_content(model="gemini-3-image", contents=prompt, config=config)
        parts = parts_of([answered])
        assert [bool(part.inline_data) for part in parts] == [False, True, False, False]
        assert parts[0].text
        assert parts[2].text
        blob = parts[1].inline_data
        assert blob
        assert blob.data
        assert parts[1].thought_signature
        assert Image.open(io.BytesIO(blob.data)).format == "PNG"
        images.append(blob.data)
    assert images[0] == images[1] != images[2]


@pytest.mark.parametrize(
    ("tools", "prompt", "says_so"),
    [
        ([{"googleSearch": {}}], "Show me a Bitcoin price chart", True),
        ([], "Show me a Bitcoin price chart", True),
        ([], "What is on https://example.org?", True),
        ([{"urlContext": {}}], "Who wrote Faust?", True),
        ([], "Who wrote Faust?", False),
    ],
)
async def test_demo_model_says_that_it_has_no_access_to_the_web(
    emulator_url: str, tools: list[WireObject], prompt: str, says_so: bool
) -> None:
    body = {"contents": [{"parts": [{"text": prompt}]}], "tools": [{"codeExecution": {}}, *tools]}
    url = f"{emulator_url}/v1beta/models/{DEMO_MODEL}:generateContent"
    async with aiohttp.ClientSession() as session, session.post(url, json=body) as response:
        answered = await response.json()
    parts = answered["candidates"][0]["content"]["parts"]
    assert not any("executableCode" in part for part in parts)
    assert ("I have no access to the web" in "".join(part.get("text", "") for part in parts)) is says_so


def _call_of(chunks: list[types.GenerateContentResponse]) -> types.Part:
    [part] = [part for part in parts_of(chunks) if part.function_call]
    return part


def _response_to(part: types.Part, **response: object) -> types.Content:
    call = part.function_call
    assert call
    answered = types.FunctionResponse(id=call.id, name=call.name, response=response)
    return types.Content(role="user", parts=[types.Part(function_response=answered)])


@pytest.mark.parametrize(
    ("outcome", "output", "text"),
    [
        ("error", "KeyError: 'x'", "The code failed: `KeyError: 'x'`"),
        ("success", "lowest: -1 (x = 4.71)\n", "Lowest value: **-1 (x = 4.71)**. Highest value: **–**."),
    ],
)
async def test_demo_model_calls_the_python_session_and_comments_on_its_result(
    client: genai.Client, outcome: str, output: str, text: str
) -> None:
    question = user("Plot a sine wave")
    chunks = await answer(client, DEMO_MODEL, question, functions=["run_python"])
    assert finishes_of(chunks) == ["STOP"]
    call = _call_of(chunks)
    assert call.thought_signature
    contents = [question, model_content(parts_of(chunks)), _response_to(call, outcome=outcome, output=output)]
    last = await answer(client, DEMO_MODEL, contents, functions=["run_python"])
    assert not [part for part in parts_of(last) if part.function_call or part.thought]
    assert text_of(last).startswith(text)


async def test_answer_says_that_code_could_not_run_if_the_user_did_not_allow_it(client: genai.Client) -> None:
    chunks = await answer(client, DEMO_MODEL, "Plot a sine wave", functions=["run_python"])
    response = _response_to(_call_of(chunks), error="The user did not allow it.")
    contents = [user("Plot a sine wave"), model_content(parts_of(chunks)), response]
    refused = await answer(client, DEMO_MODEL, contents, functions=["run_python"])
    assert text_of(refused) == "I could not run this code: The user did not allow it.\n"


NOTE = f"""{TABLES}
{{"file": "sales.xlsx", "rows": 9, "columns": {{"month": "text"}}, "read_as": "pd.read_excel('sales.xlsx')"}}
{{"file": "shops (1).csv", "columns": {{"shop": "text"}}, "read_as": "pd.read_csv('shops (1).csv', skiprows=1)"}}
"""
SHOPS = {
    "mimeType": "text/csv",
    "displayName": "shops (1).csv",
    "data": base64.b64encode(b"# 2\nshop\nA\nB\n").decode(),
}


@pytest.mark.parametrize("has_native", [True, False])
async def test_session_file_is_read_in_the_session_and_a_request_file_in_the_sandbox_if_there_is_one(
    http: aiohttp.ClientSession, *, has_native: bool
) -> None:
    tools = [{"functionDeclarations": [{"name": "run_python"}]}, *([{"codeExecution": {}}] if has_native else [])]
    config = {"includeServerSideToolInvocations": True}
    answers = {}
    for column in ("month", "shop"):
        parts = [{"inlineData": SHOPS}, {"text": NOTE}, {"text": f"count the rows by {column}"}]
        body = {"contents": [{"parts": parts}], "tools": tools, "toolConfig": config if has_native else {}}
        async with http.post(f"/v1beta/models/{DEMO_MODEL}:generateContent", json=body) as response:
            answers[column] = (await response.json())["candidates"][0]["content"]["parts"]
    calls = {
        column: [one["functionCall"] for one in parts if "functionCall" in one] for column, parts in answers.items()
    }
    assert "table = pd.read_excel('sales.xlsx')\n" in calls["month"][0]["args"]["code"]
    assert bool(calls["shop"]) is not has_native
    if has_native:
        text = "".join(part.get("text", "") for part in answers["shop"])
        assert "Rows by `shop`, **2** groups" in text


async def test_file_that_the_code_cannot_open_is_answered_with_a_sentence(http: aiohttp.ClientSession) -> None:
    body = {
        "contents": [{"parts": [{"text": NOTE}, {"text": "Describe “sales.xlsx”"}]}],
        "tools": [{"codeExecution": {}}],
    }
    async with http.post(f"/v1beta/models/{DEMO_MODEL}:generateContent", json=body) as response:
        parts = (await response.json())["candidates"][0]["content"]["parts"]
    text = "".join(part.get("text", "") for part in parts)
    assert text.startswith("I cannot open `sales.xlsx` here: only the Python session has this file.")
    assert not any("executableCode" in part for part in parts)


async def test_answer_says_that_code_execution_is_off_if_only_an_unrelated_function_is_offered(
    client: genai.Client,
) -> None:
    chunks = await answer(client, DEMO_MODEL, "Plot a sine wave", functions=["echo"])
    assert "Code execution is off" in text_of(chunks)
