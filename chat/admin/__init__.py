"""The admin: staff review conversations, and operators keep the catalogue of models."""

from __future__ import annotations

from chat.admin import catalogue, people, records, review

__all__ = ["catalogue", "people", "records", "review"]
