"""The OpenAPI document for programs, and the same as a page for people."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from chat.api.problems import ProblemType
from chat.api.schema import openapi_document


@require_safe
@cache_control(public=True, max_age=300)
def schema(request: HttpRequest) -> JsonResponse:
    """Return the OpenAPI document as JSON."""
    return JsonResponse(openapi_document())


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """Return the documentation page, which needs no script."""
    document = openapi_document()
    operations = [
        {**operation, "path": path, "method": method.upper()}
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    context = {
        "operations": operations,
        "schemas": document["components"]["schemas"],
        "problem_types": list(ProblemType),
    }
    return render(request, "chat/api_docs.html", context)
