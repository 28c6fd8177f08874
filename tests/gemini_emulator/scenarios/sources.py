"""Scenarios of answers with sources: search, URL context, citations."""

from __future__ import annotations

from collections.abc import Iterator

from chat.emulator import wire
from chat.emulator.chunk_builder import ChunkBuilder
from chat.emulator.tool_checks import requested_tools
from chat.emulator.wire import Step, WireObject
from tests.gemini_emulator.scenarios.chart_image import draw_chart
from tests.gemini_emulator.scenarios.code import code_round
from tests.gemini_emulator.scenarios.registry import ScenarioCall, scenario

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


def _supports() -> list[WireObject]:
    """Return the sources of each sentence. Offsets of segments are bytes of UTF-8."""
    supports: list[WireObject] = []
    end = 0
    for number, sentence in enumerate(SENTENCES):
        start, end = end, end + len(sentence.encode())
        segment: WireObject = {"endIndex": end, "text": sentence}
        if start:
            segment["startIndex"] = start
        supports.append({"segment": segment, "groundingChunkIndices": [number, len(WEB_SOURCES) - 1]})
    return supports


@scenario("grounding")
def _grounding(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Text with groundingMetadata in the last chunk and urlContextMetadata in the first."""
    retrieved = {"retrievedUrl": "https://example.org/", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_SUCCESS"}
    yield builder.chunk(wire.text_part("The Volga"), urlContextMetadata={"urlMetadata": [retrieved]})
    yield from builder.text_chunks(" is the longest river in Europe.")
    segment = {"startIndex": 0, "endIndex": 41, "text": "The Volga is the longest river in Europe."}
    grounding = {
        "webSearchQueries": ["longest river in Europe"],
        "groundingChunks": [{"web": {"uri": "https://example.org/volga", "title": "example.org"}}],
        "groundingSupports": [{"segment": segment, "groundingChunkIndices": [0]}],
        "searchEntryPoint": {"renderedContent": "<style>.chip{border:1px solid}</style><div class=chip>Volga</div>"},
    }
    yield builder.chunk(wire.text_part("", builder.new_signature()), finish="STOP", groundingMetadata=grounding)


@scenario("grounded")
def _grounded(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Text with sources, complete in the last chunk: several queries, an unsafe URL, a missing title, a script."""
    yield builder.chunk(wire.text_part(SENTENCES[0]), groundingMetadata={})
    yield from builder.text_chunks(SENTENCES[1])
    grounding: WireObject = {
        "webSearchQueries": ["longest river in Europe", "Volga length km"],
        "groundingChunks": [{"web": source} for source in WEB_SOURCES],
    }
    yield builder.chunk(wire.text_part(SENTENCES[2]), groundingMetadata=grounding)
    whole = {
        **grounding,
        "groundingSupports": _supports(),
        "searchEntryPoint": {"renderedContent": SEARCH_SUGGESTIONS},
    }
    yield builder.chunk(wire.text_part("", builder.new_signature()), finish="STOP", groundingMetadata=whole)


@scenario("search-and-plot")
def _search_and_plot(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """A search, a graph of what it found, and its sources; without the tools for them a text that says so."""
    tools = {name for tool in requested_tools(builder.request.body) for name in tool}
    if "googleSearch" not in tools:
        yield from builder.text_chunks("I cannot search the web here, so I have no prices to plot.")
        yield builder.last_chunk()
        return
    config = builder.request.body.get("toolConfig") or {}
    if config.get("includeServerSideToolInvocations"):
        yield from _shown_search(builder)
    if "codeExecution" in tools:
        yield from code_round(builder, PRICE_PLOT, images=(draw_chart(400, 250),))
    yield from builder.text_chunks("The price rose from 58,000 to 63,000 dollars in three days.")
    grounding: WireObject = {
        "webSearchQueries": ["", *PRICE_QUERIES],
        "groundingChunks": [{"web": {"uri": "https://example.org/prices", "title": "example.org"}}],
    }
    yield builder.chunk(wire.text_part("", builder.new_signature()), finish="STOP", groundingMetadata=grounding)


def _shown_search(builder: ChunkBuilder) -> Iterator[Step]:
    """Yield the search as parts, which the API sends if functions are declared too."""
    tool = {"toolType": "GOOGLE_SEARCH_WEB", "id": builder.new_id()}
    searched: WireObject = {"toolCall": {**tool, "args": {"queries": list(PRICE_QUERIES)}}}
    found: WireObject = {"toolResponse": {**tool, "response": {"search_suggestions": SEARCH_SUGGESTIONS}}}
    yield builder.chunk({**searched, "thoughtSignature": builder.new_signature()}, wire.text_part(""))
    yield builder.chunk({**found, "thoughtSignature": builder.new_signature()})


@scenario("url-context")
def _url_context(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Text with urlContextMetadata in the first chunk, with every retrieval status."""
    statuses = ("SUCCESS", "ERROR", "PAYWALL", "UNSAFE", "NEWLY_INVENTED")
    pages = [
        {
            "retrievedUrl": f"https://example.org/{status.lower()}",
            "urlRetrievalStatus": f"URL_RETRIEVAL_STATUS_{status}",
        }
        for status in statuses
    ]
    yield builder.chunk(
        wire.text_part("Of these pages "), groundingMetadata={}, urlContextMetadata={"urlMetadata": pages}
    )
    yield from builder.text_chunks("only the first could be read. It says that the Volga is 3,530 km long.")
    yield builder.last_chunk()


@scenario("citations")
def _citations(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Text with citationMetadata in the middle of the stream."""
    yield builder.chunk(wire.text_part("To be, or not to be, "))
    source = {"startIndex": 0, "endIndex": 41, "uri": "https://example.org/hamlet", "license": "public domain"}
    yield builder.chunk(wire.text_part("that is the question."), citationMetadata={"citations": [source]})
    yield builder.last_chunk()
