"""Settings of languages, and the middleware that chooses the language of a page. `docs/languages.md` describes both."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.contrib.auth import get_user_model
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.decorators import sync_and_async_middleware

from config.folders import BASE_DIR

LANGUAGE_CODE = "en"
#: The languages of all pages, each under its own name.
LANGUAGES = [("en", "English"), ("de", "Deutsch"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [BASE_DIR / "locale"]
#: Dotted path of the function that translates sentences for readers. It is a setting, because `attachments` must not
#: import `chat`.
SENTENCE_TRANSLATION = "chat.vocabulary.sentences.translate_sentence"

API_PREFIX = "/api/"
PAGE_HEADER = "X-Plotline-Page"
"""Header that the scripts of a page send with their API calls: errors are then translated, because the reader sees
them."""

Page: TypeAlias = Callable[[HttpRequest], HttpResponseBase]
AsyncPage: TypeAlias = Callable[[HttpRequest], Awaitable[HttpResponseBase]]


@sync_and_async_middleware
def choose_language(get_response: Page | AsyncPage) -> Page | AsyncPage:
    """Return the middleware that answers each request in the language of its reader."""
    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> HttpResponseBase:
            language = await sync_to_async(_language_of)(request)
            with translation.override(language):
                return _mark(request, await get_response(request), language)

        return answer_async

    def answer(request: HttpRequest) -> HttpResponseBase:
        language = _language_of(request)
        with translation.override(language):
            response = get_response(request)
            assert isinstance(response, HttpResponseBase)
            return _mark(request, response, language)

    return answer


def _language_of(request: HttpRequest) -> str:
    """Return the language that the person has chosen, or else the one that the browser asks for.

    The browser's is stored when it loads a page, because answers are rendered without a request. Requests of scripts
    change nothing, so that an open page keeps its language while another device asks for another one. The API speaks
    English to programs.
    """
    if request.path.startswith(API_PREFIX) and PAGE_HEADER not in request.headers:
        return LANGUAGE_CODE
    asked = translation.get_language_from_request(request)
    user = request.user
    if not user.is_authenticated:
        return asked
    loads_page = request.headers.get("Sec-Fetch-Dest", "document") == "document"
    if loads_page and not user.language and asked != (user.browser_language or LANGUAGE_CODE):
        user.browser_language = asked
        # `save` would fail if the account was deleted meanwhile.
        get_user_model().objects.filter(pk=user.pk).update(browser_language=asked)
    return user.shown_language


def _mark(request: HttpRequest, response: HttpResponseBase, language: str) -> HttpResponseBase:
    """Name the language in the headers of a page."""
    if response.headers.get("Content-Type", "").startswith("text/html"):
        response.headers.setdefault("Content-Language", translation.get_language() or language)
        patch_vary_headers(response, ("Accept-Language",))
    return response
