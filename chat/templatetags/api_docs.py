"""Filters for the page that shows the OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template

from chat.page.rendering.markdown import render_markdown

register = template.Library()
register.filter("markdown", render_markdown)


@register.filter
def schema_type(schema: Mapping[str, Any]) -> str:
    """Return the type that a JSON schema describes, in a few words."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    for keyword in ("oneOf", "anyOf", "allOf"):
        if keyword in schema:
            return " or ".join(schema_type(inner) for inner in schema[keyword])
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if schema.get("type") == "array":
        return f"list of {schema_type(schema['items'])}"
    types = schema.get("type", "any")
    names = " or ".join(types) if isinstance(types, list) else str(types)
    return f"{names} ({schema['format']})" if "format" in schema else names
