"""Calls about files that code wrote in the Python session."""

from __future__ import annotations

import uuid

from asgiref.sync import async_to_sync
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from chat.api.problems import Problem, ProblemType, unavailable
from chat.api.schema import problem_responses
from chat.api.serializers.attachments import AttachmentSerializer, attachment_json
from chat.api.views.base import ApiView
from chat.api.views.sessions import lost_file_sentence
from chat.people.access import NotFound, writable_message
from chat.people.quotas.throttles import CallThrottle, WriteThrottle
from chat.python.sessions.errors import SessionUnavailable
from chat.python.sessions.kept_files import FileTooLarge, KeepRefused, NotWritten, keep_file
from chat.python.sessions.session_kernel import NotRunning


class FileKeep(ApiView):
    """A file that the code of an answer wrote, to be kept."""

    throttle_classes = (CallThrottle, WriteThrottle)

    @extend_schema(
        operation_id="files-keep",
        summary="Keep a file of the Python session",
        tags=["session"],
        request=None,
        responses={
            200: AttachmentSerializer,
            201: AttachmentSerializer,
            **problem_responses(
                ProblemType.CONFLICT,
                ProblemType.FILE_ENDED,
                ProblemType.TOO_LARGE,
                ProblemType.QUOTA,
                ProblemType.STORAGE_FULL,
                ProblemType.UNAVAILABLE,
                ProblemType.WRONG_SERVER,
            ),
        },
    )
    def post(self, request: Request, message_id: uuid.UUID, name: str) -> Response:
        """Store a file that the code of an answer wrote as an attachment of the answer, as it is in the session now.

        Attachments outlive the session, and later turns can use them. A file that was kept before is returned again.
        """
        message = writable_message(self.caller, message_id)
        self.require_asgi()
        try:
            kept = async_to_sync(keep_file)(message, name)
        except NotWritten:
            raise NotFound from None
        except (FileNotFoundError, NotRunning) as error:
            raise Problem(ProblemType.FILE_ENDED, lost_file_sentence(error, name)) from None
        except FileTooLarge as error:
            raise Problem(ProblemType.TOO_LARGE, str(error)) from None
        except KeepRefused as error:
            raise Problem(ProblemType.CONFLICT, str(error)) from None
        except SessionUnavailable as error:
            raise unavailable(str(error)) from None
        location = reverse("api-attachment", args=[kept.attachment.pk])
        json = attachment_json(kept.attachment, kept.index)
        return Response(json, status=201 if kept.is_new else 200, headers={"Location": location})
