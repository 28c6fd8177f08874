"""The catalogue in the admin: lists, forms with their errors, and permissions."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from chat.answering.prompt.instructions import default_texts
from chat.models import ENDPOINT_PROVIDER, Instruction, LanguageModel, Preset
from tests.chat.providers.catalogue.rows import make_endpoint, make_endpoint_model, make_model, make_preset
from tests.factories import make_user

pytestmark = pytest.mark.usefixtures("no_rows")

MODEL_FORM = {"provider": "gemini", "name": "m", "position": "0", "thinking_level": ""}


@pytest.fixture
def operator() -> Client:
    client = Client()
    client.force_login(make_user("operator", is_staff=True, is_superuser=True))
    return client


def staff_with(*codenames: str) -> Client:
    user = make_user(is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="chat", codename__in=codenames))
    client = Client()
    client.force_login(user)
    return client


def path_of(model: type[Model], page: str = "") -> str:
    return f"/admin/chat/{model.__name__.lower()}/{page}"


def page_of(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200
    return response.content.decode()


def rejected_form(client: Client, model: type[Model], data: dict[str, str]) -> str:
    response = client.post(path_of(model, "add/"), data)
    assert response.status_code == 200
    return response.content.decode()


def make_instruction() -> Instruction:
    return Instruction.objects.create(pk=1)


@pytest.mark.parametrize("make", [make_model, make_preset, make_instruction])
def test_list_search_and_pages_of_a_row_open_in_the_admin(operator: Client, make: Callable[[], Model]) -> None:
    row = make()
    for page in ("", "?q=some", f"{row.pk}/change/", f"{row.pk}/history/", f"{row.pk}/delete/"):
        page_of(operator, path_of(type(row), page))


@pytest.mark.parametrize("model", [LanguageModel, Preset])
def test_every_filter_of_a_list_works(operator: Client, model: type[Model]) -> None:
    make_preset()
    changelist = operator.get(path_of(model)).context["cl"]
    for spec in changelist.filter_specs:
        for choice in spec.choices(changelist):
            page_of(operator, path_of(model) + choice["query_string"])


@pytest.mark.parametrize("model", [LanguageModel, Preset])
def test_number_of_queries_of_a_list_does_not_depend_on_the_number_of_its_rows(
    operator: Client, model: type[Model]
) -> None:
    counts = []
    for times in range(2):
        for number in range(4):
            make_preset(f"p-{times}-{number}")
        with CaptureQueriesContext(connection) as queries:
            page_of(operator, path_of(model))
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_list_of_models_shows_prices_tools_and_end_dates(operator: Client) -> None:
    make_model("dear", input_price=2, output_price="12.5", url_context=False, image_output=True)
    make_model("half", input_price="0.75", code_execution=False, web_search=False, url_context=False)
    make_model("lapsed", input_price=2, output_price=12, prices_until=date(2026, 1, 31))
    make_model("dated", input_price=2, output_price=10, prices_until=date(2100, 1, 31), next_input_price=4)
    make_model("gemini-2.5-pro", missing_since=timezone.now())
    html = page_of(operator, path_of(LanguageModel))
    for text in (
        '"field-prices">2 / 12.5<',
        '"field-prices">0.75 / not known<',
        '"field-prices">not known after 2026-01-31<',
        '"field-prices">not known<',
        '"field-prices">2 / 10; from 2100-02-01: 4 / not known<',
        '"field-ends nowrap">Dec. 1, 2026<',
        '"field-tools">code, search, images<',
        '"field-tools">none<',
    ):
        assert text in html
    assert "dear" not in page_of(operator, path_of(LanguageModel, "?missing_since__isempty=0"))


def test_temperature_that_the_model_ignores_is_rejected(operator: Client) -> None:
    data = {**MODEL_FORM, "name": "gemini-4-neon", "temperature": "0.5"}
    assert "This model ignores the temperature" in rejected_form(operator, LanguageModel, data)
    assert not LanguageModel.objects.exists()


def test_list_of_presets_shows_only_tools_that_the_model_has(operator: Client) -> None:
    make_preset("p", language_model=make_model("m", web_search=False), web_search=True, thinking_budget=9000)
    html = page_of(operator, path_of(Preset))
    assert '"field-tools">code<' in html
    assert '"field-thinking">9,000<' in html


@pytest.mark.parametrize("make", [make_model, make_preset])
def test_list_can_change_whether_rows_are_enabled_and_their_order(
    operator: Client, make: Callable[[], LanguageModel | Preset]
) -> None:
    row = make()
    form = {"form-TOTAL_FORMS": "1", "form-INITIAL_FORMS": "1", "form-0-id": str(row.pk), "_save": "Save"}
    assert operator.post(path_of(type(row)), {**form, "form-0-position": "7"}).status_code == 302
    row.refresh_from_db()
    assert (row.is_enabled, row.position) == (False, 7)


# --- forms


def test_model_can_be_added_with_only_the_required_fields(operator: Client) -> None:
    assert operator.post(path_of(LanguageModel, "add/"), MODEL_FORM).status_code == 302
    row = LanguageModel.objects.get()
    assert (row.name, row.input_price, row.is_enabled) == ("m", None, False)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"thinking_level": "low", "thinking_budget": "5"}, "Set a thinking level or a thinking budget, not both"),
        ({"thinking_budget": "-2"}, "Ensure this value is greater than or equal to -1"),
        ({"provider": "other"}, "There is no provider “other” here. Known: gemini, openai_compatible."),
        ({"input_price": "-1"}, "Ensure this value is greater than or equal to 0"),
        ({"name": "taken"}, "already exists"),
        ({"name": ""}, "This field is required"),
        ({"protocol": "interactions", "thinking_budget": "5"}, "The chosen protocol has no budget."),
        ({"protocol": "interactions", "provider": "openai_compatible"}, "Only Gemini is asked by this protocol."),
    ],
)
def test_invalid_model_is_rejected_with_a_message(operator: Client, fields: dict[str, str], sentence: str) -> None:
    make_model("taken")
    assert sentence in rejected_form(operator, LanguageModel, {**MODEL_FORM, **fields})
    assert LanguageModel.objects.count() == 1


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"thinking_level": "low", "thinking_budget": "5"}, "Set a thinking level or a thinking budget, not both"),
        ({"slug": "m"}, "A model has this id. Choose another name for the preset."),
    ],
)
def test_invalid_preset_is_rejected_with_a_message(operator: Client, fields: dict[str, str], sentence: str) -> None:
    form = {"slug": "p", "label": "P", "language_model": str(make_model("m").pk), "position": "0"}
    assert sentence in rejected_form(operator, Preset, {**form, **fields})
    assert operator.post(path_of(Preset, "add/"), form).status_code == 302


def test_form_says_that_an_empty_price_means_not_known(operator: Client) -> None:
    assert "Empty means not known" in page_of(operator, path_of(LanguageModel, "add/"))


# --- instructions


def test_new_instruction_is_filled_with_the_default_texts(operator: Client) -> None:
    assert operator.get(path_of(Instruction, "add/")).context["adminform"].form.initial == default_texts()


def test_at_most_one_instruction_exists_and_a_deleted_one_can_be_added_again(operator: Client) -> None:
    assert operator.post(path_of(Instruction, "add/"), {"general": "Rhyme."}).status_code == 302
    assert Instruction.objects.get().pk == 1
    assert operator.get(path_of(Instruction, "add/")).status_code == 403
    assert operator.post(path_of(Instruction, "add/"), {"general": "Again."}).status_code == 403
    assert operator.post(path_of(Instruction, "1/change/"), {"general": "Sing."}).status_code == 302
    assert Instruction.objects.get().general == "Sing."
    assert operator.post(path_of(Instruction, "1/delete/"), {"post": "yes"}).status_code == 302
    assert operator.get(path_of(Instruction, "add/")).status_code == 200


# --- permissions


@pytest.mark.parametrize("model", [LanguageModel, Preset, Instruction])
def test_viewing_a_list_and_adding_rows_need_their_permissions(model: type[Model]) -> None:
    name = model.__name__.lower()
    without_permissions, viewer, adder = (
        staff_with(),
        staff_with(f"view_{name}"),
        staff_with(f"view_{name}", f"add_{name}"),
    )
    assert without_permissions.get(path_of(model)).status_code == 403
    assert viewer.get(path_of(model)).status_code == 200
    assert viewer.get(path_of(model, "add/")).status_code == 403
    assert adder.get(path_of(model, "add/")).status_code == 200


# --- the default preset


def choose_action(client: Client, *rows: Preset) -> str:
    data = {"action": "make_default", "_selected_action": [str(row.pk) for row in rows]}
    return client.post(path_of(Preset), data, follow=True).content.decode()


def test_action_makes_one_preset_the_default(operator: Client, settings: Settings) -> None:
    settings.DEFAULT_MODEL = ""
    first, second = make_preset("a", is_default=True), make_preset("b")
    assert "Select one preset" in choose_action(operator, first, second)
    page = choose_action(operator, second)
    assert "B is the default now." in page
    assert "has no effect" not in page
    assert [preset.slug for preset in Preset.objects.filter(is_default=True)] == ["b"]
    settings.DEFAULT_MODEL = "m"
    assert "It has no effect while the settings name “m”." in choose_action(operator, first)


def test_only_staff_who_may_change_presets_can_change_the_default() -> None:
    make_preset("a", is_default=True)
    second = make_preset("b")
    choose_action(staff_with("view_preset"), second)
    assert Preset.objects.get(is_default=True).slug == "a"
    choose_action(staff_with("view_preset", "change_preset"), second)
    assert Preset.objects.get(is_default=True).slug == "b"


def test_default_preset_cannot_be_deleted_alone_or_with_its_model(operator: Client) -> None:
    preset = make_preset("a", is_default=True)
    assert operator.post(path_of(Preset, f"{preset.pk}/delete/"), {"post": "yes"}).status_code == 403
    operator.post(path_of(LanguageModel, f"{preset.language_model_id}/delete/"), {"post": "yes"})
    selected = {"action": "delete_selected", "_selected_action": [str(preset.pk)], "post": "yes"}
    operator.post(path_of(Preset), selected)
    assert Preset.objects.filter(pk=preset.pk).exists()
    other = make_preset("b")
    assert operator.post(path_of(Preset, f"{other.pk}/delete/"), {"post": "yes"}).status_code == 302


def test_default_preset_cannot_be_changed_in_the_form_of_a_preset(operator: Client) -> None:
    preset = make_preset("a")
    form = {"slug": "a", "label": "A", "language_model": str(preset.language_model_id), "position": "0"}
    path = path_of(Preset, f"{preset.pk}/change/")
    assert "Make this preset the default" in page_of(operator, path)
    assert operator.post(path, {**form, "is_default": "on"}).status_code == 302
    assert not Preset.objects.filter(is_default=True).exists()


@pytest.mark.parametrize("character", ["\n", "\x1b", "\u202e", "\u200b", "\u2028"])
def test_name_of_a_model_with_control_or_invisible_characters_is_refused(operator: Client, character: str) -> None:
    html = rejected_form(operator, LanguageModel, {**MODEL_FORM, "name": f"a{character}b"})
    assert "control characters or invisible characters" in html
    assert not LanguageModel.objects.exists()


def test_model_of_an_endpoint_cannot_be_given_tools_that_its_server_does_not_run(operator: Client) -> None:
    make_endpoint("local")
    form = {**MODEL_FORM, "provider": ENDPOINT_PROVIDER, "endpoint": "local"}
    for tool, words in {"code_execution": "run code", "web_search": "search", "url_context": "search"}.items():
        html = rejected_form(operator, LanguageModel, {**form, tool: "on"})
        assert html.count(f"Servers of this protocol do not {words}") == 1
    assert not LanguageModel.objects.exists()
    operator.post(path_of(LanguageModel, "add/"), form)
    assert LanguageModel.objects.get().name == "m"


def test_lists_show_no_tools_for_endpoint_models_even_if_the_row_has_them(operator: Client) -> None:
    make_endpoint("local")
    ticks = {"code_execution": True, "web_search": True, "url_context": True}
    row = make_endpoint_model("local", "llama", **ticks)
    make_preset("p", language_model=row, web_search=True)
    for model in (LanguageModel, Preset):
        assert '"field-tools">none<' in page_of(operator, path_of(model))
    # Such a row can still be disabled in the list.
    total = {"form-TOTAL_FORMS": "1", "form-INITIAL_FORMS": "1", "form-0-id": str(row.pk), "form-0-position": "3"}
    assert operator.post(path_of(LanguageModel), {**total, "_save": "Save"}).status_code == 302
    row.refresh_from_db()
    assert (row.is_enabled, row.position) == (False, 3)
