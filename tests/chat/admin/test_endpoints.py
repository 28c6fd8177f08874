"""Endpoints in the admin: the form, the buttons that list models and test the endpoint, and deletion with models."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from chat.models import EndpointModel, LanguageModel, ModelEndpoint, Preset
from chat.providers.catalogue.endpoints import StoredEndpoints
from chat.providers.openai_compatible.endpoint import ModelFacts
from chat.providers.provider_errors import Unauthorised
from tests.chat.admin.factories import admin_url, client_of, make_account
from tests.chat.providers.catalogue.fake_endpoint import Server, fake_server, make_listed, said
from tests.chat.providers.catalogue.rows import make_endpoint, make_endpoint_model, make_preset

pytestmark = pytest.mark.django_db

URL = admin_url(ModelEndpoint)
FORM = {"name": "local", "base_url": "http://ollama:11434/v1/", "dialect": "", "is_enabled": "on"}


@pytest.fixture
def operator() -> Client:
    return client_of(make_account("superuser"))


@pytest.fixture
def server(settings: Settings) -> Iterator[Server]:
    LanguageModel.objects.all().delete()
    with fake_server(settings) as server:
        yield server


def text_of(client: Client, path: str, data: dict[str, str] | None = None) -> str:
    response = client.get(path) if data is None else client.post(path, data)
    assert response.status_code == 200
    return response.content.decode()


def test_endpoint_can_be_added_and_its_name_cannot_be_changed(operator: Client) -> None:
    assert operator.post(f"{URL}add/", FORM).status_code == 302
    row = ModelEndpoint.objects.get()
    assert (row.name, row.base_url) == ("local", "http://ollama:11434/v1")
    change = {**FORM, "name": "other", "label": "Ollama"}
    assert operator.post(admin_url(ModelEndpoint, row.pk), change).status_code == 302
    row.refresh_from_db()
    assert (row.name, row.label) == ("local", "Ollama")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"base_url": "ollama:11434"}, "begins with http:// or https://"),
        ({"api_key_variable": "SECRET_KEY"}, "end in _API_KEY."),
        ({"api_key_variable": "OPENAI_API_KEY"}, "This key belongs to the settings of the server."),
        ({"dialect": "other"}, "Select a valid choice"),
        ({"name": ""}, "This field is required"),
    ],
)
def test_invalid_endpoint_is_rejected_with_a_sentence(operator: Client, fields: dict[str, str], sentence: str) -> None:
    assert sentence in text_of(operator, f"{URL}add/", {**FORM, **fields})
    assert not ModelEndpoint.objects.exists()


def test_variable_that_is_not_set_is_reported_when_the_endpoint_is_saved(operator: Client) -> None:
    response = operator.post(f"{URL}add/", {**FORM, "api_key_variable": "ABSENT_API_KEY"}, follow=True)
    assert "The variable ABSENT_API_KEY is not set on this server." in response.content.decode()


def test_list_shows_the_recognised_kind_of_server_and_the_number_of_models(operator: Client) -> None:
    make_endpoint("a", base_url="http://localhost:11434/v1")
    make_endpoint("b", dialect="vllm")
    for name in ("x", "y"):
        make_endpoint_model("a", name)
    make_endpoint_model("", "z")
    html = text_of(operator, URL)
    assert '"field-recognised_dialect">ollama (by its address)<' in html
    assert '"field-recognised_dialect">vllm<' in html
    assert '"field-models">2<' in html
    assert '"field-models">0<' in html


def test_query_count_of_the_list_does_not_depend_on_its_rows(operator: Client) -> None:
    counts = []
    for times in range(2):
        for number in range(3):
            make_endpoint_model(make_endpoint(f"e-{times}-{number}").name)
        with CaptureQueriesContext(connection) as queries:
            text_of(operator, URL)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_models_of_a_disabled_endpoint_can_be_added(operator: Client) -> None:
    make_endpoint(is_enabled=False)
    form = {"provider": "openai_compatible", "endpoint": "local", "name": "m", "position": "0", "thinking_level": ""}
    form |= {"function_calling": "true", "image_input": "unknown"}
    assert operator.post("/admin/chat/languagemodel/add/", form).status_code == 302
    row = LanguageModel.objects.get(name="m")
    assert (row.function_calling, row.image_input) == (True, None)
    html = text_of(operator, "/admin/chat/languagemodel/add/", {**form, "name": "n", "endpoint": "missing"})
    assert "There is no endpoint “missing” of the provider here." in html
    html = text_of(operator, "/admin/chat/languagemodel/add/", {**form, "name": "n", "endpoint": ""})
    assert "There is no endpoint “” of the provider here." in html


# --- buttons


def test_button_adds_the_models_that_the_server_lists(operator: Client, server: Server) -> None:
    row = make_endpoint()
    server.models = [
        make_listed("m", 4096, functions=True),
        make_listed("n" * 201),
        make_listed("nul\0"),
        make_listed(""),
    ]
    html = text_of(operator, f"{URL}{row.pk}/list-models/", {})
    assert "<li>m: new, disabled until you enable it in the admin</li>" in html
    assert "<li>openai_compatible (endpoint “local”) lists 1 models; 1 things changed.</li>" in html
    model = LanguageModel.objects.get()
    assert (model.endpoint, model.name, model.context_tokens, model.is_enabled) == ("local", "m", 4096, False)
    assert StoredEndpoints().facts(StoredEndpoints().find("local"), "m").functions


def test_page_says_why_a_server_lists_no_models(operator: Client, server: Server) -> None:
    row = make_endpoint()
    server.models = Unauthorised("401 <b>no</b>")
    html = text_of(operator, f"{URL}{row.pk}/list-models/", {})
    assert "refused this server&#x27;s key" in html
    assert "401 &lt;b&gt;no&lt;/b&gt;" in html


def test_page_shows_each_result_of_an_endpoint_test_without_the_api_key(
    operator: Client, server: Server, settings: Settings
) -> None:
    settings.ENDPOINT_API_KEYS = {"SOME_API_KEY": "sk-secret"}
    row = make_endpoint(api_key_variable="SOME_API_KEY")
    make_endpoint_model("local", "big")
    server.image = [said("Blue <i>sk-secret</i>")]
    html = text_of(operator, f"{URL}{row.pk}/test/", {"model": "big"})
    assert '<th scope="row">Answer</th><td>works</td><td>big answered “hello”.</td>' in html
    assert '<th scope="row">Image</th><td>does not work</td><td>The model answered “Blue &lt;i&gt;(key)' in html
    assert '<option value="big" selected>' in html
    assert "sk-secret" not in html
    assert set(server.asked_models) == {"big"}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("status", [302, 307])
def test_redirects_of_a_server_are_not_followed(operator: Client, settings: Settings, status: int) -> None:
    """A redirect could make this server send the endpoint's key to addresses that only this server can reach."""
    settings.ENDPOINT_API_KEYS = {"SOME_API_KEY": "sk-secret"}
    asked: list[str] = []

    class Redirects(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(status)
            self.send_header("Location", f"http://127.0.0.1:{self.server.server_port}/inside")  # type: ignore[attr-defined]
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_POST = do_GET

    with ThreadingHTTPServer(("127.0.0.1", 0), Redirects) as http_server:
        threading.Thread(target=http_server.serve_forever).start()
        row = make_endpoint(api_key_variable="SOME_API_KEY", base_url=f"http://127.0.0.1:{http_server.server_port}/v1/")
        make_endpoint_model("local", "big")
        pages = [
            text_of(operator, f"{URL}{row.pk}/list-models/", {}),
            text_of(operator, f"{URL}{row.pk}/test/", {"model": "big"}),
        ]
        http_server.shutdown()
    assert {path.partition("/v1/")[0] for path in asked} == {""}
    assert all(str(status) in page and "sk-secret" not in page for page in pages)


def test_page_of_an_endpoint_has_the_buttons_and_no_inline_script(operator: Client, server: Server) -> None:
    row = make_endpoint()
    html = text_of(operator, admin_url(ModelEndpoint, row.pk))
    for text in ("List its models", "Test this endpoint", f"{URL}{row.pk}/test/", f"{URL}{row.pk}/list-models/"):
        assert text in html
    assert "style=" not in html[html.index("Try the server") : html.index("modelendpoint_form")]
    assert "List its models" not in text_of(operator, f"{URL}add/")


@pytest.mark.parametrize("button", ["test", "list-models"])
def test_buttons_need_post_and_the_permission_to_change(server: Server, button: str) -> None:
    row = make_endpoint()
    viewer = make_account("staff")
    viewer.user_permissions.set(Permission.objects.filter(codename="view_modelendpoint"))
    client = client_of(viewer)
    assert "List its models" not in text_of(client, admin_url(ModelEndpoint, row.pk))
    path = f"{URL}{row.pk}/{button}/"
    assert client.post(path).status_code == 403
    assert client_of(make_account("superuser")).get(path).status_code == 405
    assert server.asked_models == []


# --- deletion


def make_full_endpoint(name: str) -> ModelEndpoint:
    row = make_endpoint(name)
    make_preset(f"preset-{name}", language_model=make_endpoint_model(name, f"model-{name}"))
    StoredEndpoints().remember(StoredEndpoints().find(name), "m", ModelFacts(functions=True))
    return row


def test_deleting_an_endpoint_deletes_its_models(operator: Client, server: Server) -> None:
    row, _ = make_full_endpoint("a"), make_full_endpoint("b")
    path = admin_url(ModelEndpoint, row.pk, "delete")
    confirmation = text_of(operator, path)
    assert "model-a" in confirmation
    assert "Preset-A" in confirmation
    assert "model-b" not in confirmation
    assert operator.post(path, {"post": "yes"}).status_code == 302
    assert [row.name for row in ModelEndpoint.objects.all()] == ["b"]
    assert [row.endpoint for row in LanguageModel.objects.all()] == ["b"]
    assert [row.endpoint for row in EndpointModel.objects.all()] == ["b"]
    assert [row.slug for row in Preset.objects.all()] == ["preset-b"]


def test_several_endpoints_are_deleted_together_or_not_at_all(
    operator: Client, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [make_full_endpoint(name) for name in ("a", "b")]
    data = {"action": "delete_selected", "_selected_action": [str(row.pk) for row in rows], "post": "yes"}
    with monkeypatch.context() as patch:
        patch.setattr(ModelEndpoint, "delete", lambda self: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            operator.post(URL, data)
    assert (ModelEndpoint.objects.count(), LanguageModel.objects.count(), EndpointModel.objects.count()) == (2, 2, 2)
    assert operator.post(URL, data).status_code == 302
    assert not ModelEndpoint.objects.exists()
    assert not LanguageModel.objects.exists()
    assert not EndpointModel.objects.exists()
