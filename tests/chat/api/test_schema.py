"""The OpenAPI document: valid, whole, true; and the page made of it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from chat.api.problems import KINDS
from chat.api.urls import calls
from tests.chat.api.calling import Caller
from tests.factories import attach, make_attachment, make_conversation, make_graph, make_model_message, make_user
from tests.live_server import LiveServer

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """As anybody gets it."""
    response = Client().get("/api/schema/")
    assert response.status_code == 200
    found: dict[str, Any] = response.json()
    return found


def test_document_is_valid(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1.")
    OpenAPIV31SpecValidator(document).validate()


def test_every_call_is_in_it_and_every_method(document: dict[str, Any]) -> None:
    described = {re.sub(r"{\w+}", "{}", path): set(methods) for path, methods in document["paths"].items()}
    views = {
        "/api/v1/" + re.sub(r"<.*?>", "{}", str(call.pattern)): vars(call.callback)["view_class"] for call in calls
    }
    methods = ("get", "post", "put", "patch", "delete")
    served = {path: {method for method in methods if hasattr(view, method)} for path, view in views.items()}
    assert described == served


def test_everything_has_its_words(document: dict[str, Any]) -> None:
    for path, methods in document["paths"].items():
        for method, call in methods.items():
            assert call["summary"], (path, method)
            assert call["description"], (path, method)
            assert {"401", "429"} <= set(call["responses"]), (path, method)
            for parameter in call.get("parameters", []):
                assert parameter.get("description") or parameter["in"] == "path", (path, parameter["name"])
    for name, shape in document["components"]["schemas"].items():
        assert shape["description"], name
        for field, schema in shape["properties"].items():
            if field.endswith("_bytes") or field in ("width", "height", "cost", "thought_signature"):
                assert schema.get("description") or field == "size_bytes", (name, field)


def closed(schema: Any, document: dict[str, Any]) -> Any:  # noqa: ANN401 - any JSON
    """A schema without references, whose objects have no fields but those that it names."""
    if isinstance(schema, list):
        return [closed(inner, document) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return closed(document["components"]["schemas"][schema["$ref"].rpartition("/")[2]], document)
    made = {name: closed(inner, document) for name, inner in schema.items()}
    if "properties" in made and "allOf" not in made:
        made["additionalProperties"] = False
    return made


@pytest.mark.django_db
def test_answers_have_the_fields_that_it_names_and_no_others(document: dict[str, Any]) -> None:
    message = make_model_message(make_conversation(title="Mimosa"), finish_reason="STOP", cost="0.1")
    graph = make_graph(message, part_index=0)
    attach(message.turn.user_message, make_attachment(message.conversation.owner))
    client = Client()
    client.force_login(message.conversation.owner)
    ids = {"conversation_id": message.conversation_id, "turn_id": message.turn.pk, "attachment_id": graph.pk}
    checked = 0
    for path, methods in document["paths"].items():
        content = methods.get("get", {}).get("responses", {}).get("200", {}).get("content", {})
        # An export is described by a schema of its own.
        if "application/json" not in content or "{format}" in path:
            continue
        schema = closed(content["application/json"]["schema"], document)
        for query in ("", "?q=mimosa") if path.endswith("/conversations/") else ("",):
            said = client.get(path.format(**ids) + query).json()
            Draft202012Validator(schema).validate(said)
            checked += 1
    assert checked == 6
    problem = client.get("/api/v1/turns/x/").json()
    Draft202012Validator(closed({"$ref": "#/components/schemas/Problem"}, document)).validate(problem)


def test_page_shows_every_call_and_needs_no_script(document: dict[str, Any]) -> None:
    response = Client().get("/api/docs/")
    page = response.content.decode()
    assert response.status_code == 200
    assert "<script" not in page
    assert re.findall(r'(?:src|href)="(https?:[^"]*)"', page) == []
    for path, methods in document["paths"].items():
        for method, call in methods.items():
            assert f"<code>{method.upper()} {path}</code>" in page
            assert f'id="{call["operationId"]}"' in page
    for name in KINDS:
        assert f'id="problem-{name}"' in page


@pytest.mark.django_db
def test_page_offers_tokens_to_who_is_signed_in() -> None:
    client = Client()
    client.force_login(make_user())
    assert 'href="/accounts/tokens/"' in client.get("/api/docs/").content.decode()


def test_server_does_what_the_document_says(server: LiveServer, token: str, caller: Caller) -> None:
    """Schemathesis, all checks: what is valid is taken, what is not is refused, each answer is as described."""
    # Some rows to stumble on.
    caller.ended(caller.begin("scenario-code", code_execution="on")["id"])
    seed = os.environ.get("PLOTLINE_TEST_SEED", "1")
    command = [
        str(Path(sys.executable).parent / "schemathesis"),
        *("--config-file", str(HERE / "schemathesis.toml"), "run", f"{server.url}/api/schema/"),
        *("--header", f"Authorization: Bearer {token}", "--seed", seed),
        *("--max-examples", "3", "--request-timeout", "10", "--continue-on-failure"),
    ]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    summary = json.dumps(done.stdout[-1500:])
    assert "Tested: 18" in summary
    assert "Traceback" not in server.log()
