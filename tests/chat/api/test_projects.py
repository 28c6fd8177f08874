"""Projects in the REST API."""

from __future__ import annotations

import uuid

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chat.models import Conversation, Project, User
from chat.models.projects import move_conversation
from tests.factories import make_attachment, make_conversation, make_user

pytestmark = pytest.mark.django_db
LIST, CONVERSATIONS, JSON = "/api/v1/projects/", "/api/v1/conversations/", "application/json"


def make_project(owner: User, name: str = "Harbour") -> Project:
    return Project.objects.start(owner.pk, name=name)


def test_project_is_created_changed_and_deleted(client: Client) -> None:
    response = client.post(LIST, {"name": " Harbour  works", "instruction": "Use metres. "}, content_type=JSON)
    assert response.status_code == 201
    created = response.json()
    assert (
        created | {"name": "Harbour works", "instruction": "Use metres. ", "conversations": 0, "files": []} == created
    )
    path = response.headers["Location"]
    assert path == f"{LIST}{created['id']}/"
    changed = client.patch(path, {"name": "Docks"}, content_type=JSON)
    assert changed.json() | {"name": "Docks", "instruction": "Use metres. "} == changed.json()
    assert client.get(path, headers={"If-None-Match": changed.headers["ETag"]}).status_code == 304
    stale = client.patch(path, {"name": "X"}, content_type=JSON, headers={"If-Match": '"old"'})
    assert stale.status_code == 412
    assert client.delete(path).status_code == 204
    assert client.get(path).status_code == 404


@pytest.mark.parametrize("body", [{}, {"name": " "}, {"name": "a" * 201}, {"name": 5}, {"name": "a", "owner": 1}])
def test_invalid_project_is_refused(client: Client, owner: User, body: dict[str, object]) -> None:
    assert client.post(LIST, body, content_type=JSON).status_code == 400
    path = f"{LIST}{make_project(owner).pk}/"
    assert client.patch(path, body, content_type=JSON).status_code == (400 if body else 200)


def test_list_of_projects_has_pages_and_runs_a_constant_number_of_queries(client: Client, owner: User) -> None:
    def count_queries() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(LIST).status_code == 200
        return len(queries)

    move_conversation(make_conversation(owner), make_project(owner))
    before = count_queries()
    ids = {str(make_project(owner, f"Number {number}").pk) for number in range(5)}
    ids.add(str(Project.objects.get(name="Harbour").pk))
    assert count_queries() == before
    make_project(make_user())
    found: list[str] = []
    next_url: str | None = f"{LIST}?limit=2"
    while next_url:
        page = client.get(next_url).json()
        found += [row["id"] for row in page["results"]]
        next_url = page["next"]
    assert (len(found), set(found)) == (6, ids)
    assert sum(row["conversations"] for row in client.get(LIST).json()["results"]) == 1


def test_page_has_fewer_projects_if_their_instructions_are_long(
    client: Client, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chat.api.queries.PAGE_LIMIT_CHARS", 1_000)
    for chars in (10, 2_000, 700, 300, 300):
        Project.objects.start(owner.pk, name=f"{chars}", instruction="x" * chars)
    pages, url = [], LIST
    while url:
        page = client.get(url).json()
        pages.append([one["name"] for one in page["results"]])
        url = page["next"]
    assert pages == [["300", "300"], ["700"], ["2000"], ["10"]]


def test_files_are_added_and_removed(client: Client, owner: User) -> None:
    path, file = f"{LIST}{make_project(owner).pk}/", make_attachment(owner)
    added = client.post(f"{path}files/", {"attachment": str(file.pk)}, content_type=JSON)
    assert (added.status_code, [one["id"] for one in added.json()["files"]]) == (200, [str(file.pk)])
    foreign = make_attachment(make_user())
    for unknown in (foreign.pk, uuid.uuid4()):
        assert client.post(f"{path}files/", {"attachment": str(unknown)}, content_type=JSON).status_code == 404
    for _ in range(9):
        client.post(f"{path}files/", {"attachment": str(make_attachment(owner).pk)}, content_type=JSON)
    refused = client.post(f"{path}files/", {"attachment": str(make_attachment(owner).pk)}, content_type=JSON)
    assert refused.status_code == 422
    assert "at most 10 files" in str(refused.json())
    assert client.delete(f"{path}files/{file.pk}/").status_code == 204
    assert client.delete(f"{path}files/{file.pk}/").status_code == 404


def test_conversation_can_be_created_in_a_project_moved_and_listed_by_project(client: Client, owner: User) -> None:
    project = make_project(owner)
    created = client.post(CONVERSATIONS, {"project": str(project.pk)}, content_type=JSON).json()
    assert created["project"] == str(project.pk)
    path = f"{CONVERSATIONS}{make_conversation(owner).pk}/"
    assert client.patch(path, {"project": str(project.pk)}, content_type=JSON).json()["project"] == str(project.pk)
    assert len(client.get(f"{CONVERSATIONS}?project={project.pk}").json()["results"]) == 2
    assert client.patch(path, {"title": "It stays"}, content_type=JSON).json()["project"] == str(project.pk)
    assert client.patch(path, {"project": None}, content_type=JSON).json()["project"] is None
    assert len(client.get(f"{CONVERSATIONS}?project={project.pk}").json()["results"]) == 1
    assert client.get(f"{CONVERSATIONS}?project={uuid.uuid4()}").json()["results"] == []
    assert client.get(f"{CONVERSATIONS}?project=x").status_code == 400
    assert client.delete(f"{LIST}{project.pk}/").status_code == 204
    assert client.get(f"{CONVERSATIONS}{created['id']}/").json()["project"] is None


def test_foreign_and_unknown_projects_get_the_same_error(client: Client, owner: User) -> None:
    path, foreign = f"{CONVERSATIONS}{make_conversation(owner).pk}/", make_project(make_user())
    answers = []
    for project_id in (foreign.pk, uuid.uuid4()):
        for response in (
            client.post(CONVERSATIONS, {"project": str(project_id)}, content_type=JSON),
            client.patch(path, {"project": str(project_id)}, content_type=JSON),
        ):
            assert response.status_code == 422
            answers.append(response.content)
    assert answers[:2] == answers[2:]
    assert Conversation.objects.filter(project__isnull=False).count() == 0


def test_temporary_conversation_cannot_be_in_a_project_before_it_is_made_permanent(client: Client, owner: User) -> None:
    project_id = str(make_project(owner).pk)
    both = {"is_temporary": True, "project": project_id}
    assert client.post(CONVERSATIONS, both, content_type=JSON).status_code == 422
    created = client.post(CONVERSATIONS, {"is_temporary": True}, content_type=JSON).json()
    path = f"{CONVERSATIONS}{created['id']}/"
    assert client.patch(path, {"project": project_id}, content_type=JSON).status_code == 422
    kept = client.patch(path, {"is_temporary": False, "project": project_id}, content_type=JSON)
    assert kept.json()["project"] == project_id


def test_conversations_are_deleted_with_the_project_if_asked_for(client: Client, owner: User) -> None:
    project = make_project(owner)
    move_conversation(make_conversation(owner), project)
    assert client.delete(f"{LIST}{project.pk}/?conversations=burn").status_code == 400
    assert client.delete(f"{LIST}{project.pk}/?conversations=delete").status_code == 204
    assert client.get(CONVERSATIONS).json()["results"] == []
