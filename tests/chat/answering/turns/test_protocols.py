"""The same conversations in all protocols: the same stored parts, page, exports and counts but for ids and signatures.

The stand-ins say the same, in the common language of `tests.scenarios`. They speak Gemini's `generateContent` and
Interactions API, and OpenAI's chat completions and Responses API.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import pytest
from pytest_django import Settings

from chat.messages.notices import ONLY_THOUGHTS
from chat.models import PythonSession
from chat.python.sessions.places import current_client
from chat.python.sessions.rows import session_store
from tests.chat.answering.tools.recording_tools import UseTools
from tests.chat.answering.turns.protocol_outcomes import (
    ANY_CODE,
    COUNTS,
    GENERATE_CONTENT,
    GOOGLE,
    IN_SESSION,
    INTERACTIONS,
    PROTOCOLS,
    Case,
    Outcome,
    outcome_of,
    outcome_of_stop,
)
from tests.openai_server.server import StandInServer

pytestmark = pytest.mark.django_db(transaction=True)

GRAPH = "import matplotlib.pyplot as plt\nplt.plot([1, 3, 2])\nplt.title('Three values')\nplt.show()"
CONVERSATIONS: Mapping[str, Case] = {
    **{
        name: Case(name)
        for name in (
            *("text", "markdown", "hostile-text", "unicode", "long-20", "thoughts", "thoughts-between"),
            *("image-model-1", "image-model-2"),
            *("function-call", "function-calls", "function-calls-3", "function-thought", "function-code"),
            *("function-unknown", "function-args-invalid", "function-failing", "function-forever"),
            *("rate-limited", "rate-limited-once", "internal-error", "unavailable", "unavailable-once"),
            *("bad-request", "bad-key", "forbidden", "not-found", "error-in-stream"),
            *("without-finish", "reset", "cut", "stall", "stall-at-start"),
            *("max-tokens", "max-tokens-without-text", "max-tokens-unseen", "blocked"),
        )
    },
    "two rounds of calls": Case("function-script", '%echo {"value": 1}\n===\n%echo {"value": 2}'),
    "output that comes in pieces": Case("function-script", "%run"),
    "graph of a function": Case("script-with-end", "%plot"),
    "graph, then a failure": Case("script-with-end", "%plot_fail"),
    "graphs of parallel calls": Case("script-with-end", "%plot\n---\n%plot"),
}
STOPPED = "stopped"
NOTICES = dict.fromkeys(("max-tokens-without-text", "max-tokens-unseen"), f"<p>{ONLY_THOUGHTS}</p>")
"""Conversation -> the notice that its page must show."""
USAGE = {
    "thoughts": {"prompt": 50, "thoughts": 38, "candidates": 54, "total": 142},
    "two rounds of calls": {"prompt": 50 + 74 + 98, "cached": 50 + 50, "candidates": 12 + 12 + 12, "total": 258},
}
"""Token counts of the first answer, the sum of its rounds."""
FUNCTIONS = ("echo", "fail", "run", "plot", "plot_fail")
OF_THE_SESSION: Mapping[str, Case] = {
    name: Case("script-with-end", code, IN_SESSION)
    for name, code in {
        "code": "print(6 * 7)",
        "code in two rounds": "x = 41\n===\nprint(x + 1)",
        "code that fails": "print('before')\n1 / 0",
        "graph": GRAPH,
    }.items()
}
OF_GOOGLE = (
    *("hostile", "thought-and-graph", "function-call-thought", "code-beside-session"),
    *("code", "code-two-rounds", "code-failed", "code-only", "code-large-output", "result-without-output"),
    *("image", "image-twice", "image-two-sizes", "image-jpeg", "images"),
    *("code-then-session-2", "code-then-session-3"),
)
"""Conversations with code that the service runs, and with thoughts after a call. OpenAI's protocols have neither."""


def in_short(names: Iterable[str], *chosen: str) -> list[object]:
    """Return the names as parameters. All but the chosen ones are drills."""
    return [pytest.param(name, marks=() if name in chosen else (pytest.mark.drill,)) for name in names]


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs between protocols, because not all of them can express it."""

    protocols: Sequence[str]
    words: re.Pattern[str]
    """What differs on the page and in exports."""
    reason: str


CUT = Difference([GENERATE_CONTENT], COUNTS, "Only generateContent sends counts before the end of an answer.")
DIFFERENCES: Mapping[str, Difference] = {
    **dict.fromkeys(("without-finish", "reset", "cut", "stall", "error-in-stream", STOPPED), CUT),
    "rate-limited": Difference(
        [INTERACTIONS],
        re.compile(r" The service asks to wait # seconds\.|(?<=\"retry_after_s\": )(?:null|#\.#)"),
        "Its errors say nothing of when to ask again.",
    ),
    "max-tokens-unseen": Difference(
        GOOGLE,
        re.compile(r'(?<="first_part_at": )(?:null|"[^"]*")'),
        "Only Google sends a signature without a text, which is a part.",
    ),
}
"""Conversation -> its differences. All else is the same, and everything is if the protocols can express it."""


def assert_same(outcomes: Mapping[str, Outcome], difference: Difference | None = None) -> None:
    """Compare the outcomes of all protocols."""
    if difference:
        for is_other in (False, True):
            assert_same({name: one for name, one in outcomes.items() if (name in difference.protocols) == is_other})
        outcomes = {name: without(one, difference.words) for name, one in outcomes.items()}
    first, *others = outcomes
    for protocol in others:
        for part in fields(Outcome):
            one, other = (in_pieces(getattr(outcomes[name], part.name)) for name in (first, protocol))
            assert other == one, f"{part.name} of {protocol}, beside {first}"


def in_pieces(value: object) -> object:
    """Return the elements of a page and the lines of an export one by one, so that a failure shows the first
    difference.
    """
    return value.replace("><", ">\n<").split("\n") if isinstance(value, str) else value


def without(outcome: Outcome, words: re.Pattern[str]) -> Outcome:
    """Return an outcome without what differs."""
    usage = () if words is COUNTS else outcome.usage
    return replace(outcome, usage=usage, page=words.sub("", outcome.page), exports=words.sub("", outcome.exports))


@pytest.mark.parametrize(
    "name", in_short(CONVERSATIONS, "thoughts", "graph of a function", "rate-limited", "max-tokens-unseen", "cut")
)
async def test_conversation_has_the_same_result_in_all_protocols(
    endpoints: StandInServer, use_tools: UseTools, settings: Settings, name: str
) -> None:
    settings.ROUNDS_LIMIT = 3
    if name.startswith("stall"):
        settings.PROVIDER_IDLE_LIMIT_S = settings.PROVIDER_FIRST_BYTE_LIMIT_S = 0.3
    use_tools(*FUNCTIONS)
    outcomes = {protocol: await outcome_of(endpoints, protocol, CONVERSATIONS[name]) for protocol in PROTOCOLS}
    assert_same(outcomes, DIFFERENCES.get(name))
    first = outcomes[GENERATE_CONTENT]
    assert NOTICES.get(name, "") in first.page
    assert first.usage[0] == USAGE.get(name, first.usage[0])


async def end_sessions() -> None:
    """End all kernels, so that the next conversation finds a free one."""
    for session in await session_store.run(list, PythonSession.objects.alive()):
        await current_client().shut_down(session.kernel_id)


@pytest.mark.drill
@pytest.mark.parametrize("name", OF_THE_SESSION)
async def test_code_in_the_python_session_has_the_same_result_in_all_protocols(
    endpoints: StandInServer, sessions: Settings, name: str
) -> None:
    outcomes = {}
    for protocol in PROTOCOLS:
        outcomes[protocol] = await outcome_of(endpoints, protocol, OF_THE_SESSION[name])
        await end_sessions()
    assert_same(outcomes)


@pytest.mark.drill
async def test_stopped_answer_has_the_same_result_in_all_protocols(endpoints: StandInServer) -> None:
    outcomes = {protocol: await outcome_of_stop(endpoints, protocol) for protocol in PROTOCOLS}
    assert_same({name: with_one_word(outcome) for name, outcome in outcomes.items()}, DIFFERENCES[STOPPED])


def with_one_word(outcome: Outcome) -> Outcome:
    """Return the outcome of an endless answer as if it had one word: how many there are is chance."""
    texts = re.compile(r"(?:word [\d#]+ ?)+")
    parts = [{**part, "text": texts.sub("word", str(part["text"]))} for part in outcome.parts]
    page, exports = (texts.sub("word", text) for text in (outcome.page, outcome.exports))
    return replace(outcome, parts=parts, page=page, exports=exports, usage=())


@pytest.mark.parametrize("scenario", in_short(OF_GOOGLE, "image"))
async def test_conversation_that_only_gemini_supports_has_the_same_result_in_both_its_protocols(
    endpoints: StandInServer, use_tools: UseTools, scenario: str
) -> None:
    use_tools(*FUNCTIONS)
    case = Case(scenario, "first", ANY_CODE)
    assert_same({protocol: await outcome_of(endpoints, protocol, case) for protocol in GOOGLE})
