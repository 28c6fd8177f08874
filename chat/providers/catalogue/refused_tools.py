"""Remembers for a day which models take no tools, in the database cache, which all processes share.

An entry becomes invalid if the model's row in the catalogue or its account changes.
"""

from __future__ import annotations

from django.core.cache import cache

from chat.models import LanguageModel, Turn

LIFETIME_S = 86_400
NOT_OF_THE_OPERATOR = ("listed_at", "missing_since")
"""Columns that Plotline sets. A change of them does not make an entry invalid."""
TOOLS_OFF = "{label} does not support tools, so this answer was written without them."
TOOLS_KNOWN_OFF = "{label} refused tools when it was last asked, so it is asked without them for a day."


def remember_refusal(turn: Turn) -> None:
    """Remember that the model of a turn takes no tools."""
    key = _key(turn.provider, turn.endpoint, turn.model, turn.account)
    cache.set(key, _row(turn.provider, turn.endpoint, turn.model), LIFETIME_S)


def refuses_tools(provider: str, endpoint: str, model: str, account: str) -> bool:
    """Return whether the model is known to take no tools. One query, or two if it has refused them."""
    row = cache.get(_key(provider, endpoint, model, account))
    return row is not None and row == _row(provider, endpoint, model)


def _key(*names: str) -> str:
    return f"refused tools {names!r}"


def _row(provider: str, endpoint: str, model: str) -> str:
    """Return the columns of the model's row that an operator sets, as text."""
    rows = LanguageModel.objects.filter(provider=provider, endpoint=endpoint, name=model).order_by().values()
    return repr([{name: value for name, value in row.items() if name not in NOT_OF_THE_OPERATOR} for row in rows])
