"""Calls about projects and their files."""

from __future__ import annotations

import uuid

from django.db import transaction
from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from attachments.models import Attachment
from chat.answering.turns.deletions import delete_project_with_conversations
from chat.api.conditional_requests import check_if_match, conditional_response, etag_of, with_etag
from chat.api.pagination import ListQuerySerializer, encode_cursor, page_response
from chat.api.problems import ProblemType, refused
from chat.api.queries import fitting_projects
from chat.api.schema import ETAG, IF_MATCH, IF_NONE_MATCH, problem_responses
from chat.api.serializers.projects import (
    NewProjectSerializer,
    ProjectChangesSerializer,
    ProjectDeletionSerializer,
    ProjectDetailSerializer,
    ProjectFileSerializer,
    ProjectPageSerializer,
    ProjectSerializer,
)
from chat.api.views.base import ApiView
from chat.models import Project, ProjectRefused
from chat.models.deletion import delete_project, remove_project_file
from chat.models.projects import add_files, count_conversations, lock_project
from chat.people.access import NotFound, attachments_of, projects_of, writable_project
from chat.vocabulary.parts import JSONObject


class Projects(ApiView):
    """The caller's projects."""

    @extend_schema(
        operation_id="projects-list",
        summary="List projects",
        parameters=[ListQuerySerializer],
        responses=ProjectPageSerializer,
    )
    def get(self, request: Request) -> Response:
        """Return projects, those that changed last first."""
        query = ListQuerySerializer.parse(request.query_params.dict())
        rows = projects_of(self.caller).annotate(conversation_count=count_conversations())
        page = fitting_projects(rows.page(query["limit"], query.get("cursor")))
        results = [ProjectSerializer(project).data for project in page.projects]
        return page_response(request, results, encode_cursor(page.end) if page.end else None)

    @extend_schema(
        operation_id="projects-create",
        summary="Create a project",
        request=NewProjectSerializer,
        responses={201: ProjectDetailSerializer, **problem_responses(ProblemType.REFUSED)},
    )
    def post(self, request: Request) -> Response:
        """Create a project without conversations and files."""
        fields = NewProjectSerializer.parse(request.data)
        try:
            project = Project.objects.start(self.caller.pk, **fields)
        except ProjectRefused as refusal:
            raise refused("name", str(refusal)) from None
        headers = {"Location": f"{request.path}{project.pk}/"}
        return Response(project_json(project), status=201, headers=headers)


class ProjectDetail(ApiView):
    """One project."""

    @extend_schema(
        operation_id="projects-read",
        summary="Read a project",
        parameters=[IF_NONE_MATCH, ETAG],
        responses={200: ProjectDetailSerializer, 304: None, **problem_responses(ProblemType.CHANGED)},
    )
    def get(self, request: Request, project_id: uuid.UUID) -> HttpResponseBase:
        """Return a project with its files. `conversations/?project=` lists its conversations."""
        return conditional_response(request, project_json(writable_project(self.caller, project_id)))

    @extend_schema(
        operation_id="projects-change",
        summary="Change a project",
        request=ProjectChangesSerializer,
        parameters=[IF_MATCH, ETAG],
        responses={200: ProjectDetailSerializer, **problem_responses(ProblemType.CHANGED)},
    )
    def patch(self, request: Request, project_id: uuid.UUID) -> HttpResponseBase:
        """Change what the body names. The next answer in each conversation of the project uses it."""
        project = writable_project(self.caller, project_id)
        changes = ProjectChangesSerializer.parse(request.data)
        try:
            with transaction.atomic():
                # With the lock, nobody else can change the project between the check of `If-Match` and this change.
                project = lock_project(project)
                check_if_match(request, project_json(project))
                if changes:
                    project.change(**changes)
        except Project.DoesNotExist:
            raise NotFound from None
        body = project_json(project)
        return with_etag(Response(body), etag_of(body))

    @extend_schema(
        operation_id="projects-delete",
        summary="Delete a project",
        parameters=[ProjectDeletionSerializer, IF_MATCH],
        responses={204: None, **problem_responses(ProblemType.CHANGED)},
    )
    def delete(self, request: Request, project_id: uuid.UUID) -> Response:
        """Delete a project, with the files that no conversation shows. Its conversations stay, unless asked for."""
        project = writable_project(self.caller, project_id)
        query = ProjectDeletionSerializer.parse(request.query_params.dict())
        check_if_match(request, project_json(project))
        if query["conversations"] == "delete":
            delete_project_with_conversations(project)
        else:
            delete_project(project)
        return Response(status=204)


class ProjectFiles(ApiView):
    """The files of a project."""

    @extend_schema(
        operation_id="projects-files-add",
        summary="Add a file to a project",
        request=ProjectFileSerializer,
        responses={200: ProjectDetailSerializer, **problem_responses(ProblemType.REFUSED)},
    )
    def post(self, request: Request, project_id: uuid.UUID) -> Response:
        """Add a file of the caller. Adding it twice changes nothing."""
        project = writable_project(self.caller, project_id)
        file_id = ProjectFileSerializer.parse(request.data)["attachment"]
        try:
            add_files(project, attachments_of(self.caller, [file_id]))
        except ProjectRefused as refusal:
            raise refused("attachment", str(refusal)) from None
        except (Project.DoesNotExist, Attachment.DoesNotExist):
            raise NotFound from None
        return Response(project_json(writable_project(self.caller, project_id)))


class ProjectFileDetail(ApiView):
    """One file of a project."""

    @extend_schema(
        operation_id="projects-files-remove",
        summary="Remove a file from a project",
        responses={204: None},
    )
    def delete(self, request: Request, project_id: uuid.UUID, attachment_id: uuid.UUID) -> Response:
        """Take a file out of a project. It is deleted if no message and no other project has it."""
        if not remove_project_file(writable_project(self.caller, project_id), attachment_id):
            raise NotFound
        return Response(status=204)


def project_json(project: Project) -> JSONObject:
    """Return a project with its files. Two queries."""
    project.conversation_count = project.conversations.kept().count()  # type: ignore[attr-defined]  # as annotated
    json: JSONObject = ProjectDetailSerializer(project).data
    return json
