"""Parsers of request bodies: JSON of limited size, and whole files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO, NoReturn

from django.conf import settings
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

from chat.api.problems import Problem, ProblemType
from chat.vocabulary.parts import JSON


class LimitedJSONParser(BaseParser):
    """Parses strict JSON in UTF-8, of at most `DATA_UPLOAD_MAX_MEMORY_SIZE` bytes."""

    media_type = "application/json"

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, object] | None = None
    ) -> JSON:
        """Return the value. Raises ParseError, or Problem for a body that is too large."""
        limit_bytes = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        body = stream.read(limit_bytes + 1)
        if len(body) > limit_bytes:
            raise Problem(ProblemType.TOO_LARGE, f"A body of JSON may have {limit_bytes // 1024**2} MB.")
        try:
            value: JSON = json.loads(body.decode(), parse_constant=_refuse_constant)
        except RecursionError:
            raise ParseError("This JSON is nested too deeply.") from None
        except ValueError as error:
            raise ParseError(f"This is no JSON: {str(error)[:200]}.") from None
        return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a value of JSON")


class FileParser(BaseParser):
    """Reads a body that is a file of any type."""

    media_type = "application/octet-stream"

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, object] | None = None
    ) -> bytes:
        """Return the whole body. The server refuses bodies that are larger than the largest import."""
        return stream.read()


class JSONFileParser(FileParser):
    """Reads a file of JSON."""

    media_type = "application/json"


class ZipFileParser(FileParser):
    """Reads a zip archive."""

    media_type = "application/zip"
