"""The OpenAPI document is valid, complete and true; and the documentation page shows it."""

from __future__ import annotations

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

from attachments.models import AttachmentPreview
from chat.api.problems import ProblemType
from chat.api.urls import calls
from chat.messages.number_ledgers import VERSION as LEDGER_VERSION
from chat.models import NewerFileRun, NumberLedger, Project, PythonSession, Share, User
from chat.models.projects import add_files
from chat.python.kernels.table_reading import TableColumn, TableReading
from chat.python.table_readings.stored_readings import VERSION
from tests.chat.api.api_client import ApiClient
from tests.factories import attach, make_attachment, make_conversation, make_graph, make_model_message
from tests.live_server import LiveServer

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """Return the document as anonymous clients get it."""
    response = Client().get("/api/schema/")
    assert response.status_code == 200
    document: dict[str, Any] = response.json()
    return document


def test_openapi_document_is_valid(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1.")
    OpenAPIV31SpecValidator(document).validate()


def test_openapi_document_lists_every_method_of_every_call(document: dict[str, Any]) -> None:
    documented = {re.sub(r"{\w+}", "{}", path): set(methods) for path, methods in document["paths"].items()}
    views = {
        "/api/v1/" + re.sub(r"<.*?>", "{}", str(call.pattern)): vars(call.callback)["view_class"]
        for call in calls
        if vars(call.callback)["view_initkwargs"].get("schema", True) is not None
    }
    methods = ("get", "post", "put", "patch", "delete")
    assert documented == {path: {one for one in methods if hasattr(view, one)} for path, view in views.items()}


def test_calls_parameters_and_schemas_are_described(document: dict[str, Any]) -> None:
    for path, methods in document["paths"].items():
        for method, call in methods.items():
            assert call["summary"], (path, method)
            assert call["description"], (path, method)
            assert {"401", "429"} <= set(call["responses"]), (path, method)
            for parameter in call.get("parameters", []):
                assert parameter.get("description") or parameter["in"] == "path", (path, parameter["name"])
    for name, schema in document["components"]["schemas"].items():
        assert schema.get("description") or "enum" in schema, name
        for field, field_schema in schema.get("properties", {}).items():
            if field in ("width", "height", "cost", "thought_signature"):
                assert field_schema["description"], (name, field)


def strict(schema: Any, document: dict[str, Any]) -> Any:  # noqa: ANN401 - any JSON
    """Return a schema without references that forbids fields which it does not name."""
    if isinstance(schema, list):
        return [strict(inner, document) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return strict(document["components"]["schemas"][schema["$ref"].rpartition("/")[2]], document)
    result = {name: strict(inner, document) for name, inner in schema.items()}
    if "properties" in result:
        result["additionalProperties"] = False
    return result


def test_responses_have_the_documented_fields_and_no_others(
    document: dict[str, Any], client: Client, owner: User
) -> None:
    message = make_model_message(
        make_conversation(owner, title="Mimosa"), finish="stop", finish_reason="STOP", cost="0.1"
    )
    graph = make_graph(message, part_index=0)
    Share.objects.issue(message.conversation)
    PythonSession.objects.create(
        conversation=message.conversation,
        variables=[{"name": "x", "type": "int", "preview": "1", "shape": [], "size_bytes": 28}],
        files=[{"name": "out.csv", "size_bytes": 1, "modified_at": "2026-01-31T12:00:00+00:00"}],
    )
    attach(message.turn.user_message, make_attachment(owner))
    project = Project.objects.start(owner.pk, name="Harbour")
    add_files(project, [graph])
    source = {"message_id": None, "part_index": None, "line": 0, "text": "2 - 1"}
    number = {"text": "1", "start": 0, "end": 1, "value": "1", "unit": "", "verdict": "derived", "source": source}
    NumberLedger.objects.create(message=message, version=LEDGER_VERSION, numbers=[number], without_source=0)
    verdict = {"message_id": str(message.pk), "index": 0, "verdict": "differs", "detail": "Line 1 is new: “1”."}
    lost = {**number, "message_id": str(message.pk), "after": "2", "line_before": "1", "line_after": "2"}
    run = NewerFileRun.objects.create(
        conversation=message.conversation, replaced=graph, newer=graph, blocks=[verdict], numbers=[lost]
    )
    rows = {
        "run": run,
        "message": message,
        "conversation": message.conversation,
        "turn": message.turn,
        "attachment": graph,
        "project": project,
    }
    ids = {f"{name}_id": row.pk for name, row in rows.items()}
    column = TableColumn("n", "number", 0, 2, "1", "2", (), is_index=False)
    reading = TableReading("CSV", 2, 1, (column,), ("A note.",), reading={"header_rows": 1, "missing_words": ["n/a"]})
    table = make_attachment(owner)
    AttachmentPreview.objects.create(attachment=table, version=VERSION, content=reading.as_json())
    checked = 0
    for path, methods in document["paths"].items():
        content = methods.get("get", {}).get("responses", {}).get("200", {}).get("content", {})
        # The JSON of an export has a separate schema, which is not in the document.
        if "application/json" not in content or "{format}" in path:
            continue
        schema = strict(content["application/json"]["schema"], document)
        for query in ("", "?q=mimosa") if path.endswith("/conversations/") else ("",):
            file = {"attachment_id": table.pk} if path.endswith("/table/") else {}
            Draft202012Validator(schema).validate(client.get(path.format(**{**ids, **file}) + query).json())
            checked += 1
    assert checked == 15
    problem = client.get("/api/v1/turns/x/").json()
    Draft202012Validator(strict({"$ref": "#/components/schemas/Problem"}, document)).validate(problem)


def test_page_shows_every_call_without_scripts(document: dict[str, Any]) -> None:
    response = Client().get("/api/docs/")
    page = response.content.decode()
    assert response.status_code == 200
    assert "<script" not in page
    assert re.findall(r'(?:src|href)="(https?:[^"]*)"', page) == []
    for path, methods in document["paths"].items():
        for method, call in methods.items():
            assert f"<code>{method.upper()} {path}</code>" in page
            assert f'id="{call["operationId"]}"' in page
    for problem_type in ProblemType:
        assert f'id="problem-{problem_type.slug}"' in page


def test_page_links_to_the_tokens_of_a_user_who_is_signed_in(client: Client) -> None:
    assert 'href="/accounts/tokens/"' in client.get("/api/docs/").content.decode()


@pytest.mark.drill
def test_server_responses_to_generated_requests_conform_to_the_openapi_document(
    document: dict[str, Any], server: LiveServer, token: str, api: ApiClient
) -> None:
    """Run Schemathesis with all its checks of requests and responses."""
    # This turn makes rows, so that lists are not empty.
    api.wait_for_end(api.start_turn("scenario-code", code_execution="on")["id"])
    seed = os.environ.get("PLOTLINE_TEST_SEED", "1")
    command = [
        str(Path(sys.executable).parent / "schemathesis"),
        *("--config-file", str(HERE / "schemathesis.toml"), "run", f"{server.url}/api/schema/"),
        *("--header", f"Authorization: Bearer {token}", "--seed", seed),
        *("--max-examples", "3", "--request-timeout", "10", "--continue-on-failure"),
    ]
    with tempfile.TemporaryDirectory() as folder:
        completed = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240)
    assert completed.returncode == 0, completed.stdout[-8000:] + completed.stderr[-2000:]
    operations = sum(len(methods) for methods in document["paths"].values())
    assert f"Tested: {operations}" in completed.stdout
    assert "Traceback" not in server.log()
