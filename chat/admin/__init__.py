"""The admin: staff review conversations, and operators maintain the model catalogue.

Django imports this package, which registers all admins.
"""

from __future__ import annotations

from chat.admin import (
    catalogue,
    conversations,
    endpoints,
    logs,
    projects,
    python_sessions,
    quotas,
    records,
    second_steps,
    users,
)

__all__ = [
    "catalogue",
    "conversations",
    "endpoints",
    "logs",
    "projects",
    "python_sessions",
    "quotas",
    "records",
    "second_steps",
    "users",
]
