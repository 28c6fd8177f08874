"""The overview page: who may see it, what it says, and that it needs nothing but itself."""

from __future__ import annotations

import re
from datetime import timedelta
from xml.etree import ElementTree

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.utils import timezone

from chat.emulator import embedded
from chat.models import Turn
from tests.factories import make_attachment, make_conversation, make_model_message, make_user

pytestmark = pytest.mark.django_db
PAGE = "/admin/overview/"
SECRET = "Zebrafinch"


def operator() -> User:
    """Staff with the permission and no other."""
    user = make_user(is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_overview"))
    return user


def page(user: User, query: str = "") -> str:
    client = Client()
    client.force_login(user)
    response = client.get(PAGE + query)
    assert response.status_code == 200
    return response.content.decode()


def make_some_turns() -> None:
    conversation = make_conversation(title=SECRET)
    for number, status in enumerate((Turn.Status.DONE, Turn.Status.FAILED, Turn.Status.DONE)):
        message = make_model_message(conversation, status=status, error_code="overloaded" if number == 1 else "")
        Turn.objects.filter(pk=message.turn.pk).update(
            created_at=timezone.now() - timedelta(days=number),
            model=f"model-{number}",
            error_detail=SECRET,
            cost="0.01",
        )
    make_attachment(conversation.owner, name=f"{SECRET}.csv")
    make_model_message(make_conversation(title=SECRET), status=Turn.Status.RUNNING)


def test_only_staff_with_the_permission_see_it_and_the_link() -> None:
    client = Client()
    assert client.get(PAGE).status_code == 302
    client.force_login(make_user())
    assert client.get(PAGE).status_code == 302
    staff = make_user(is_staff=True)
    client.force_login(staff)
    assert client.get(PAGE).status_code == 403
    assert PAGE not in client.get("/admin/").content.decode()
    for user in (operator(), make_user(is_staff=True, is_superuser=True)):
        client.force_login(user)
        assert client.get(PAGE).status_code == 200
        assert PAGE in client.get("/admin/").content.decode()
        assert client.post(PAGE).status_code == 405


def test_operators_have_the_permission() -> None:
    operators = Group.objects.get(name="Operator")
    assert operators.permissions.filter(codename="view_overview").exists()


def test_page_tells_numbers_and_no_content() -> None:
    make_some_turns()
    text = page(operator())
    assert SECRET not in text
    for words in ("model-0", "overloaded", "Time to the first part", "under a minute", "Just now", "US dollars a day"):
        assert words in text
    assert "No turns in this period." not in text


def test_charts_are_images_with_titles_axes_and_tables() -> None:
    make_some_turns()
    text = page(operator())
    charts = re.findall(r'<section class="chart".*?</section>', text, flags=re.DOTALL)
    drawn = [chart for chart in charts if 'role="img"' in chart]
    assert len(charts) == 8
    assert len(drawn) == 7
    for chart in drawn:
        (image,) = re.findall(r'<svg[^>]* role="img".*?</svg>', chart, flags=re.DOTALL)
        root = ElementTree.fromstring(image)
        for name in ("aria-labelledby", "aria-describedby"):
            assert f'id="{root.attrib[name]}"' in chart
        assert len(root.findall("text")) >= 3
        assert root.findall(".//title")
        assert "<details>" in chart
        assert '<th scope="row">' in chart


def test_page_has_no_script_style_or_address_of_its_own() -> None:
    make_some_turns()
    (content,) = re.findall(r'<div id="content-main".*', page(operator()), flags=re.DOTALL)
    charts = content.partition("<footer")[0]
    assert not re.search(r"<script|<style|\sstyle=|\son\w+=|https?:", charts)


def test_empty_period_says_so() -> None:
    text = page(operator())
    assert text.count("No turns in this period.") == 6
    assert "No file waits for storage." in text
    assert "No answer is being written." in text
    assert 'role="img"' not in text


def test_charts_without_amounts_say_which_are_missing() -> None:
    message = make_model_message(make_conversation())
    Turn.objects.filter(pk=message.turn.pk).update(usage={}, first_part_at=None)
    text = page(operator())
    for words in (
        *("No tokens were counted.", "No price is known.", "No answer has begun."),
        "Every answer came to its end.",
    ):
        assert words in text
    assert "No turns in this period." not in text


def test_period_is_one_of_three() -> None:
    user = operator()
    for query, days in (("", 30), ("?days=7", 7), ("?days=90", 90), ("?days=3650000000", 30), ("?days=x", 30)):
        assert f'<a href="?days={days}" aria-current="page">' in page(user, query)


def test_kernels_are_those_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "_running", None)
    assert "None belong to this server process" in page(operator())
    emulator = embedded.EmbeddedEmulator(["--warm-kernels", "0"])
    try:
        monkeypatch.setattr(embedded, "_running", emulator)
        assert "0 alive, 0 of them waiting" in page(operator())
    finally:
        emulator.close()
    # It answers no more: nothing is known of it.
    assert "None belong to this server process" in page(operator())
