"""The messages of a request follow the rules of the servers."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.providers.openai_compatible.body import request_body
from chat.providers.openai_compatible.dialects import DIALECTS, GENERIC, Dialect
from chat.providers.openai_compatible.endpoint import ModelFacts
from chat.providers.openai_compatible.messages import OWN_PICTURE
from chat.providers.openai_compatible.refusal_facts import EFFORT_NONE, REASONING
from chat.providers.requests import Content, FunctionTool, GenerateRequest, Thinking
from chat.vocabulary.parts import (
    JSON,
    OUTCOME_FAILED,
    OUTCOME_OK,
    CodeExecutionResult,
    ExecutableCode,
    FunctionCall,
    FunctionResponse,
    InlineData,
    Part,
    Role,
    Text,
    Thought,
)
from chat.vocabulary.thinking import ThinkingLevel

PNG = b"\x89PNG"
MISTRAL = DIALECTS["mistral"]


def user(*parts: Part) -> Content:
    return Content(Role.USER, parts)


def model(*parts: Part, is_own: bool = True) -> Content:
    return Content(Role.MODEL, parts, is_own=is_own)


def messages_of(*contents: Content, dialect: Dialect = GENERIC, **facts: Any) -> list[dict[str, Any]]:
    body: dict[str, Any] = request_body(
        GenerateRequest("m", contents, system_instruction="Be brief."), dialect, ModelFacts(**facts)
    )
    messages: list[dict[str, Any]] = body["messages"]
    return messages


def test_content_of_text_questions_and_answers_is_a_plain_string() -> None:
    assert messages_of(user(Text("1+1?")), model(Text("2")), user(Text("And 2+2?"))) == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "1+1?"},
        {"role": "assistant", "content": "2"},
        {"role": "user", "content": "And 2+2?"},
    ]


def test_instruction_is_in_the_question_if_the_system_role_is_refused() -> None:
    [message] = messages_of(user(Text("1+1?")), refuses=frozenset({"system"}))
    assert message == {"role": "user", "content": "Be brief.\n\n1+1?"}


def test_function_results_directly_follow_the_message_with_their_calls() -> None:
    calls = [FunctionCall("f", {"x": number}, str(number), provider_data={"id": f"call_{number}"}) for number in (1, 2)]
    responses = [FunctionResponse("f", {"y": number}, str(number)) for number in (1, 2)]
    written = messages_of(user(Text("a")), model(Text("I look."), *calls), user(*responses), model(Text("b")))
    assert [message["role"] for message in written] == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert [call["id"] for call in written[2]["tool_calls"]] == ["call_1", "call_2"]
    assert [json.loads(call["function"]["arguments"]) for call in written[2]["tool_calls"]] == [{"x": 1}, {"x": 2}]
    assert [message["tool_call_id"] for message in written[3:5]] == ["call_1", "call_2"]
    assert json.loads(written[3]["content"]) == {"y": 1}


def test_invalid_arguments_are_sent_back_as_an_empty_object() -> None:
    call = FunctionCall("f", None, "1", provider_data={"raw_arguments": "{broken"})
    written = messages_of(user(Text("a")), model(call), user(FunctionResponse("f", {}, "1")))
    assert written[2]["content"] is None
    assert written[2]["tool_calls"][0]["function"]["arguments"] == "{}"


@pytest.mark.parametrize(("name", "sent"), [("a.b c", "a_b_c"), ("", "unnamed"), ("x" * 99, "x" * 64)])
def test_function_name_that_servers_would_refuse_is_changed_before_it_is_sent(name: str, sent: str) -> None:
    written = messages_of(user(Text("a")), model(FunctionCall(name, {}, "1")), user(FunctionResponse(name, {}, "1")))
    assert written[2]["tool_calls"][0]["function"]["name"] == sent


def test_call_ids_that_a_server_repeats_are_unique_in_a_request() -> None:
    exchange = [
        model(FunctionCall("f", {}, "a", provider_data={"id": "0"})),
        user(FunctionResponse("f", {}, "a"), Text("again")),
        model(FunctionCall("f", {}, "b", provider_data={"id": "0"})),
        user(FunctionResponse("f", {}, "b")),
    ]
    written = messages_of(user(Text("x")), *exchange)
    ids = [call["id"] for message in written for call in message.get("tool_calls", ())]
    assert len(set(ids)) == 2
    assert [message["tool_call_id"] for message in written if message["role"] == "tool"] == ids
    assert written == messages_of(user(Text("x")), *exchange)


def test_ids_of_another_server_are_rewritten_for_mistral() -> None:
    written = messages_of(
        user(Text("x")),
        model(FunctionCall("f", {}, "call_1")),
        user(FunctionResponse("f", {}, "call_1")),
        dialect=MISTRAL,
    )
    call_id = written[2]["tool_calls"][0]["id"]
    assert MISTRAL.call_id_pattern.fullmatch(call_id)
    assert written[3]["tool_call_id"] == call_id


def test_signature_of_a_call_is_sent_back_only_to_its_own_model() -> None:
    call = FunctionCall("f", {}, "1", provider_data={"id": "c", "fields": {"extra_content": {"sig": "s"}}})
    contents = user(Text("x")), user(FunctionResponse("f", {}, "1"))
    own = messages_of(contents[0], model(call), contents[1])
    assert own[2]["tool_calls"][0]["extra_content"] == {"sig": "s"}
    other = messages_of(contents[0], model(call, is_own=False), contents[1])
    assert other[2]["tool_calls"][0].keys() == {"id", "type", "function"}


def test_code_of_another_provider_becomes_text_and_its_graph_an_image() -> None:
    answer = model(
        Text("I draw."),
        ExecutableCode("plot()", "PYTHON"),
        CodeExecutionResult("done\n", OUTCOME_OK),
        InlineData("image/png", data=PNG),
        Text("There it is."),
        is_own=False,
    )
    written = messages_of(user(Text("Draw.")), answer, user(Text("Thanks.")))
    assert [message["role"] for message in written] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert written[2]["content"] == "I draw.\n```python\nplot()\n```\n"
    assert written[3]["content"][0]["text"].startswith("[The code ran. Its output:]")
    assert "done" in written[3]["content"][0]["text"]
    assert written[3]["content"][1]["image_url"]["url"].startswith("data:image/png;base64,")
    assert written[4]["content"] == "There it is."


@pytest.mark.parametrize(("outcome", "verb"), [(OUTCOME_FAILED, "failed"), ("OUTCOME_OF_TOMORROW", "ended")])
def test_code_is_described_as_failed_only_if_the_outcome_is_failed(outcome: str, verb: str) -> None:
    answer = model(ExecutableCode("plot()", "PYTHON"), CodeExecutionResult("x", outcome), is_own=False)
    written = messages_of(user(Text("Draw.")), answer, user(Text("Thanks.")))
    assert f"[The code {verb}. Its output:]" in str(written)


def test_markdown_fence_around_code_is_longer_than_fences_in_the_code() -> None:
    written = messages_of(user(Text("x")), model(ExecutableCode("'''\n```\n'''", "PYTHON"), is_own=False))
    assert "\n````python\n" in written[2]["content"]


def test_length_of_the_markdown_fence_around_a_long_text_is_found_quickly() -> None:
    text = "`" * 1_000_000
    content = messages_of(user(InlineData("text/plain", "a.txt", text.encode())))[1]["content"]
    assert content.count("`") == 3_000_002


def test_reasoning_of_joined_assistant_messages_is_joined_too() -> None:
    contents = [user(Text("x")), model(Thought("a"), Text("b")), model(Thought("c"), Text("d"), is_own=False)]
    [*_, last] = messages_of(*contents, dialect=DIALECTS["deepseek"])
    assert (last["reasoning_content"], last["content"]) == ("a\nc", "b\n\nd")


def test_sentence_replaces_an_image_if_the_model_reads_no_images() -> None:
    question = user(InlineData("image/png", "a.png", PNG), Text("What is it?"))
    assert "does not read images" in messages_of(question, images=False)[1]["content"]
    assert messages_of(question)[1]["content"][0]["type"] == "image_url"


def test_text_file_is_sent_as_text() -> None:
    content = messages_of(user(InlineData("text/plain", "a.csv", b"x,y\n1,2\n"), Text("Add.")))[1]["content"]
    assert "[File a.csv]" in content
    assert "x,y\n1,2" in content


@pytest.mark.parametrize(("dialect", "roles"), [(GENERIC, ["tool", "user"]), (MISTRAL, ["tool", "assistant", "user"])])
def test_assistant_message_is_inserted_between_a_result_and_a_question_for_mistral(
    dialect: Dialect, roles: list[str]
) -> None:
    contents = [
        user(Text("x")),
        model(FunctionCall("f", {}, "abcdefghi")),
        user(FunctionResponse("f", {}, "abcdefghi"), Text("Stop that.")),
    ]
    assert [message["role"] for message in messages_of(*contents, dialect=dialect)[3:]] == roles


def test_every_assistant_message_has_reasoning_content_if_the_server_demands_it() -> None:
    contents = [user(Text("x")), model(Thought("hm"), Text("a")), user(Text("y")), model(Text("b"), is_own=False)]
    for written in (
        messages_of(*contents, dialect=DIALECTS["deepseek"]),
        messages_of(*contents, demands=frozenset({REASONING})),
    ):
        assert [message.get("reasoning_content") for message in written] == [None, None, "hm", None, ""]
    assert not any("reasoning_content" in message for message in messages_of(*contents))


def test_signed_reasoning_is_sent_back_unchanged() -> None:
    details: JSON = [{"type": "reasoning.encrypted", "data": "x"}]
    written = messages_of(user(Text("x")), model(Text("a"), Thought("", provider_data={"reasoning_details": details})))
    assert written[2]["reasoning_details"] == details


FUNCTION = FunctionTool("run_python", "Runs code.", {"type": "object", "properties": {"code": {"type": "string"}}})


def test_body_has_no_optional_parameter_that_is_not_set() -> None:
    body = request_body(GenerateRequest("m", (user(Text("x")),)), GENERIC, ModelFacts())
    assert body.keys() == {"model", "messages", "stream", "stream_options"}


def test_body_has_the_parameters_that_are_set() -> None:
    request = GenerateRequest(
        "m",
        (user(Text("x")),),
        tools=(FUNCTION,),
        thinking=Thinking(ThinkingLevel.LOW),
        temperature=0.5,
        max_output_tokens=9,
    )
    body = request_body(request, GENERIC, ModelFacts())
    assert (body["temperature"], body["max_tokens"], body["reasoning_effort"]) == (0.5, 9, "low")
    assert isinstance(body["tools"], list)
    assert body["tools"][0] == {
        "type": "function",
        "function": {"name": "run_python", "description": "Runs code.", "parameters": FUNCTION.parameters},
    }


def test_body_leaves_out_parameters_that_the_server_has_refused() -> None:
    request = GenerateRequest("m", (user(Text("x")),), tools=(FUNCTION,), temperature=0.5, max_output_tokens=9)
    refused = ModelFacts(functions=False, refuses=frozenset({"temperature", "max_tokens", "stream_options"}))
    body = request_body(request, GENERIC, refused)
    assert body.keys() == {"model", "messages", "stream", "max_completion_tokens"}
    demanded = request_body(request, GENERIC, ModelFacts(demands=frozenset({EFFORT_NONE})))
    assert demanded["reasoning_effort"] == "none"


PARTS = st.one_of(
    st.builds(Text, st.text(max_size=5)),
    st.builds(Thought, st.text(max_size=5)),
    st.just(ExecutableCode("1", "PYTHON")),
    st.just(CodeExecutionResult("1", OUTCOME_OK)),
    st.just(InlineData("image/png", data=PNG)),
)


@given(
    answers=st.lists(st.tuples(st.lists(PARTS, max_size=5), st.integers(0, 3)), max_size=4),
    dialect=st.sampled_from(sorted(DIALECTS)),
)
def test_each_call_is_followed_by_its_result_and_roles_alternate_in_any_conversation(
    answers: list[tuple[list[Part], int]], dialect: str
) -> None:
    contents: list[Content] = []
    for parts, calls in answers:
        ids = [f"call_{number}" for number in range(calls)]
        contents += [user(Text("q")), model(*parts, *(FunctionCall("f", {}, one) for one in ids))]
        contents += [user(*(FunctionResponse("f", {}, one) for one in ids)), model(Text("a"))] if ids else []
    written = messages_of(*contents, user(Text("end")), dialect=DIALECTS[dialect])
    waiting: list[str] = []
    for message in written[1:]:
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
            continue
        assert not waiting
        assert message["content"] or message.get("tool_calls")
        assert "tool_calls" not in message or message["tool_calls"]
        waiting = [call["id"] for call in message.get("tool_calls", ())]
    assert not waiting
    spoken = [message["role"] for message in written[1:] if message["role"] != "tool"]
    assert all(left != right or left == "assistant" for left, right in pairwise(spoken))


def test_image_in_an_answer_is_sent_back_in_a_user_message() -> None:
    picture = InlineData("image/png", "a.png", PNG)
    question, *answer, last = messages_of(
        user(Text("Draw.")), model(Text("Here:"), picture, Text("\n\n"), picture), user(Text("Blue."))
    )[1:]
    assert [message["role"] for message in answer] == ["assistant"]
    kinds = [part.get("text", part["type"]) for part in last["content"]]
    assert kinds == [OWN_PICTURE, "image_url", OWN_PICTURE, "image_url", "Blue."]
    assert question["content"] == "Draw."
