"""Calls about the tables in attachments."""

from __future__ import annotations

import uuid

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from attachments.models import Attachment
from chat.api.problems import Problem, ProblemType, unavailable
from chat.api.schema import problem_responses
from chat.api.serializers.tables import TableChangeSerializer, TablePendingSerializer, TableSerializer
from chat.api.views.base import ApiView
from chat.people.access import NotFound, readable_attachment
from chat.python.kernels.table_reading import TableReading
from chat.python.table_readings.choices import InvalidChoice
from chat.python.table_readings.live_readings import TooManyPreviews
from chat.python.table_readings.reading_requests import (
    NotATable,
    ReadingUnavailable,
    begin_reading,
    choose_reading,
    find_table,
)
from chat.python.table_readings.table_files import can_hold_table
from chat.python.table_readings.table_json import table_json

POLL_AFTER_S = 1
"""The `Retry-After` of a table that is being read."""
TOO_MANY_WAIT_S = 60
TOO_MANY = "Too many tables at once. Try again in a minute."
RETRY_AFTER = OpenApiParameter(
    "Retry-After",
    {"type": "integer", "minimum": 1},
    "header",
    response=[202, 429, 503],
    description="Seconds to wait.",
)
RESPONSES = {
    200: TableSerializer,
    202: OpenApiResponse(TablePendingSerializer, "The table is being read."),
}
PROBLEMS = problem_responses(ProblemType.TOO_FAST, ProblemType.UNAVAILABLE, ProblemType.WRONG_SERVER)


class AttachmentTable(ApiView):
    """The table in one attachment."""

    @extend_schema(
        operation_id="attachments-table",
        summary="Read how a table was read",
        parameters=[RETRY_AFTER],
        responses={**RESPONSES, **PROBLEMS},
    )
    def get(self, request: Request, attachment_id: uuid.UUID) -> Response:
        """Return columns, notes and choices of the table in a file. A file that holds no table has status 404.

        Tables are read when they are uploaded, in the Python sandbox. Until then the status is 202: call again.
        """
        attachment = self._readable_table(attachment_id)
        try:
            reading = find_table(attachment)
            if reading is None:
                self.require_asgi()
                begin_reading(attachment)
        except (NotATable, ReadingUnavailable, TooManyPreviews) as error:
            raise _problem(error) from None
        return _response(reading)

    @extend_schema(
        operation_id="attachments-table-change",
        summary="Change how a table is read",
        request=TableChangeSerializer,
        parameters=[RETRY_AFTER],
        responses={**RESPONSES, **PROBLEMS},
    )
    def patch(self, request: Request, attachment_id: uuid.UUID) -> Response:
        """Choose how a table is read, for pages, models and code alike, and return it as it is then read.

        A choice that is not allowed, or with which the file cannot be read, has status 400, and the former choices
        stay. The status is 202 if reading takes long: then `reading` of a later call says whether the choice holds.
        """
        attachment = self._readable_table(attachment_id)
        changes = TableChangeSerializer.parse(request.data)["reading"]
        try:
            self.require_asgi()
            reading = choose_reading(attachment, changes)
        except InvalidChoice as error:
            raise Problem(ProblemType.INVALID, str(error), errors={"reading": [str(error)]}) from None
        except (NotATable, ReadingUnavailable, TooManyPreviews) as error:
            raise _problem(error) from None
        return _response(reading)

    def _readable_table(self, attachment_id: uuid.UUID) -> Attachment:
        """Return an attachment of the caller. Raises NotFound if there is none, or if it cannot hold a table."""
        attachment = readable_attachment(self.caller, attachment_id)
        if not can_hold_table(attachment):
            raise NotFound
        return attachment


def _response(reading: TableReading | None) -> Response:
    if reading is None:
        return Response({"state": "reading"}, status=202, headers={"Retry-After": str(POLL_AFTER_S)})
    return Response(table_json(reading))


def _problem(error: NotATable | ReadingUnavailable | TooManyPreviews) -> Exception:
    match error:
        case NotATable():
            return NotFound()
        case ReadingUnavailable():
            return unavailable(str(error))
        case _:
            return Problem(ProblemType.TOO_FAST, TOO_MANY, headers={"Retry-After": str(TOO_MANY_WAIT_S)})
