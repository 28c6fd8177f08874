"""Responses to scripts whose request was refused."""

from __future__ import annotations

from django.http import HttpResponse

from chat.vocabulary.sentences import translate_sentence


def refuse(sentence: str) -> HttpResponse:
    """Return the sentence that explains why the request was refused, in the language of the page."""
    return HttpResponse(translate_sentence(sentence), status=400, content_type="text/plain; charset=utf-8")
