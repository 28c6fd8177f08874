"""The settings of a server process whose answers can run code with `code_tools`."""

from __future__ import annotations

from config.settings import *  # noqa: F403 - settings of Django are module variables

TOOL_SETS = ["tests.chat.answering.tools.code_tools.make"]
