"""The catalogue in the admin: operators see at a glance what is offered and known, and are told what is wrong."""

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

from chat.catalogue.instructions import default_texts
from chat.models import Instruction, LanguageModel, Preset
from tests.chat.catalogue.rows import make_model, make_preset
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


def refusal(client: Client, model: type[Model], data: dict[str, str]) -> str:
    response = client.post(path_of(model, "add/"), data)
    assert response.status_code == 200
    return response.content.decode()


def make_instruction() -> Instruction:
    return Instruction.objects.create(pk=1)


@pytest.mark.parametrize("make", [make_model, make_preset, make_instruction])
def test_every_page_opens(operator: Client, make: Callable[[], Model]) -> None:
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
def test_lists_take_the_same_queries_whatever_they_show(operator: Client, model: type[Model]) -> None:
    counts = []
    for times in range(2):
        for number in range(4):
            make_preset(f"p-{times}-{number}")
        with CaptureQueriesContext(connection) as queries:
            page_of(operator, path_of(model))
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_list_of_models_shows_what_is_known(operator: Client) -> None:
    make_model("dear", input_price=2, output_price="12.5", url_context=False, image_output=True)
    make_model("half", input_price="0.75", code_execution=False, google_search=False, url_context=False)
    make_model("lapsed", input_price=2, output_price=12, prices_until=date(2026, 1, 31))
    make_model("free", missing_since=timezone.now())
    listed = page_of(operator, path_of(LanguageModel))
    for text in (
        '"field-prices">2 / 12.5<',
        '"field-prices">0.75 / not known<',
        '"field-prices">not known after 2026-01-31<',
        '"field-prices">not known<',
        '"field-tools">code, search, images<',
        '"field-tools">none<',
    ):
        assert text in listed
    assert "dear" not in page_of(operator, path_of(LanguageModel, "?missing_since__isempty=0"))


def test_list_of_presets_shows_the_tools_they_really_have(operator: Client) -> None:
    make_preset("p", language_model=make_model("m", google_search=False), google_search=True, thinking_budget=9000)
    listed = page_of(operator, path_of(Preset))
    assert '"field-tools">code<' in listed
    assert '"field-thinking">9,000<' in listed


@pytest.mark.parametrize("make", [make_model, make_preset])
def test_rows_are_enabled_and_ordered_in_the_list(operator: Client, make: Callable[[], LanguageModel | Preset]) -> None:
    row = make()
    form = {"form-TOTAL_FORMS": "1", "form-INITIAL_FORMS": "1", "form-0-id": str(row.pk), "_save": "Save"}
    assert operator.post(path_of(type(row)), {**form, "form-0-position": "7"}).status_code == 302
    row.refresh_from_db()
    assert (row.is_enabled, row.position) == (False, 7)


# --- forms


def test_model_can_be_added_with_what_must_be_known(operator: Client) -> None:
    assert operator.post(path_of(LanguageModel, "add/"), MODEL_FORM).status_code == 302
    row = LanguageModel.objects.get()
    assert (row.name, row.input_price, row.is_enabled) == ("m", None, False)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"thinking_level": "LOW", "thinking_budget": "5"}, "Set a thinking level or a thinking budget, not both"),
        ({"thinking_budget": "-2"}, "Ensure this value is greater than or equal to -1"),
        ({"provider": "other"}, "There is no provider “other” here. Known: gemini."),
        ({"input_price": "-1"}, "Ensure this value is greater than or equal to 0"),
        ({"name": "taken"}, "already exists"),
        ({"name": ""}, "This field is required"),
    ],
)
def test_wrong_model_is_refused_with_a_sentence(operator: Client, wrong: dict[str, str], sentence: str) -> None:
    make_model("taken")
    assert sentence in refusal(operator, LanguageModel, {**MODEL_FORM, **wrong})
    assert LanguageModel.objects.count() == 1


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"thinking_level": "LOW", "thinking_budget": "5"}, "Set a thinking level or a thinking budget, not both"),
        ({"slug": "m"}, "A model has this id. Choose another name for the preset."),
    ],
)
def test_wrong_preset_is_refused_with_a_sentence(operator: Client, wrong: dict[str, str], sentence: str) -> None:
    form = {"slug": "p", "label": "P", "language_model": str(make_model("m").pk), "position": "0"}
    assert sentence in refusal(operator, Preset, {**form, **wrong})
    assert operator.post(path_of(Preset, "add/"), form).status_code == 302


def test_admin_says_what_no_price_means(operator: Client) -> None:
    assert "Empty means not known" in page_of(operator, path_of(LanguageModel, "add/"))


# --- what every model is told


def test_new_instruction_is_filled_with_the_products_own(operator: Client) -> None:
    assert operator.get(path_of(Instruction, "add/")).context["adminform"].form.initial == default_texts()


def test_there_is_one_instruction_at_most_and_deleting_it_makes_room(operator: Client) -> None:
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
def test_permissions_are_djangos(model: type[Model]) -> None:
    name = model.__name__.lower()
    nobody, viewer, adder = staff_with(), staff_with(f"view_{name}"), staff_with(f"view_{name}", f"add_{name}")
    assert nobody.get(path_of(model)).status_code == 403
    assert viewer.get(path_of(model)).status_code == 200
    assert viewer.get(path_of(model, "add/")).status_code == 403
    assert adder.get(path_of(model, "add/")).status_code == 200
