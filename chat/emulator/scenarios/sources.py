"""Scenarios of answers that name their sources: search, URL context, citations."""

from __future__ import annotations

from collections.abc import Iterator

from chat.emulator import wire
from chat.emulator.scenarios.registry import scenario
from chat.emulator.voice import Voice
from chat.emulator.wire import Step, WireObject

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


def _supports() -> list[WireObject]:
    """Which sentence stands on which sources; a segment's place is counted in bytes of UTF-8."""
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
def _grounding(voice: Voice, amount: int) -> Iterator[Step]:
    """Text with groundingMetadata in the last chunk and urlContextMetadata in the first."""
    retrieved = {"retrievedUrl": "https://example.org/", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_SUCCESS"}
    yield voice.chunk(wire.text("The Volga"), urlContextMetadata={"urlMetadata": [retrieved]})
    yield from voice.say(" is the longest river in Europe.")
    segment = {"startIndex": 0, "endIndex": 41, "text": "The Volga is the longest river in Europe."}
    grounding = {
        "webSearchQueries": ["longest river in Europe"],
        "groundingChunks": [{"web": {"uri": "https://example.org/volga", "title": "example.org"}}],
        "groundingSupports": [{"segment": segment, "groundingChunkIndices": [0]}],
        "searchEntryPoint": {"renderedContent": "<style>.chip{border:1px solid}</style><div class=chip>Volga</div>"},
    }
    yield voice.chunk(wire.text("", voice.signature()), finish="STOP", groundingMetadata=grounding)


@scenario("grounded")
def _grounded(voice: Voice, amount: int) -> Iterator[Step]:
    """Text with sources in the last chunks, whole in the last: several queries, a bad address, no title, a script."""
    yield voice.chunk(wire.text(SENTENCES[0]), groundingMetadata={})
    yield from voice.say(SENTENCES[1])
    grounding: WireObject = {
        "webSearchQueries": ["longest river in Europe", "Volga length km"],
        "groundingChunks": [{"web": source} for source in WEB_SOURCES],
    }
    yield voice.chunk(wire.text(SENTENCES[2]), groundingMetadata=grounding)
    whole = {
        **grounding,
        "groundingSupports": _supports(),
        "searchEntryPoint": {"renderedContent": SEARCH_SUGGESTIONS},
    }
    yield voice.chunk(wire.text("", voice.signature()), finish="STOP", groundingMetadata=whole)


@scenario("url-context")
def _url_context(voice: Voice, amount: int) -> Iterator[Step]:
    """Text about pages that were read, or not: urlContextMetadata in the first chunk, with every status there is."""
    statuses = ("SUCCESS", "ERROR", "PAYWALL", "UNSAFE", "NEWLY_INVENTED")
    pages = [
        {
            "retrievedUrl": f"https://example.org/{status.lower()}",
            "urlRetrievalStatus": f"URL_RETRIEVAL_STATUS_{status}",
        }
        for status in statuses
    ]
    yield voice.chunk(wire.text("Of these pages "), groundingMetadata={}, urlContextMetadata={"urlMetadata": pages})
    yield from voice.say("only the first could be read. It says that the Volga is 3,530 km long.")
    yield voice.end()


@scenario("citations")
def _citations(voice: Voice, amount: int) -> Iterator[Step]:
    """Text with citationMetadata in the middle of the stream."""
    yield voice.chunk(wire.text("To be, or not to be, "))
    source = {"startIndex": 0, "endIndex": 41, "uri": "https://example.org/hamlet", "license": "public domain"}
    yield voice.chunk(wire.text("that is the question."), citationMetadata={"citations": [source]})
    yield voice.end()
