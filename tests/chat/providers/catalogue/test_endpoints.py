"""Endpoints: keys from environment variables, accounts, and facts about models from servers and operators."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.exceptions import ValidationError
from django.db import DatabaseError, close_old_connections, connection
from pytest_django import DjangoAssertNumQueries, Settings

from chat.models import EndpointModel, ModelEndpoint
from chat.providers.catalogue.endpoints import (
    StoredEndpoints,
    facts_from_json,
    facts_to_json,
    remember_listed,
)
from chat.providers.openai_compatible.endpoint import Endpoint, ModelFacts
from chat.vocabulary.parts import JSONObject
from tests.chat.providers.catalogue.fake_endpoint import make_listed
from tests.chat.providers.catalogue.rows import make_endpoint, make_endpoint_model

pytestmark = pytest.mark.django_db

STORE = StoredEndpoints()
ENDPOINT = Endpoint("local", "http://localhost:8000/v1")
FACTS = ModelFacts(8192, True, False, frozenset({"temperature", "stream_options"}), frozenset({"reasoning"}), True)


# --- endpoints


def test_endpoint_with_the_empty_name_comes_from_the_settings(settings: Settings) -> None:
    with pytest.raises(LookupError, match="The settings describe no endpoint"):
        STORE.find("")
    settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = "http://localhost:11434/v1", "secret"
    assert STORE.find("") == Endpoint("", "http://localhost:11434/v1", "secret")


def test_endpoint_row_gets_its_key_from_the_variable_that_it_names(settings: Settings) -> None:
    settings.ENDPOINT_API_KEYS = {"SOME_API_KEY": "secret"}
    make_endpoint("a", api_key_variable="SOME_API_KEY", dialect="vllm")
    make_endpoint("b", api_key_variable="OTHER_API_KEY")
    assert STORE.find("a") == Endpoint("a", "http://localhost:8000/v1", "secret", "vllm")
    assert STORE.find("b").api_key == ""


def test_endpoint_that_is_missing_or_turned_off_is_not_found() -> None:
    make_endpoint("off", is_enabled=False)
    for name in ("off", "missing"):
        with pytest.raises(LookupError, match=f"There is no endpoint “{name}” here, or it is turned off"):
            STORE.find(name)


def test_address_is_stored_without_a_trailing_slash() -> None:
    assert make_endpoint(base_url="http://localhost:8000/v1//").base_url == "http://localhost:8000/v1"


@pytest.mark.parametrize("url", ["http://ollama:11434/v1", "https://openrouter.ai/api/v1/", "http://[::1]:8080"])
def test_address_of_any_http_server_is_valid(url: str) -> None:
    ModelEndpoint(name="a", base_url=url).full_clean()


@pytest.mark.parametrize(
    "url",
    ["", "localhost:11434", "ftp://host/v1", "http://", "http://user:password@host/v1", "http://host/v1?key=1",
     "http://host/#a", "http://host:port/", "http://[::1/", "http://host/a b", "http://host/\r\nX: y"],
)  # fmt: skip
def test_address_that_is_invalid_or_holds_a_secret_is_rejected(url: str) -> None:
    with pytest.raises(ValidationError):
        ModelEndpoint(name="a", base_url=url).full_clean()


@pytest.mark.parametrize("name", ["", "MISTRAL_API_KEY", "TEAM_2_API_KEY"])
def test_endpoint_may_name_no_variable_or_one_of_its_own_that_ends_in_api_key(name: str) -> None:
    ModelEndpoint(name="a", base_url="http://host", api_key_variable=name).full_clean()


@pytest.mark.parametrize(
    "name",
    ["SECRET_KEY", "DATABASE_URL", "REDIS_URL", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "JUPYTER_GATEWAY_TOKEN",
     "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY", "_API_KEY", "some_api_key", "A_API_KEY\n", "A_API_KEY_FILE"],
)  # fmt: skip
def test_endpoint_cannot_name_variables_with_other_secrets_of_the_server(name: str, settings: Settings) -> None:
    row = ModelEndpoint(name="a", base_url="http://host", api_key_variable=name)
    with pytest.raises(ValidationError, match=r"_API_KEY|belongs to the settings"):
        row.full_clean()
    # A row that was stored without validation gets no key either.
    assert name not in settings.ENDPOINT_API_KEYS


def test_name_of_an_endpoint_is_required_and_unique() -> None:
    make_endpoint("a")
    for name in ("", "a", "not a slug"):
        with pytest.raises(ValidationError):
            ModelEndpoint(name=name, base_url="http://host").full_clean()
    with pytest.raises(DatabaseError):
        make_endpoint("")


# --- facts


def test_facts_are_stored_and_read_back() -> None:
    assert STORE.facts(ENDPOINT, "m") == ModelFacts()
    STORE.remember(ENDPOINT, "m", FACTS)
    assert STORE.facts(ENDPOINT, "m") == FACTS
    STORE.remember(ENDPOINT, "m", ModelFacts(images=True))
    assert STORE.facts(ENDPOINT, "m") == ModelFacts(images=True)
    assert STORE.facts(ENDPOINT, "n") == ModelFacts()


@pytest.mark.parametrize(
    "values", [{}, {"later": 1}, {"context_tokens": "8", "functions": 1, "images": "no", "refuses": 3, "demands": [1]}]
)
def test_unknown_and_invalid_fields_of_stored_facts_are_ignored(values: JSONObject) -> None:
    assert facts_from_json(values) == ModelFacts()
    assert facts_from_json(facts_to_json(FACTS)) == FACTS


@pytest.mark.parametrize("changed", [Endpoint("local", "http://other/v1"), Endpoint("local", ENDPOINT.base_url, "key")])
def test_facts_are_ignored_after_the_address_or_key_of_the_endpoint_has_changed(changed: Endpoint) -> None:
    STORE.remember(ENDPOINT, "m", FACTS)
    assert STORE.facts(changed, "m") == ModelFacts()
    STORE.remember(changed, "m", ModelFacts(functions=False))
    assert STORE.facts(changed, "m") == ModelFacts(functions=False)
    assert EndpointModel.objects.count() == 1


def test_operators_value_overrides_a_fact_of_the_server_and_is_not_stored_as_a_fact() -> None:
    STORE.remember(ENDPOINT, "m", FACTS)
    row = make_endpoint_model("local", "m", function_calling=False, image_input=True, context_tokens=100)
    facts = STORE.facts(ENDPOINT, "m")
    assert (facts.functions, facts.images, facts.context_tokens) == (False, True, 100)
    assert (facts.refuses, facts.demands, facts.is_probed) == (FACTS.refuses, FACTS.demands, True)
    STORE.remember(ENDPOINT, "m", facts)
    row.delete()
    assert STORE.facts(ENDPOINT, "m") == FACTS


def test_values_of_the_operator_for_one_endpoint_do_not_override_facts_about_another() -> None:
    make_endpoint_model("other", "m", function_calling=False)
    make_endpoint_model("", "m", image_input=False)
    assert STORE.facts(ENDPOINT, "m") == ModelFacts()


@pytest.mark.django_db(transaction=True)
def test_facts_can_be_stored_by_two_threads_at_the_same_time() -> None:
    def remember(number: int) -> None:
        try:
            STORE.remember(ENDPOINT, "m", ModelFacts(context_tokens=number))
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(remember, range(1, 13)))
    close_old_connections()
    assert STORE.facts(ENDPOINT, "m").context_tokens in range(1, 13)
    assert EndpointModel.objects.count() == 1


def test_model_list_of_a_server_updates_the_stored_facts_about_its_models(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    STORE.remember(ENDPOINT, "m", FACTS)
    listed = [make_listed("m", 4096, functions=False), make_listed("silent"), make_listed("n", images=True)]
    with django_assert_num_queries(2):
        remember_listed(ENDPOINT, listed)
    facts = STORE.facts(ENDPOINT, "m")
    assert (facts.context_tokens, facts.functions, facts.images) == (4096, False, False)
    assert (facts.refuses, facts.demands, facts.is_probed) == (FACTS.refuses, FACTS.demands, True)
    assert STORE.facts(ENDPOINT, "n") == ModelFacts(images=True)
    assert sorted(EndpointModel.objects.values_list("model", flat=True)) == ["m", "n"]
