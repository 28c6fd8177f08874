"""A second tool set for tests, beside the Python session: a query whose rows are shown as a table and a graph."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence

from django.conf import settings

from chat.models import Turn
from chat.providers.requests import FunctionTool
from chat.vocabulary.parts import Display, FunctionCall, FunctionResponse, InlineData, Part
from tests.attachments.conftest import png

TABLE = {"text/html": "<table><tr><td>Oslo</td></tr></table>", "text/plain": "Oslo"}


class TableTools:
    """The function `query`, every call of which needs approval. The file `queries` records what happens."""

    def declarations(self) -> Sequence[FunctionTool]:
        """Return the function."""
        return [FunctionTool("query", "Run a query.", {"type": "object", "properties": {"value": {"type": "integer"}}})]

    def needs_approval(self, call: FunctionCall) -> bool:
        """Return `True`."""
        return True

    async def run(self, call: FunctionCall) -> AsyncGenerator[list[Part], None]:
        """Show the table and the graph, then return the rows. While the file `hold` exists, the query goes on."""
        note("run")
        yield [Display(TABLE), InlineData("image/png", data=png(1))]
        while (settings.VAR_DIR / "hold").exists():
            await asyncio.sleep(0.02)
        yield [FunctionResponse(call.name, {"rows": ["Oslo"]})]

    async def state(self, *, with_data: bool) -> str:
        """Return the name of the table, and with data the city in it."""
        return "The table is cities, with Oslo." if with_data else "The table is cities."

    async def abandon(self) -> None:
        """Note that a query of a dead process is ended."""
        note("abandon")

    async def aclose(self) -> None:
        """Do nothing, because there is no connection."""


def make(turn: Turn) -> TableTools:
    """Return the tool set of a turn."""
    return TableTools()


def note(what: str) -> None:
    """Append a line to the file."""
    with (settings.VAR_DIR / "queries").open("a") as file:
        file.write(f"{what}\n")
