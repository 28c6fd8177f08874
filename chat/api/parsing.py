"""Bodies as they come in: JSON of bounded size, forms with one file, whole files. And one form of answers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework.exceptions import ParseError
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from chat.api.problems import Problem


class OneForm(DefaultContentNegotiation):
    """Each call answers in its one form, whatever `Accept` says: a problem too must reach who asked for a stream."""

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """The first."""
        first = next(iter(renderers))
        return first, first.media_type


class BoundedJSONParser(BaseParser):
    """Strict JSON in UTF-8."""

    media_type = "application/json"

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:  # noqa: ANN401 - any JSON
        """Raises ParseError, and Problem for too much of it."""
        limit_bytes = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        body = stream.read(limit_bytes + 1)
        if len(body) > limit_bytes:
            raise Problem("too-large", f"A body of JSON may have {limit_bytes // 1024**2} MB.")
        try:
            return json.loads(body.decode(), parse_constant=_refuse_constant)
        except RecursionError:
            raise ParseError("This JSON is nested too deeply.") from None
        except ValueError as error:
            raise ParseError(f"This is no JSON: {str(error)[:200]}.") from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a value of JSON")


class FileParser(BaseParser):
    """A body that is a file, whatever is in it."""

    media_type = "application/octet-stream"

    def parse(  # type: ignore[override]  # the framework takes anything
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> bytes:
        """All of it: the server takes no larger bodies than may be imported."""
        return stream.read()


class JSONFileParser(FileParser):
    """A file of JSON."""

    media_type = "application/json"


class ZipFileParser(FileParser):
    """An archive."""

    media_type = "application/zip"
