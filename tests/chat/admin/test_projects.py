"""The admin of projects shows how large they are, and nothing that their owners wrote."""

from __future__ import annotations

import pytest
from django.test import Client

from chat.models import Project
from chat.models.projects import add_files, move_conversation
from tests.chat.admin.factories import admin_url
from tests.factories import make_attachment, make_conversation, make_user

pytestmark = pytest.mark.django_db


def test_admin_pages_of_projects_show_counts_but_neither_names_nor_instructions(superuser: Client) -> None:
    owner = make_user("ann")
    project = Project.objects.start(owner.pk, name="Secret harbour", instruction="Secret words.")
    for _ in range(3):
        move_conversation(make_conversation(owner), project)
    add_files(project, [make_attachment(owner, name="secret.csv")])
    pages = [admin_url(Project), f"{admin_url(Project)}?q=ann", admin_url(Project, project.pk)]
    for url in (*pages, admin_url(Project, project.pk, "history")):
        html = superuser.get(url).content.decode()
        assert "secret" not in html.lower()
        assert project.pk.hex[:8] in html
    assert 'field-conversations">3<' in superuser.get(pages[0]).content.decode()
    assert superuser.post(pages[2], {"name": "Other"}).status_code == 403
