"""The settings of a server process with the tool set `table_tools` beside the Python session."""

from __future__ import annotations

from config.settings import *  # noqa: F403 - settings of Django are module variables
from config.settings import TOOL_SETS as TOOL_SETS_OF_PRODUCT

TOOL_SETS = [*TOOL_SETS_OF_PRODUCT, "tests.chat.answering.tools.table_tools.make"]
