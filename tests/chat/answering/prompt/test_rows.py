"""What the requests of many turns read of their models' endpoints."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chat.answering.prompt.history import prepare
from chat.answering.prompt.replay import Replay
from chat.answering.prompt.rows import read_rows
from chat.answering.prompt.sent_messages import Recipient
from chat.answering.turns.start import Ask
from chat.answering.turns.start_plan import PlannedTurn
from chat.models import LanguageModel, ModelEndpoint, Turn
from chat.providers.catalogue.endpoints import StoredEndpoints, endpoint_of
from chat.providers.openai_compatible.endpoint import ModelFacts
from chat.providers.provider_errors import NotConfigured
from tests.chat.turn_driver import create_turn
from tests.factories import make_conversation

pytestmark = pytest.mark.django_db

ENDPOINT_QUERIES = 3


def plan(model: str) -> PlannedTurn:
    conversation = make_conversation(model=model)
    return create_turn(Ask(conversation.owner, conversation.pk, text="hello"))


def start(model: str) -> Turn:
    return plan(model).turn


@pytest.fixture
def endpoint() -> ModelEndpoint:
    """The endpoint of the model `llama`."""
    LanguageModel.objects.create(name="llama", provider="openai_compatible", endpoint="local")
    return ModelEndpoint.objects.create(name="local", base_url="http://localhost:8000/v1")


def count_queries(turns: list[Turn]) -> int:
    with CaptureQueriesContext(connection) as queries:
        read_rows(turns)
    return len(queries)


@pytest.mark.usefixtures("endpoint")
def test_endpoint_model_is_read_once_for_many_turns() -> None:
    of_gemini, of_endpoint = ([start(model) for _ in range(4)] for model in ("", "llama"))
    assert count_queries(of_endpoint) == count_queries(of_endpoint[:1]) == count_queries(of_gemini) + ENDPOINT_QUERIES


@pytest.mark.usefixtures("endpoint")
def test_capabilities_that_were_read_at_the_start_of_a_turn_are_not_read_again() -> None:
    planned, of_gemini = plan("llama"), start("")
    assert planned.capabilities
    with CaptureQueriesContext(connection) as queries:
        [rows] = read_rows([planned.turn], known={planned.turn.pk: planned.capabilities})
    assert rows.capabilities is planned.capabilities
    assert len(queries) == count_queries([of_gemini])


def test_context_size_of_the_server_is_used_unless_the_operator_has_set_one(endpoint: ModelEndpoint) -> None:
    def context_tokens() -> int | None:
        planned = plan("llama")
        assert planned.capabilities
        return Recipient(planned.setup, planned.capabilities).context_tokens

    assert context_tokens() is None
    StoredEndpoints().remember(endpoint_of(endpoint), "llama", ModelFacts(context_tokens=4096))
    assert context_tokens() == 4096
    LanguageModel.objects.filter(name="llama").update(context_tokens=100)
    assert context_tokens() == 100


@pytest.mark.usefixtures("endpoint")
def test_each_model_in_a_batch_has_its_own_capabilities() -> None:
    LanguageModel.objects.create(name="blind", provider="openai_compatible", endpoint="local", image_input=False)
    both = read_rows([start("llama"), start("blind")])
    assert [rows.capabilities and rows.capabilities.reads_tool_images for rows in both] == [True, False]


@pytest.mark.usefixtures("endpoint")
def test_making_a_request_runs_no_query_for_the_facts_of_its_model() -> None:
    of_gemini, of_endpoint = start(""), start("llama")
    numbers = []
    for turn in (of_gemini, of_endpoint):
        [rows] = read_rows([turn])
        assert rows.capabilities
        with CaptureQueriesContext(connection) as queries:
            prepared = prepare(turn, rows, Replay())
        numbers.append(len(queries))
        assert prepared.request.known is rows.capabilities.known
    assert prepared.request.known is not None
    assert numbers[0] == numbers[1]


def test_error_sentence_is_shown_if_the_endpoint_is_turned_off_after_the_start(endpoint: ModelEndpoint) -> None:
    turn = start("llama")
    endpoint.is_enabled = False
    endpoint.save()
    [rows, of_gemini] = read_rows([turn, start("")])
    assert of_gemini.capabilities is not None
    with pytest.raises(NotConfigured) as refusal:
        prepare(turn, rows, Replay())
    assert "endpoint “local”" in refusal.value.detail
