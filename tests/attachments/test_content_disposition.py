"""Names of files in headers."""

from __future__ import annotations

import pytest

from attachments.content_disposition import content_disposition


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("a b.txt", 'attachment; filename="a b.txt"'),
        ("Größe.txt", "attachment; filename*=utf-8''Gr%C3%B6%C3%9Fe.txt"),
        ("50%25 off%.txt", "attachment; filename*=utf-8''50%2525%20off%25.txt"),
        ("", "attachment"),
    ],
)
def test_file_name_with_a_percent_sign_or_non_ascii_letter_is_percent_encoded(name: str, header: str) -> None:
    assert content_disposition(name) == header


def test_inline_file_has_its_name_in_the_content_disposition_header() -> None:
    assert content_disposition("a%.png", is_attachment=False) == "inline; filename*=utf-8''a%25.png"
    assert content_disposition("", is_attachment=False) == "inline"
