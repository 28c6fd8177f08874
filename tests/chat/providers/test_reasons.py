"""The provider's reason for a refusal, as users may read it."""

from __future__ import annotations

import pytest

from chat.providers.reasons import REASON_LIMIT_CHARS, clean_reason

KEY = "AIzaSyTheKeyOfThisTestThatNobodyMaySee"


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("Thinking level MINIMAL is not supported.", "Thinking level MINIMAL is not supported."),
        ("  one\n\ttwo\r\nthree\u2028four ", "one two three four"),
        ("a \u202egnol\u202c b\x00\x1b[31m", "a gnol b [31m"),
        ("a < b and c > d", "a < b and c > d"),
        ('<b onclick="x">Bad</b> request<br/>', "Bad request"),
        ("<!DOCTYPE html><html><title>400</title><script>alert(1)</script></html>", ""),
        ("\n <html><body>nginx</body></html>", ""),
        ("", ""),
        ("400: {}", ""),
    ],
)
def test_reason_is_cleaned_to_one_line_without_markup(message: str, reason: str) -> None:
    assert clean_reason(message) == reason


@pytest.mark.parametrize(
    "secret",
    [
        KEY,
        "ya29.a0AfH6SMBx-1_2",
        "sk-proj-abcdefghijkl",
        "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJh.c2ln",
        "me@my-project.iam.gserviceaccount.com",
        "Zm9vYmFyYmF6Zm9vYmFyYmF6Zm9vYmFyYmF6Zm9vYmFyYmF6",
        "a key of another form",
    ],
)
def test_reason_contains_no_key_or_other_secret(secret: str) -> None:
    reason = clean_reason(f"The call with {secret} was refused.", "a key of another form", "")
    assert secret not in reason
    assert reason.startswith("The call with ")
    assert reason.endswith(" was refused.")


def test_reason_contains_no_bearer_tokens_no_query_values_and_no_cloud_projects() -> None:
    message = "Bearer abc.def for https://example.com/v1?key=xyz&alt=sse in projects/secret-1/locations/global"
    assert clean_reason(message) == (
        "Bearer [removed] for https://example.com/v1?key=[removed]&alt=sse in projects/…/locations/global"
    )


def test_long_reason_is_shortened() -> None:
    reason = clean_reason("word " * 10_000)
    assert len(reason) <= REASON_LIMIT_CHARS
    assert reason.endswith("word…")
