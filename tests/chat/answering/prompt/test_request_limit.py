"""A request stays within its limit: whole exchanges of text, then the newest files and images; the rest is named."""

from __future__ import annotations

import base64
import json
import random
from dataclasses import replace
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.db import database_sync_to_async
from hypothesis import given
from pytest_django import Settings

from attachments.models import Attachment
from chat.answering.prompt.file_choice import FileChoice, RequestBudget
from chat.answering.prompt.history import prepare
from chat.answering.prompt.replay import Replay
from chat.answering.prompt.replayed_text import SHORT_RESULT_CHARS, with_replayed_texts, with_short_results
from chat.answering.prompt.request_size import base64_bytes, part_bytes
from chat.answering.prompt.rows import read_rows
from chat.answering.turns.runner import start_turn
from chat.messages.records import MessageRecord, PlacedAttachment
from chat.models import Conversation, Part, RefusedFile, Turn
from chat.providers import get_provider
from chat.providers.base import Capabilities
from chat.providers.google.codec import request_body
from chat.providers.openai_compatible import body as openai_body
from chat.providers.openai_compatible.dialects import DIALECTS
from chat.providers.openai_compatible.endpoint import ModelFacts
from chat.providers.requests import Content, GenerateRequest
from chat.vocabulary.parts import (
    JSON,
    CodeExecutionResult,
    ExecutableCode,
    FunctionCall,
    FunctionResponse,
    InlineData,
    PrintedImage,
    Role,
    Text,
)
from chat.vocabulary.parts import Part as PartValue
from tests.attachments.conftest import png
from tests.chat.library.imports.generated import parts as generated_parts
from tests.chat.turn_driver import (
    ask_and_wait,
    calls_since,
    count_calls,
    make_question,
    new_conversation,
    start_and_wait,
)
from tests.factories import attach, make_attachment, make_conversation, make_model_message, make_user_message

MB = 1_000_000
LIMIT = 8 * MB
BARE = Capabilities("account", functions=True, functions_beside_built_in=False, stores_files=False, accepted_type=str)
URI = "data:image/svg+xml;base64," + base64.b64encode(bytes(range(256)) * 40).decode()


def image_of(size_bytes: int, seed: int) -> bytes:
    """Return a PNG of this size. Its end is noise."""
    head = png(seed % 250 + 1)
    return head + random.Random(seed).randbytes(size_bytes - len(head))


def add_answer(conversation: Conversation, *parts: PartValue, graph: bytes = b"", name: str = "graph.png") -> None:
    """Add an answer of the conversation's model. `graph`: drawn or printed by its second part."""
    message = make_model_message(conversation, parts=())
    account = get_provider("gemini").capabilities("").account
    Turn.objects.filter(message=message).update(model=conversation.model, account=account)
    attachment = make_attachment(conversation.owner, data=graph, is_graph=True, name=name) if graph else None
    if attachment:
        attach(message, attachment, part_index=1)
    Part.objects.bulk_create(
        Part.from_value(
            part, index=index, message=message, attachment=attachment if isinstance(part, InlineData) else None
        )
        for index, part in enumerate(parts)
    )


def add_graphs(conversation: Conversation, number: int, size_bytes: int) -> list[bytes]:
    """Add answers with a graph each, and return the graphs."""
    graphs = [image_of(size_bytes, seed) for seed in range(number)]
    for index, graph in enumerate(graphs):
        add_answer(conversation, Text("See:"), InlineData("image/png"), graph=graph, name=f"graph-{index}.png")
    return graphs


async def next_request(settings: Settings, conversation: Conversation, text: str = "And now?") -> tuple[str, list[Any]]:
    """Ask one more question; return the JSON that the API received, and its parts."""
    before = count_calls(settings.GOOGLE_GEMINI_BASE_URL)
    turn = await ask_and_wait(conversation, text)
    assert turn.status == Turn.Status.DONE
    [call] = calls_since(settings.GOOGLE_GEMINI_BASE_URL, before)
    return json.dumps(call["request"]), [part for content in call["request"]["contents"] for part in content["parts"]]


def images_in(parts: list[Any]) -> list[bytes]:
    """Return the bytes of the inline data among the parts of a request."""
    return [base64.b64decode(part["inlineData"]["data"]) for part in parts if "inlineData" in part]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("number", "size_bytes", "sent"),
    [(1, 100_000, 1), (4, 100_000, 4), (20, 100_000, 20), (4, 5_400_000, 1), (20, 1_400_000, 4)],
)
async def test_request_contains_the_newest_graphs_that_fit_and_only_the_names_of_older_ones(
    number: int, size_bytes: int, sent: int, emulated: Settings
) -> None:
    conversation = await new_conversation(model="scenario-text")
    graphs = await database_sync_to_async(add_graphs)(conversation, number, size_bytes)
    body, parts = await next_request(emulated, conversation)
    assert len(body) <= LIMIT
    assert images_in(parts) == graphs[-sent:]
    for index in range(number):
        assert (f"graph-{index}.png" in body) == (index < number - sent)


@pytest.mark.django_db(transaction=True)
async def test_printed_image_is_sent_as_an_image_and_never_as_text(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-text")
    graph = image_of(100_000, 1)
    printed = PrintedImage(7, "data:image/png;base64,", 0, 0)
    output = CodeExecutionResult("before \n after", "OUTCOME_OK", images=(printed,))
    await database_sync_to_async(add_answer)(
        conversation, ExecutableCode("show()", "PYTHON"), output, Text("Done."), graph=graph
    )
    body, parts = await next_request(emulated, conversation)
    assert parts[2]["codeExecutionResult"]["output"] == "before [graph.png]\n after"
    assert images_in(parts) == [graph]
    assert ";base64," not in body
    assert await Part.objects.filter(data__images__0__offset=7).acount() == 1, "the stored part has changed"


@pytest.mark.django_db(transaction=True)
async def test_data_uri_is_sent_unshortened_only_in_the_newest_question(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-text")
    await ask_and_wait(conversation, f"What is {URI}?")
    output = CodeExecutionResult(f"x {URI}\n", "OUTCOME_OK")
    code = ExecutableCode("show()", "PYTHON")
    await database_sync_to_async(add_answer)(conversation, code, output, Text(f"![]({URI})"))
    body, parts = await next_request(emulated, conversation, f"And {URI}?")
    # The last part is the date.
    assert parts[-2]["text"] == f"And {URI}?"
    assert body.count(";base64,") == 1
    words = f"[image/svg+xml, {len(URI.partition(',')[2]):,} characters of base64]"
    assert body.count(words) == 3


def test_data_uris_are_removed_from_function_results_and_code_is_not_changed() -> None:
    code = ExecutableCode(f"show('{URI}')", "PYTHON", provider_data={"thought_signature": "cw=="})
    response = FunctionResponse("run", {"output": URI, "list": [1, {"x": URI}]}, "1")
    record = MessageRecord(None, None, [code, response])  # type: ignore[arg-type]
    kept, changed = with_replayed_texts(record).parts
    assert kept == code
    assert isinstance(changed, FunctionResponse)
    assert ";base64," not in json.dumps(dict(changed.result))


@given(part=generated_parts())
def test_estimated_size_of_a_part_is_at_least_its_size_in_a_request(part: PartValue) -> None:
    contents = (Content(Role.USER if isinstance(part, FunctionResponse) else Role.MODEL, (part,)),)
    empty, whole = (GenerateRequest("m", one) for one in ((), contents))
    facts = ModelFacts()
    dialect = next(iter(DIALECTS.values()))
    for bodies in (
        [request_body(one) for one in (empty, whole)],
        [json.dumps(openai_body.request_body(one, dialect, facts)).encode() for one in (empty, whole)],
    ):
        assert len(bodies[1]) - len(bodies[0]) <= part_bytes(part)


@pytest.mark.django_db
def test_oldest_questions_and_answers_are_left_out_if_the_text_is_too_long(settings: Settings) -> None:
    settings.REQUEST_LIMIT_BYTES = 150_000
    conversation = make_conversation(model="scenario-text")
    for word in ("first", "second", "third"):
        make_user_message(conversation, word)
        make_model_message(conversation)
        Part.objects.filter(message__index=conversation.messages.count() - 1).update(text=word[0] * 100_000)
    turn = Turn.objects.select_related("conversation", "message", "user_message").latest("created_at")
    rows = read_rows([turn])[0]
    prepared = prepare(turn, rows, Replay())
    assert prepared.left_out == 2
    assert len(request_body(prepared.request)) <= 150_000
    other = openai_body.request_body(prepared.request, next(iter(DIALECTS.values())), ModelFacts())
    assert len(json.dumps(other)) <= 150_000
    assert prepared.request.contents[0].parts[0] == Text("second")


def rounds_of(*outputs: str) -> MessageRecord:
    """Return an answer with a round for each output: a signed call, and its response."""
    signature = {"thought_signature": "cw=="}
    parts: list[PartValue] = []
    for index, output in enumerate(outputs):
        parts += [
            FunctionCall("run", {"code": "c" * 2_000}, str(index), round=index, provider_data=signature),
            FunctionResponse("run", {"outcome": "success", "output": output}, str(index), round=index),
        ]
    return MessageRecord(None, None, parts)  # type: ignore[arg-type]


def test_oldest_function_results_of_a_turn_are_shortened_and_the_newest_is_kept() -> None:
    record = rounds_of(*("a" * 20_000 for _ in range(15)))
    whole = sum(map(part_bytes, record.parts))
    assert with_short_results(record, part_bytes, whole).parts == record.parts
    for limit in (whole - 1, whole / 2, 0):
        short = with_short_results(record, part_bytes, limit)
        outputs = [str(part.result["output"]) for part in short.parts if isinstance(part, FunctionResponse)]
        lengths = [len(output) for output in outputs]
        assert lengths == sorted(lengths), "an older result is longer than a newer one"
        assert lengths[-1] == 20_000
        assert outputs[0].startswith("a" * SHORT_RESULT_CHARS + "\n[The server has left out 19,500 more characters")
        assert limit == 0 or limit / 2 < sum(map(part_bytes, short.parts)) <= limit
        assert [part for part in short.parts if isinstance(part, FunctionCall)] == record.parts[::2]


def test_long_lists_in_function_results_are_shortened_too() -> None:
    variables: list[JSON] = [{"name": f"x{number}", "preview": "1"} for number in range(500)]
    answer = FunctionResponse("list_variables", {"variables": variables, "count": 500})
    record = MessageRecord(None, None, [answer, Text("t", round=1)])  # type: ignore[arg-type]
    response, text = with_short_results(record, part_bytes, 0).parts
    assert isinstance(response, FunctionResponse)
    assert str(response.result["variables"]).startswith('[{"name": "x0"')
    assert len(str(response.result["variables"])) < 1_000
    assert response.result["count"] == 500
    assert text == Text("t", round=1)


def test_newest_output_is_shortened_only_if_it_alone_is_too_long() -> None:
    record = MessageRecord(None, None, [CodeExecutionResult("a" * 100_000), Text("t")])  # type: ignore[arg-type]
    assert with_short_results(record, part_bytes, 110_000).parts == record.parts
    result, text = with_short_results(record, part_bytes, 90_000).parts
    assert 20_000 < len(result.long_text) < 21_000
    assert text == Text("t")


@pytest.mark.django_db
def test_images_fill_at_most_a_quarter_of_the_context_window() -> None:
    conversation = make_conversation()
    message = make_model_message(conversation)
    graphs = [make_attachment(conversation.owner, is_graph=True) for _ in range(5)]
    answer = MessageRecord(
        message, message.turn, attachments=[PlacedAttachment(one, i, 0) for i, one in enumerate(graphs)]
    )
    question = MessageRecord(make_user_message(conversation))
    for context_tokens, sent in ((None, 5), (1_000, 1), (9_000, 2), (100_000, 5)):
        choice = FileChoice(question, [answer], RequestBudget.of(LIMIT, context_tokens), BARE, set())
        assert choice.images == {one.pk for one in graphs[-sent:]}


@pytest.mark.django_db
def test_files_of_the_question_are_sent_even_if_they_alone_fill_the_request(settings: Settings) -> None:
    conversation = make_conversation()
    old, new = (make_attachment(conversation.owner, data=b"%PDF" * 500, name=name) for name in ("old.pdf", "new.pdf"))
    Attachment.objects.update(mime_type="application/pdf")
    earlier, question = (
        MessageRecord(make_user_message(conversation), attachments=[PlacedAttachment(one, 0, None)])
        for one in Attachment.objects.filter(pk__in=[old.pk, new.pk]).order_by("-name")
    )
    tight = FileChoice(question, [earlier], RequestBudget(1_000, 9), BARE, set())
    assert tight.of_question == {new.pk}
    assert not tight.of_earlier
    stored = FileChoice(question, [earlier], RequestBudget(1_000, 9), replace(BARE, stores_files=True), set())
    assert [file.name for file in stored.by_reference.values()] == ["old.pdf"]
    roomy = FileChoice(question, [earlier], RequestBudget(2 * base64_bytes(2_000), 9), BARE, set())
    assert roomy.of_earlier == {old.pk}


@pytest.mark.django_db(transaction=True)
async def test_refused_file_is_replaced_by_a_sentence_in_later_requests(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-document-refused")
    file = await database_sync_to_async(make_attachment)(conversation.owner, data=b"%PDF-1.4", name="broken.pdf")
    await Attachment.objects.aupdate(mime_type="application/pdf")
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    failed = await start_and_wait(start_turn(make_question(conversation, "Read it.", attachment_ids=(file.pk,))))
    assert (failed.status, failed.error_code) == (Turn.Status.FAILED, "file_refused")
    later = await ask_and_wait(conversation, "And without it?")
    assert later.status == Turn.Status.DONE
    calls = calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)
    assert [call["state"] for call in calls] == ["refused", "done"]
    assert "The file broken.pdf was here; the model's service could not read it." in json.dumps(calls[1]["request"])


@pytest.mark.django_db(transaction=True)
async def test_file_that_one_model_refused_is_sent_to_another_model(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-text")
    graph = (await database_sync_to_async(add_graphs)(conversation, 1, 5_000))[0]
    attachment = await Attachment.objects.aget()
    account = await sync_to_async(lambda: get_provider("gemini").capabilities("").account)()
    for model, sent in (("another-model", [graph]), ("scenario-text", [])):
        await RefusedFile.objects.acreate(attachment=attachment, account=account, model=model)
        _, parts = await next_request(emulated, conversation)
        assert images_in(parts) == sent
