"""The export formats for templates."""

from __future__ import annotations

from collections.abc import Collection

from django import template

from chat.library.exports.export_format import ExportFormat
from chat.library.exports.registry import FORMATS

register = template.Library()


@register.simple_tag
def export_formats() -> Collection[ExportFormat]:
    """Return the formats in the order of the menu."""
    return FORMATS.values()
