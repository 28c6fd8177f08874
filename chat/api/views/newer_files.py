"""Calls that run the code of a conversation on a newer file."""

from __future__ import annotations

import uuid

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from chat.api.problems import Problem, ProblemType, refused
from chat.api.schema import problem_responses
from chat.api.serializers.newer_files import NewerFileRunSerializer, NewerFileSerializer
from chat.api.views.base import ApiView
from chat.models import NewerFileRun
from chat.models.plain_sql import database_time
from chat.people.access import NotFound, newer_file_run_of, readable_attachment, writable_conversation
from chat.people.quotas.throttles import CallThrottle, WriteThrottle
from chat.python.newer_files.results import results_of
from chat.python.newer_files.rows import NewerFileRefused
from chat.python.newer_files.start import TableDiffers, find_replaceable, start_run
from chat.vocabulary.parts import JSONObject
from chat.vocabulary.sentences import translate_sentence


class NewerFiles(ApiView):
    """The runs of a conversation's code on newer files."""

    throttle_classes = (CallThrottle, WriteThrottle)

    @extend_schema(
        operation_id="newer-files-list",
        summary="List runs on newer files",
        tags=["session"],
        responses={200: NewerFileRunSerializer(many=True)},
    )
    def get(self, request: Request, conversation_id: uuid.UUID) -> Response:
        """Return all runs of a conversation on newer files, the newest first."""
        conversation = writable_conversation(self.caller, conversation_id)
        runs = NewerFileRun.objects.filter(conversation=conversation).select_related("replaced", "newer")
        return Response([_run_json(run) for run in runs])

    @extend_schema(
        operation_id="newer-files-run",
        summary="Run all code on a newer file",
        tags=["session"],
        request=NewerFileSerializer,
        responses={
            202: NewerFileRunSerializer,
            **problem_responses(ProblemType.CONFLICT, ProblemType.REFUSED, ProblemType.QUOTA, ProblemType.WRONG_SERVER),
        },
    )
    def post(self, request: Request, conversation_id: uuid.UUID) -> Response:
        """Run all code of the shown messages on a newer file, which the code finds under the earlier name.

        It runs in a session of its own: the messages, their results and the session stay as they are. Tables are
        compared first. If a column is missing, or the table differs otherwise, the status is 409 unless `anyway` is
        true; `detail` says how, and nothing has run. Poll `Location` for the result.
        """
        conversation = writable_conversation(self.caller, conversation_id)
        body = NewerFileSerializer.parse(request.data)
        self.require_asgi()
        former = find_replaceable(conversation, body["replaced"])
        if former is None:
            raise refused("replaced", "This is no table of the shown messages, nor of the project.")
        try:
            newer = readable_attachment(self.caller, body["newer"])
        except NotFound:
            raise refused("newer", "There is no such file. Upload it first.") from None
        try:
            run = start_run(conversation, former.attachment, newer, anyway=body["anyway"])
        except (NewerFileRefused, TableDiffers) as refusal:
            raise Problem(ProblemType.CONFLICT, str(refusal)) from None
        location = reverse("api-newer-file-run", args=[run.pk])
        return Response(_run_json(run), status=202, headers={"Location": location})


class NewerFileRunDetail(ApiView):
    """A run on a newer file."""

    @extend_schema(
        operation_id="newer-files-read",
        summary="Read what changed with a newer file",
        tags=["session"],
        responses={200: NewerFileRunSerializer},
    )
    def get(self, request: Request, run_id: uuid.UUID) -> Response:
        """Return a verdict for each block so far and, at the end, the numbers of answers that are not there any more.

        Numbers are those that stood in an output or in the earlier file, or followed from them.
        """
        return Response(_run_json(newer_file_run_of(self.caller, run_id)))

    @extend_schema(
        operation_id="newer-files-delete",
        summary="Delete a run on a newer file",
        tags=["session"],
        responses={204: None},
    )
    def delete(self, request: Request, run_id: uuid.UUID) -> Response:
        """Delete the results of a run. If its code runs, it is stopped within a few seconds."""
        newer_file_run_of(self.caller, run_id).delete()
        return Response(status=204)


def _run_json(run: NewerFileRun) -> JSONObject:
    results = results_of(run, database_time())
    blocks = [{**block, "detail": translate_sentence(block["detail"])} for block in run.blocks]
    row = {
        "id": run.pk,
        "conversation_id": run.conversation_id,
        "replaced": run.replaced,
        "newer": run.newer,
        "state": results.state,
        "verdict": results.verdict,
        "detail": translate_sentence(results.detail),
        "blocks": blocks,
        "numbers": run.numbers,
        "created_at": run.created_at,
    }
    json: JSONObject = NewerFileRunSerializer(row).data
    return json
