"""Every file is sent under a MIME type that the API accepts, or not at all."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from attachments.validation import inspect_upload
from chat.providers.google.file_types import accepted_type
from chat.providers.google.provider import GeminiProvider

SENT_UNCHANGED = [
    "text/plain",
    "application/pdf",
    "image/png",
    "image/jpeg",
    "image/webp",
    "image/heic",
    "image/heif",
    "audio/mpeg",
    "video/mp4",
]
TEXT_OF_THE_DEVELOPER_API = ["text/csv", "text/html", "text/css", "text/md", "text/xml", "text/rtf"]
SENT_AS_PLAIN_TEXT = [
    "application/json",
    "application/javascript",
    "application/x-javascript",
    "application/typescript",
    "application/x-python",
    "application/x-yaml",
    "application/yaml",
    "application/x-latex",
    "application/x-ipynb+json",
    "application/geo+json",
    "application/sql",
    "text/markdown",
    "text/tab-separated-values",
    "text/x-python",
    "text/vnd.trolltech.linguist",
]
NEVER_SENT = [
    "image/gif",
    "image/tiff",
    "image/svg+xml",
    "video/mp2t",
    "application/zip",
    "application/octet-stream",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "text",
    "",
]


@pytest.mark.parametrize("vertexai", [False, True])
def test_each_mime_type_is_mapped_to_one_that_the_api_accepts_or_to_none(vertexai: bool) -> None:
    for mime_type in SENT_UNCHANGED:
        assert accepted_type(mime_type, vertexai=vertexai) == mime_type
    for mime_type in TEXT_OF_THE_DEVELOPER_API:
        assert accepted_type(mime_type, vertexai=vertexai) == ("text/plain" if vertexai else mime_type)
    for mime_type in SENT_AS_PLAIN_TEXT:
        assert accepted_type(mime_type, vertexai=vertexai) == "text/plain"
    for mime_type in NEVER_SENT:
        assert accepted_type(mime_type, vertexai=vertexai) == ""


def test_upper_case_and_parameters_of_a_mime_type_are_ignored() -> None:
    assert accepted_type("Text/CSV; charset=utf-8", vertexai=False) == "text/csv"


def test_vertex_ai_gets_csv_as_plain_text_and_the_developer_api_as_csv(
    provider: GeminiProvider, settings: Settings
) -> None:
    assert provider.capabilities("gemini-test").accepted_type("text/csv") == "text/csv"
    settings.GOOGLE_GENAI_USE_VERTEXAI = True
    assert provider.capabilities("gemini-test").accepted_type("text/csv") == "text/plain"


@pytest.mark.parametrize(
    "name", ["a.js", "a.ts", "a.tsx", "a.py", "a.json", "a.md", "a.yaml", "a.tex", "a.sql", "a.r", "a.ipynb", "a.html"]
)
def test_uploaded_code_is_sent_as_plain_text(name: str) -> None:
    info = inspect_upload(name, b'{"cells": []}')
    assert accepted_type(info.mime_type, vertexai=False) == "text/plain"
