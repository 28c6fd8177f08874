"""Projects: their pages, moves of conversations, files, and the effects of a deletion."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from django.db import DatabaseError, connection
from django.test import Client, TestCase
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from attachments.models import Attachment, ObjectDeletion
from chat.answering.turns.deletions import delete_project_with_conversations
from chat.library.exports.as_json import conversation_json
from chat.models import Conversation, Project, ProjectFile, ProjectRefused, Share, Turn, User
from chat.models.deletion import delete_conversation, delete_project, find_unsent_files, remove_project_file
from chat.models.projects import FILES_LIMIT, PROJECTS_LIMIT, add_files, move_conversation
from chat.python.sessions.files import session_files
from tests.factories import (
    attach,
    make_attachment,
    make_conversation,
    make_model_message,
    make_user,
    make_user_message,
)

pytestmark = pytest.mark.django_db


def make_project(owner: User, name: str = "Harbour", instruction: str = "") -> Project:
    return Project.objects.start(owner.pk, name=name, instruction=instruction)


def html_of(browser: Client, path: str) -> str:
    response = browser.get(path)
    assert response.status_code == 200
    return response.content.decode()


def count_queries(browser: Client, path: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        html_of(browser, path)
    return len(queries)


# --- pages


def test_project_is_created_changed_and_shown_in_the_sidebar(browser: Client) -> None:
    path = browser.post("/projects/", {"name": "  Harbour   works "}).headers["Location"]
    assert '<h1 dir="auto">Harbour works</h1>' in html_of(browser, path)
    assert browser.post(path, {"name": "Tide <b>", "instruction": "Use metres.\n"}).headers["Location"] == path
    project = Project.objects.get()
    assert (project.name, project.instruction) == ("Tide <b>", "Use metres.\n")
    for page in (path, "/projects/", "/conversations/"):
        assert "Tide &lt;b&gt;" in html_of(browser, page)
        assert "Tide <b>" not in html_of(browser, page)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("", "Give the project a name."),
        (" \t ", "Give the project a name."),
        ("a" * 201, "The name of a project can have at most 200 characters."),
    ],
)
def test_project_name_that_is_blank_or_too_long_is_refused_and_the_form_keeps_the_input(
    browser: Client, owner: User, name: str, sentence: str
) -> None:
    created = browser.post("/projects/", {"name": name})
    assert created.status_code == 400
    assert sentence in created.content.decode()
    project = make_project(owner)
    changed = browser.post(project.get_absolute_url(), {"name": name, "instruction": "Typed."})
    assert changed.status_code == 400
    assert sentence in changed.content.decode()
    assert "\nTyped.</textarea>" in changed.content.decode()
    moved = browser.post(f"/c/{make_conversation(owner).pk}/move/", {"project": "new", "name": name})
    assert moved.status_code == 400
    assert sentence in moved.content.decode()
    assert Project.objects.get().name == "Harbour"
    assert Project.objects.get().instruction == ""


def test_number_of_projects_is_limited(browser: Client, owner: User) -> None:
    Project.objects.bulk_create(Project(owner=owner, name="p") for _ in range(PROJECTS_LIMIT))
    refused = browser.post("/projects/", {"name": "One more"})
    assert refused.status_code == 400
    assert "You have 500 projects already." in refused.content.decode()
    # The sidebar shows a few of them.
    assert html_of(browser, "/conversations/").count('href="/projects/') == 9


def test_lists_of_projects_and_of_their_conversations_have_pages_with_each_row_once(
    browser: Client, owner: User
) -> None:
    names = {make_project(owner, f"Number {number:02}").name for number in range(45)}
    first = browser.get("/projects/").context
    second = browser.get("/projects/", {"after": first["more"]}).context
    assert [len(first["projects"]), len(second["projects"]), second["more"]] == [40, 5, ""]
    assert {one.name for page in (first, second) for one in page["projects"]} == names
    project = Project.objects.newest_first()[0]
    ids = {make_conversation(owner, project=project).pk for _ in range(41)}
    make_conversation(owner)
    page = browser.get(project.get_absolute_url()).context
    later = browser.get(project.get_absolute_url(), {"after": page["more"]}).context
    assert {one.pk for part in (page, later) for one in part["conversations"]} == ids
    assert browser.get(project.get_absolute_url(), {"after": "x"}).status_code == 404


def test_number_of_queries_does_not_depend_on_the_number_of_rows(browser: Client, owner: User) -> None:
    project = make_project(owner)
    paths = ["/projects/", project.get_absolute_url(), "/conversations/", f"/c/{make_conversation(owner).pk}/"]
    paths.append(f"{paths[-1]}move/")

    def add_rows() -> None:
        for number in range(4):
            other = make_project(owner, f"Other {number}")
            for one in (project, other):
                move_conversation(make_conversation(owner, title="In it"), one)
            add_files(project, [make_attachment(owner)])

    add_rows()
    counts = [count_queries(browser, path) for path in paths]
    Project.objects.filter(pk=project.pk).update(updated_at=timezone.now() + timedelta(hours=1))
    ProjectFile.objects.filter(project=project).delete()
    add_rows()
    assert [count_queries(browser, path) for path in paths] == counts


def test_project_gets_its_own_new_conversation_and_an_empty_one_in_it_is_reused(browser: Client, owner: User) -> None:
    project = make_project(owner)
    outside = browser.post("/c/new/").headers["Location"]
    inside = browser.post(f"{project.get_absolute_url()}conversations/").headers["Location"]
    assert inside != outside
    assert browser.post(f"{project.get_absolute_url()}conversations/").headers["Location"] == inside
    assert browser.post("/c/new/").headers["Location"] == outside
    assert [str(one.pk) for one in project.conversations.all()] == [inside.split("/")[2]]
    assert f'href="{project.get_absolute_url()}" title="Project: Harbour"' in html_of(browser, inside)
    assert "Project: Harbour" not in html_of(browser, outside)
    # It is in the list of all conversations, too.
    assert inside in html_of(browser, "/conversations/")


# --- moves


def test_conversation_can_be_moved_into_an_existing_or_new_project_and_out_of_it(browser: Client, owner: User) -> None:
    project, conversation = make_project(owner), make_conversation(owner, title="Cranes")
    changed_at, path = conversation.updated_at, f"/c/{conversation.pk}/move/"
    assert 'value="" checked' in html_of(browser, path)
    assert browser.post(path, {"project": str(project.pk)}).headers["Location"] == conversation.get_absolute_url()
    conversation.refresh_from_db()
    assert (conversation.project, conversation.updated_at) == (project, changed_at)
    assert f'value="{project.pk}" checked' in html_of(browser, path)
    browser.post(path, {"project": "new", "name": "Docks"})
    conversation.refresh_from_db()
    assert conversation.project is not None
    assert conversation.project.name == "Docks"
    browser.post(path, {"project": ""})
    conversation.refresh_from_db()
    assert conversation.project is None


def test_htmx_response_to_a_move_updates_the_conversation_only_if_it_is_open(browser: Client, owner: User) -> None:
    project, conversation = make_project(owner), make_conversation(owner, title="Cranes")
    data = {"project": str(project.pk), "open": str(conversation.pk)}
    swaps = browser.post(f"/c/{conversation.pk}/move/", data, headers={"HX-Request": "true"}).content.decode()
    assert "Moved to Harbour: Cranes" in swaps
    assert 'hx-target="#conversation-project"' in swaps
    data["open"] = str(uuid.uuid4())
    swaps = browser.post(f"/c/{conversation.pk}/move/", data, headers={"HX-Request": "true"}).content.decode()
    assert 'hx-target="#conversation-project"' not in swaps


def test_project_of_another_user_is_not_found(browser: Client, owner: User) -> None:
    foreign, conversation = make_project(make_user(), "Theirs"), make_conversation(owner)
    path = f"/c/{conversation.pk}/move/"
    assert "Theirs" not in html_of(browser, path) + html_of(browser, "/projects/")
    assert browser.post(path, {"project": str(foreign.pk)}).status_code == 404
    assert browser.post(path, {"project": str(uuid.uuid4())}).status_code == 404
    assert browser.post(path, {"project": "x"}).status_code == 400
    with pytest.raises(Project.DoesNotExist):
        move_conversation(conversation, foreign)
    mine, theirs = make_project(owner), make_attachment(foreign.owner)
    assert browser.post(f"{mine.get_absolute_url()}files/", {"attachment": theirs.pk}).status_code == 404
    assert not ProjectFile.objects.exists()
    assert not Conversation.objects.filter(project__isnull=False).exists()


def test_temporary_conversation_cannot_be_in_a_project(browser: Client, owner: User) -> None:
    conversation = make_conversation(owner, temporary_seen_at=timezone.now())
    refused = browser.post(f"/c/{conversation.pk}/move/", {"project": "new", "name": "Harbour"})
    assert refused.status_code == 400
    assert "A temporary conversation cannot be in a project." in refused.content.decode()
    assert not Project.objects.exists()


# --- files


def test_file_is_added_to_a_project_only_once_and_the_number_of_files_is_limited(browser: Client, owner: User) -> None:
    project = make_project(owner)
    files = [make_attachment(owner, name=f"{number}.csv") for number in range(FILES_LIMIT + 1)]
    path = f"{project.get_absolute_url()}files/"
    for file in (*files[:-1], files[0]):
        assert browser.post(path, {"attachment": file.pk}).status_code == 302
    refused = browser.post(path, {"attachment": files[-1].pk})
    assert (refused.status_code, refused.content.decode()) == (
        400,
        "A project can have at most 10 files. Remove one of them first.",
    )
    assert project.attachments() == files[:-1]
    assert browser.post(path, {}).content.decode() == "Say which file to add: attachment."


def test_file_removed_from_a_project_is_deleted_unless_something_else_uses_it(owner: User) -> None:
    project, other = make_project(owner), make_project(owner)
    alone, shared, sent = (make_attachment(owner, name=f"{name}.csv") for name in ("alone", "shared", "sent"))
    add_files(project, [alone, shared, sent])
    add_files(other, [shared])
    attach(make_user_message(make_conversation(owner)), sent)
    for file in (alone, shared, sent):
        assert remove_project_file(project, file.pk)
    assert not remove_project_file(project, shared.pk)
    assert set(Attachment.objects.all()) == {shared, sent}
    assert ObjectDeletion.objects.count() == 1


def test_project_file_is_not_deleted_with_a_conversation_or_with_unsent_files(owner: User) -> None:
    project, conversation = make_project(owner), make_conversation(owner)
    file = make_attachment(owner)
    add_files(project, [file])
    attach(make_user_message(conversation), file)
    assert delete_conversation(conversation) == []
    assert not find_unsent_files(timezone.now() + timedelta(days=1)).exists()
    assert delete_project(project) == [file]


def test_project_files_are_placed_in_the_session_after_those_of_questions_with_unique_names(owner: User) -> None:
    project, conversation = make_project(owner), make_conversation(owner)
    move_conversation(conversation, project)
    answer = make_model_message(conversation)
    asked, given, kept = (make_attachment(owner, name="data.csv", data=data) for data in (b"a", b"b", b"c"))
    attach(answer.turn.user_message, asked)
    attach(answer, kept)
    add_files(project, [given, asked])
    files = session_files(conversation.pk)
    assert [file.attachment for file in files] == [asked, given, kept]
    assert [file.is_kept for file in files] == [False, False, True]
    assert files[0].label == "data.csv"
    assert len({file.label for file in files}) == 3


# --- deletions, shares, exports


def test_conversation_that_leaves_a_private_project_stays_private(browser: Client, owner: User) -> None:
    project = make_project(owner)
    project.change(private_data=True)
    moved, left, untouched = (make_conversation(owner, project=project) for _ in range(3))
    make_user_message(left)
    assert moved.is_private
    assert not moved.private_data
    move_conversation(moved, None)
    delete_project(project)
    for conversation in (moved, left, untouched):
        kept = Conversation.objects.get(pk=conversation.pk)
        assert (kept.project, kept.private_data, kept.is_private) == (None, True, True)
    # The empty one is not the next new conversation, which is not private.
    path = browser.post("/c/new/").headers["Location"]
    assert str(untouched.pk) not in path


def test_project_can_be_made_private_and_pages_of_its_conversations_say_so(browser: Client, owner: User) -> None:
    project = make_project(owner)
    conversation = make_conversation(owner, project=project)
    assert "Private data" not in html_of(browser, conversation.get_absolute_url())
    sent = {"name": "Harbour", "instruction": "", "private_data": "true"}
    assert browser.post(project.get_absolute_url(), sent).status_code == 302
    assert 'name="private_data" value="true" checked' in html_of(browser, project.get_absolute_url())
    page = html_of(browser, conversation.get_absolute_url())
    assert "Private data" in page
    assert "The project of this conversation keeps its data private." in page
    assert browser.post(project.get_absolute_url(), {"private_data": "maybe"}).status_code == 400


def test_conversations_are_kept_when_their_project_is_deleted(browser: Client, owner: User) -> None:
    project = make_project(owner)
    for title in ("Cranes", "Hidden"):
        move_conversation(make_conversation(owner, title=title), project)
    Conversation.objects.filter(title="Hidden").update(deleted_at=timezone.now())
    add_files(project, [make_attachment(owner)])
    path = f"{project.get_absolute_url()}delete/"
    assert "Its 1 conversation<" in html_of(browser, path)
    assert browser.post(path, {"conversations": "burn"}).status_code == 400
    assert browser.post(path).headers["Location"] == "/projects/"
    assert not Conversation.with_deleted.filter(project__isnull=False).exists()
    assert Conversation.with_deleted.count() == 2
    assert not Attachment.objects.exists()
    assert browser.get(project.get_absolute_url()).status_code == 404


def test_conversations_are_deleted_with_their_project_if_the_owner_chooses_this(browser: Client, owner: User) -> None:
    project = make_project(owner)
    conversation = make_conversation(owner)
    turn = make_model_message(conversation, status=Turn.Status.RUNNING).turn
    move_conversation(conversation, project)
    other = make_conversation(owner)
    with TestCase.captureOnCommitCallbacks(execute=True):
        browser.post(f"{project.get_absolute_url()}delete/", {"conversations": "delete"})
    assert list(Conversation.objects.all()) == [other]
    turn.refresh_from_db()
    assert turn.stop_requested
    assert Conversation.with_deleted.count() == 2


def test_project_and_its_conversations_are_kept_if_the_deletion_fails(
    owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(owner)
    conversation = make_conversation(owner)
    turn = make_model_message(conversation, status=Turn.Status.RUNNING).turn
    move_conversation(conversation, project)

    def fail(_: Project) -> None:
        raise DatabaseError

    monkeypatch.setattr("chat.answering.turns.deletions.delete_project", fail)
    with TestCase.captureOnCommitCallbacks(execute=True), pytest.raises(DatabaseError):
        delete_project_with_conversations(project)
    assert list(Conversation.objects.filter(project=project)) == [conversation]
    turn.refresh_from_db()
    assert not turn.stop_requested


def test_page_of_a_share_shows_nothing_of_the_project(browser: Client, owner: User) -> None:
    project = make_project(owner, "Secret harbour", "Hidden instruction.")
    add_files(project, [make_attachment(owner, name="hidden.csv")])
    conversation = make_conversation(owner, title="Cranes")
    move_conversation(conversation, project)
    make_model_message(conversation)
    page = html_of(Client(), Share.objects.issue(conversation).get_absolute_url())
    for text in ("Secret harbour", "Hidden instruction.", "hidden.csv"):
        assert text not in page


def test_export_contains_only_the_name_of_the_project(owner: User) -> None:
    conversation = make_conversation(owner)
    assert conversation_json(conversation)["project"] is None
    move_conversation(conversation, make_project(owner, "Harbour", "Hidden instruction."))
    exported = conversation_json(conversation)
    assert exported["project"] == "Harbour"
    assert "Hidden" not in str(exported)


def test_files_that_exceed_the_limit_of_a_project_are_all_refused(owner: User) -> None:
    project = make_project(owner)
    with pytest.raises(ProjectRefused):
        add_files(project, [make_attachment(owner) for _ in range(FILES_LIMIT + 1)])
    assert not ProjectFile.objects.exists()
