"""How an answer was made: model, code, tokens, cost and time. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from chat.models import Turn
from chat.page.attachment_views import AttachmentView, ClearedOutputs
from chat.page.message_views import AnswerDetails
from chat.page.readers import Reader
from chat.people.account.number_format import format_dollars
from chat.providers.catalogue.costs import count_searches, search_cost
from chat.providers.reasons import clean_reason
from chat.vocabulary.demo_model import DEMO_MODEL
from chat.vocabulary.parts import CodeExecutionResult, Engine, ExecutableCode, Part
from chat.vocabulary.stream_events import Finish

USAGE_WORDS = {
    "prompt": "read",
    "tool_use": "read by its tools",
    "cached": "of these from cache",
    "thoughts": "thought",
    "candidates": "written",
}


ENGINE_WORDS: Mapping[str, str] = {
    Engine.NATIVE: "in the sandbox of the model's service",
    Engine.SESSION: "in the Python session",
}
IN_DEMO = "in the sandbox of the demo"
IN_GOOGLE = "in Google's sandbox"
SERVICE_NAMES: Mapping[str, str] = {"gemini": "Google Gemini", "openai_compatible": "OpenAI-compatible"}
"""Names of providers in the details of an answer."""


@dataclass(frozen=True, slots=True)
class AnsweredBy:
    """Who answered a question: the model, or code of the user. All fields of a question itself are `None`."""

    provider: str | None = None
    endpoint: str | None = None
    """Name of the provider's server. Empty: the server that the settings describe."""
    model: str | None = None
    engine: str | None = None
    """Where code runs. `None`: code cannot run."""

    @property
    def service(self) -> str:
        """The provider and its endpoint in words; empty if no provider answered through this server."""
        if not self.provider:
            return ""
        return f"{self.provider}, endpoint {self.endpoint}" if self.endpoint else self.provider

    @property
    def sentence(self) -> str:
        """A sentence with the model, its service and the place of code; empty for a question."""
        place = ENGINE_WORDS.get(self.engine or "", "")
        code = f"code: {place}" if place else "no code"
        if not self.model:
            return code.capitalize() if self.engine else ""
        # Imported answers of other products have a model, but no provider.
        return f"Model: {self.model}{f' ({self.service})' if self.service else ''}; {code}"


def answered_by(turn: Turn | None) -> AnsweredBy:
    """Return who answered. `turn`: `None` for a question. If the session ran the user's own code, no model is named."""
    if turn is None:
        return AnsweredBy()
    if turn.is_own_code:
        return AnsweredBy(engine=turn.engine or None)
    return AnsweredBy(turn.provider, turn.endpoint, turn.model, turn.engine or None)


def answer_details(turn: Turn, reader: Reader, parts: Iterable[Part] = ()) -> AnswerDetails:
    """Return how the answer of a turn was made, as far as the reader may know it. `parts`: those of the answer.

    The usage is known once the turn has ended.
    """
    # A clock may be set back while a turn runs.
    duration = max(0.0, (turn.ended_at - turn.created_at).total_seconds()) if turn.ended_at else None
    details = AnswerDetails(
        model="Python session" if turn.is_own_code else turn.parameters.get("label") or turn.model,
        code_execution=turn.code_execution,
        # The line of a person's own code says how long it ran.
        duration_s=None if duration is None or turn.is_own_code else round(duration, 1),
        # A live turn may move to another engine.
        engine="" if turn.is_live else _engine_words(turn, parts, reader),
        service=_service_words(turn) if reader.sees_service else "",
        model_note=turn.model_note if reader.sees_service else "",
    )
    if not reader.sees_costs:
        return details
    usage = {} if turn.is_live else turn.usage
    total, estimated = usage.get("total") or None, usage.get("estimated")
    has_asked = turn.first_part_at is not None and not (turn.is_live or turn.is_own_code)
    return replace(
        details,
        code_reason=turn.code_reason,
        usage=tuple((words, usage[name]) for name, words in USAGE_WORDS.items() if usage.get(name)),
        total=total,
        estimated=estimated,
        is_uncounted=has_asked and total is None and estimated is None,
        cost="free: the demo model runs on this server" if _is_demo(turn) and total else dollars(turn.cost),
        rounds=turn.round_count,
        parameters=tuple(_parameters(turn)),
        searches="" if turn.is_live else _searches(turn),
        ended=_end_words(turn),
    )


def cleared_outputs(
    turn: Turn, parts: Iterable[Part], graphs: Sequence[AttachmentView], reader: Reader
) -> ClearedOutputs | None:
    """Return outputs that the code of an answer has shown and cleared; `None` if there are none to show."""
    if turn.is_live or reader.embeds_files:
        # A live answer shows them when it has ended. An exported page does not contain the bytes of cleared graphs.
        return None
    results = [part for part in parts if isinstance(part, CodeExecutionResult)]
    texts = tuple(text for result in results for text in result.cleared)
    left_out = sum(result.cleared_left_out for result in results)
    return ClearedOutputs(texts, tuple(graphs), left_out) if texts or graphs or left_out else None


def _is_demo(turn: Turn) -> bool:
    return turn.model == DEMO_MODEL and not turn.endpoint


def _service_words(turn: Turn) -> str:
    """Return the service that answered; empty for the demo model, which runs on this server."""
    if _is_demo(turn):
        return ""
    who = answered_by(turn)
    return replace(who, provider=SERVICE_NAMES.get(who.provider or "", who.provider)).service


def _end_words(turn: Turn) -> str:
    """Return why an incomplete answer ended, in the provider's words, which may come from an imported file."""
    if turn.is_live or (turn.finish in ("", Finish.STOP) and turn.status != Turn.Status.FAILED):
        return ""
    words = (clean_reason(text) for text in (turn.finish_reason, turn.finish_message))
    return ": ".join(filter(None, words))


def _engine_words(turn: Turn, parts: Iterable[Part], reader: Reader) -> str:
    """Return in words where code could run. A model whose service runs code may have used the Python session too."""
    words = place_words(turn, turn.engine, reader)
    if turn.engine == Engine.NATIVE and any(isinstance(part, ExecutableCode) and part.made_by for part in parts):
        return f"{words}, and {ENGINE_WORDS[Engine.SESSION]}"
    return words


def code_place(turn: Turn, part: Part, reader: Reader) -> str:
    """Return in words where the code of a part runs; empty for parts without code."""
    return place_words(turn, part.engine, reader) if isinstance(part, ExecutableCode) else ""


def place_words(turn: Turn, engine: str, reader: Reader) -> str:
    """Return in words where code of this engine runs, as exactly as the reader may know it. Empty: it is unknown."""
    if engine == Engine.NATIVE and not turn.model:
        # The turn was imported: from a notebook, or from an archive that does not name the model.
        return ""
    if engine != Engine.NATIVE:
        return ENGINE_WORDS.get(engine, "")
    if turn.model == DEMO_MODEL:
        return IN_DEMO
    return IN_GOOGLE if reader.sees_service and turn.provider == "gemini" else ENGINE_WORDS[Engine.NATIVE]


def _searches(turn: Turn) -> str:
    """Return the number of web searches and their cost, which the cost of the answer includes.

    Return only the number if the cost or the price is not known, or if another model may have answered: the stored
    prices are those of the chosen model. Return an empty text if there was no search.
    """
    count = count_searches(turn.queries)
    price = turn.parameters.get("prices", {}).get("search")
    if not count or turn.cost is None or price is None or turn.model_note:
        return f"{count}" if count else ""
    return f"{count}, {dollars(search_cost(count, Decimal(price)))} of the cost"


def _parameters(turn: Turn) -> Iterator[str]:
    """Yield in words the settings of the model that were set. Its service chose all others."""
    stored = turn.parameters
    if stored.get("label") and turn.model not in ("", stored["label"]):
        yield f"model {turn.model}"
    if stored.get("thinking_level"):
        yield f"thinking {stored['thinking_level']}"
    if stored.get("thinking_budget") is not None:
        yield f"at most {stored['thinking_budget']:,} tokens of thinking"
    if stored.get("temperature") is not None:
        yield f"temperature {stored['temperature']}"
    if stored.get("max_output_tokens"):
        yield f"at most {stored['max_output_tokens']:,} tokens written"
    if stored.get("web_search"):
        yield "searches the web"
    if stored.get("url_context"):
        yield "reads web pages"


def dollars(cost: Decimal | None) -> str:
    """Return an amount such as `$0.0021` or `$1.20`; empty if it is not known."""
    return "" if cost is None else format_dollars(cost)
