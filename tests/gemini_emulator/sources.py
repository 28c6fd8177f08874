"""Scenarios of answers with sources: search and URL context."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from chat.emulator import wire
from chat.emulator.chunk_builder import ChunkBuilder
from chat.emulator.tool_checks import requested_tools
from chat.emulator.wire import WireObject
from tests.gemini_emulator.own_scenarios import SEARCH, AnyStep, OwnScript, signed
from tests.scenarios.asked import Asked
from tests.scenarios.steps import Chart, Code, End, Text

SENTENCES = (
    "The Volga is the longest river in Europe.",
    " It is about 3,530 km long – the Danube, Zoë’s favourite, comes second.",
    " Both were measured again and again.",
)
WEB_SOURCES: tuple[WireObject, ...] = (
    {"uri": "https://example.org/volga", "title": "example.org"},
    {"uri": "javascript:window.plotlineBroken=true", "title": "click me"},
    {"uri": "https://example.com/rivers/europe"},
    {"uri": "https://example.net/danube?a=1&b=<b>", "title": "Danube <script>window.plotlineBroken=true</script>"},
)
SEARCH_SUGGESTIONS = (
    "<style>.chip{border:1px solid}</style>"
    '<div class="container"><a class="chip" href="https://example.org/search?q=volga">longest river in Europe</a></div>'
)
PRICE_QUERIES = ("bitcoin price this week", "BTC USD daily close")
PRICE_PLOT = "import matplotlib.pyplot as plt\n\nplt.plot([58_000, 61_500, 63_000])\nplt.show()"
STATUSES = ("SUCCESS", "ERROR", "PAYWALL", "UNSAFE", "NEWLY_INVENTED")


def _supports() -> list[WireObject]:
    """Return the sources of each sentence. Offsets of segments are bytes of UTF-8."""
    supports: list[WireObject] = []
    end = 0
    for number, sentence in enumerate(SENTENCES):
        start, end = end, end + len(sentence.encode())
        segment: WireObject = {"endIndex": end, "text": sentence, **({"startIndex": start} if start else {})}
        supports.append({"segment": segment, "groundingChunkIndices": [number, len(WEB_SOURCES) - 1]})
    return supports


def grounded(builder: ChunkBuilder, asked: Asked) -> Iterator[AnyStep]:
    """Send sources, complete in the last chunk: several queries, an unsafe URL, a missing title, a script."""
    yield builder.chunk(wire.text_part(SENTENCES[0]), groundingMetadata={})
    yield Text(SENTENCES[1])
    grounding: WireObject = {
        "webSearchQueries": ["longest river in Europe", "Volga length km"],
        "groundingChunks": [{"web": source} for source in WEB_SOURCES],
    }
    yield builder.chunk(wire.text_part(SENTENCES[2]), groundingMetadata=grounding)
    entry = {"searchEntryPoint": {"renderedContent": SEARCH_SUGGESTIONS}}
    whole = {**grounding, "groundingSupports": _supports(), **entry}
    yield builder.chunk(signed(builder, wire.text_part("")), finish="STOP", groundingMetadata=whole)


def search_and_plot(builder: ChunkBuilder, asked: Asked) -> Iterator[AnyStep]:
    """Search, draw what was found, and name the sources. If the tools are missing, say so."""
    tools = {name for tool in requested_tools(builder.request.body) for name in tool}
    if "googleSearch" not in tools:
        yield from (Text("I cannot search the web here, so I have no prices to plot."), End())
        return
    if (builder.request.body.get("toolConfig") or {}).get("includeServerSideToolInvocations"):
        # The API sends the search as parts if functions are declared too.
        searched: WireObject = {"toolCall": {**SEARCH, "args": {"queries": list(PRICE_QUERIES)}}}
        found: WireObject = {"toolResponse": {**SEARCH, "response": {"search_suggestions": SEARCH_SUGGESTIONS}}}
        yield builder.chunk(signed(builder, searched), wire.text_part(""))
        yield builder.chunk(signed(builder, found))
    if asked.runs_code:
        yield Code(PRICE_PLOT, images=(Chart(400, 250),))
    yield Text("The price rose from 58,000 to 63,000 dollars in three days.")
    grounding: WireObject = {
        "webSearchQueries": ["", *PRICE_QUERIES],
        "groundingChunks": [{"web": {"uri": "https://example.org/prices", "title": "example.org"}}],
    }
    yield builder.chunk(signed(builder, wire.text_part("")), finish="STOP", groundingMetadata=grounding)


def url_context(builder: ChunkBuilder, asked: Asked) -> Iterator[AnyStep]:
    """Name pages in the first chunk, with every retrieval status."""
    pages = [
        {
            "retrievedUrl": f"https://example.org/{status.lower()}",
            "urlRetrievalStatus": f"URL_RETRIEVAL_STATUS_{status}",
        }
        for status in STATUSES
    ]
    context = {"urlMetadata": pages}
    yield builder.chunk(wire.text_part("Of these pages "), groundingMetadata={}, urlContextMetadata=context)
    yield from (Text("only the first could be read. It says that the Volga is 3,530 km long."), End())


SOURCES: Mapping[str, OwnScript] = {
    "grounded": grounded,
    "search-and-plot": search_and_plot,
    "url-context": url_context,
}
"""Name of the scenario -> script."""
