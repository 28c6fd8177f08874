"""The admin: staff review conversations, and operators keep the catalogue of models."""

from __future__ import annotations

from chat.admin import catalogue, review

__all__ = ["catalogue", "review"]
