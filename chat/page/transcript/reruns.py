"""Views of blocks of code that run again or have run again."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import TypedDict

from chat.models.plain_sql import database_time
from chat.page.fragments import rerun_element_id
from chat.page.message_views import RerunView
from chat.vocabulary.parts import Engine, ExecutableCode, Part


class RerunState(TypedDict, total=False):
    """The value of `Message.reruns` for one block of code."""

    until: str
    """Latest time until which the block runs, in ISO 8601. Without this key, the block does not run."""
    output: str
    verdict: str
    detail: str


def is_running(state: Mapping[str, object]) -> bool:
    """Return whether a block runs again now. `state`: see `Message.reruns`. Runs a query if `state` has `until`."""
    # Both times are in UTC and have the same format, so they can be compared as texts.
    return "until" in state and str(state["until"]) > database_time().isoformat(timespec="seconds")


def rerun_view(
    message_id: uuid.UUID, index: int, part: Part, reruns: Mapping[str, RerunState] | None
) -> RerunView | None:
    """Return what the page offers for a block of code that has run; `None` for everything else.

    `reruns`: see `Message.reruns`; `None` if code cannot be run again.
    """
    if reruns is None or not isinstance(part, ExecutableCode) or not part.is_python:
        return None
    state = reruns.get(str(index), RerunState())
    element_id = rerun_element_id(message_id, index)
    if is_running(state):
        return RerunView(element_id, index, output=state["output"], is_running=True)
    verdict = state.get("verdict", "")
    is_unproved = not verdict and part.engine is Engine.SESSION
    return RerunView(element_id, index, verdict, state.get("detail", ""), is_unproved=is_unproved)
