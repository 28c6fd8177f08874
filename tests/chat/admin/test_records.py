"""The admin's lists and pages of stored rows: every row can be opened, in a constant number of queries."""

from __future__ import annotations

import pytest
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chat.models import Conversation, Message, MessageAttachment, Part, Turn, TurnEvent
from tests.chat.admin.factories import SECRET, admin_url, client_of, make_account
from tests.factories import make_conversation, make_graph, make_model_message

pytestmark = pytest.mark.django_db

RECORDS: tuple[type[Model], ...] = (Message, Part, MessageAttachment, Turn, TurnEvent)
MODELS = (Conversation, *RECORDS)


def first_row(model: type[Model]) -> Model:
    row = model._default_manager.first()
    assert row is not None
    return row


@pytest.mark.parametrize("model", MODELS)
def test_every_model_has_a_list_a_page_a_history_and_a_search(
    superuser: Client, conversation: Conversation, model: type[Model]
) -> None:
    row = first_row(model)
    list_url = admin_url(model)
    for url in (
        list_url,
        admin_url(model, row.pk),
        admin_url(model, row.pk, "history"),
        f"{list_url}?q=primes",
        f"{list_url}?q={row.pk}",
    ):
        assert superuser.get(url).status_code == 200, url


@pytest.mark.parametrize("model", RECORDS)
def test_every_choice_of_every_list_filter_returns_a_page(
    superuser: Client, conversation: Conversation, model: type[Model]
) -> None:
    changelist = superuser.get(admin_url(model)).context["cl"]
    for spec in changelist.filter_specs:
        for choice in spec.choices(changelist):
            assert superuser.get(admin_url(model) + choice["query_string"]).status_code == 200


@pytest.mark.parametrize("model", MODELS)
def test_number_of_queries_does_not_depend_on_the_number_of_rows(
    superuser: Client, conversation: Conversation, model: type[Model]
) -> None:
    urls = [admin_url(model), admin_url(model, first_row(model).pk)]

    def add_rows() -> None:
        for _ in range(5):
            make_graph(make_model_message(conversation), part_index=0)
            make_model_message(make_conversation(), status=Turn.Status.FAILED, error_code="overloaded")

    def count_queries() -> list[int]:
        counts = []
        for url in urls:
            with CaptureQueriesContext(connection) as queries:
                assert superuser.get(url).status_code == 200
            counts.append(len(queries))
        return counts

    add_rows()
    superuser.get(urls[1])  # The first read also adds an entry to the access log.
    counts_of_few = count_queries()
    add_rows()
    assert count_queries() == counts_of_few


def test_turns_show_status_timings_usage_and_error(superuser: Client) -> None:
    make_model_message(make_conversation(), status=Turn.Status.FAILED, error_code="overloaded", error_status=503)
    page = superuser.get(admin_url(Turn)).content.decode()
    timings = ('field-first_part_s">2.0<', 'field-duration_s">5.0<')
    for text in ("overloaded", "plotline-demo", 'field-tokens">7<', 'field-events_count">1<', *timings):
        assert text in page
    assert "field-error_status" in superuser.get(admin_url(Turn, Turn.objects.get().pk)).content.decode()


@pytest.mark.parametrize("status", [503, None])
def test_operators_see_only_code_and_status_of_an_error(status: int | None) -> None:
    make_model_message(
        make_conversation(),
        status=Turn.Status.FAILED,
        error_code="overloaded",
        error_status=status,
        error_detail=f"503 {SECRET}",
        finish_reason=SECRET,
        model_version=SECRET,
        response_id=SECRET,
    )
    turn = Turn.objects.get()
    operator = client_of(make_account("operator"))
    page = operator.get(admin_url(Turn, turn.pk))
    assert page.context["original"] == turn
    html = page.content.decode()
    assert "overloaded" in html
    assert (">503<" in html) is (status == 503)
    assert SECRET not in html + operator.get(admin_url(Turn)).content.decode()
