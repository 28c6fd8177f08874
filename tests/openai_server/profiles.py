"""The kinds of servers that the stand-in plays: what they refuse, and how their streams look."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from tests.openai_server import local_wordings, model_names, wordings
from tests.openai_server.model_names import ModelName
from tests.openai_server.refusals import (
    Form,
    Refusal,
    llamacpp_form,
    local_form,
    mistral_form,
    openai_form,
    refuse,
    text_form,
)
from tests.openai_server.rules import Rule, Violation
from tests.openai_server.violations import violations
from tests.openai_server.wordings import Wordings


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


SHARED_FIELDS = _names(
    """
    model messages tools tool_choice parallel_tool_calls stream temperature top_p n stop
    max_tokens presence_penalty frequency_penalty response_format prediction reasoning_effort
    metadata
    """
)
"""Fields of a request that OpenAI and Mistral know."""
OPENAI_FIELDS = SHARED_FIELDS | _names(
    """
    stream_options seed max_completion_tokens logit_bias logprobs top_logprobs user verbosity
    store service_tier modalities audio safety_identifier prompt_cache_key web_search_options
    functions function_call
    """
)
MISTRAL_FIELDS = SHARED_FIELDS | _names(
    """
    random_seed prompt_mode safe_prompt
    """
)


class CallForm(Enum):
    """How a server streams function calls."""

    PIECES = auto()
    """The name first, then pieces of the arguments."""
    WHOLE = auto()
    """One chunk for each call."""
    ONE_CHUNK = auto()
    """All calls in the chunk that ends the answer, without `type`."""


@dataclass(frozen=True, slots=True)
class Profile:
    """One kind of server."""

    name: str
    wordings: Wordings
    form: Form
    fields: frozenset[str] = OPENAI_FIELDS
    """Known fields of a request. They matter only if the profile enforces `Rule.FIELD`."""
    needs_key: bool = False
    knows_all_models: bool = False
    """Whether it answers with the loaded model, whatever the request names."""
    is_text_only: bool = False
    call_id_form: str = "call_{digest:.24}"
    repeats_call_ids: bool = False
    """Whether calls of different answers have the same ids."""
    call_form: CallForm = CallForm.PIECES
    reasoning_field: str = "reasoning_content"
    usage_on_finish: bool = False
    """Whether usage comes with the chunk that ends the answer, whether it was asked for or not."""

    def refusal(self, body: Mapping[str, Any], model: ModelName) -> Refusal | None:
        """Return how this server refuses a request; `None` if it accepts it."""
        return next(self._refusals(body, model), None)

    def refuse(self, violation: Violation, model: str) -> Refusal:
        """Return the HTTP error for a violation of a rule that the profile enforces."""
        return refuse(self.form, self.wordings[violation.rule], violation, model)

    def _refusals(self, body: Mapping[str, Any], model: ModelName) -> Iterator[Refusal]:
        is_thinking_off = body.get("thinking") == {"type": "disabled"}
        for violation in violations(body, model, self.fields):
            if violation.rule not in self.wordings:
                continue
            if violation.rule is Rule.IMAGES and not (self.is_text_only or model_names.TEXT_ONLY in model.traits):
                continue
            if violation.rule is Rule.SYSTEM_ROLE and model_names.NO_SYSTEM_ROLE not in model.traits:
                continue
            if violation.rule is Rule.REASONING_RETURNED and is_thinking_off:
                continue
            if violation.rule is Rule.CALL_ID_FORM and _has_mistral_form(violation.value):
                continue
            yield self.refuse(violation, model.full)


def _has_mistral_form(call_id: object) -> bool:
    return isinstance(call_id, str) and len(call_id) == 9 and call_id.isascii() and call_id.isalnum()


_PROFILES = [
    Profile("openai", wordings.OPENAI, openai_form, needs_key=True, reasoning_field=""),
    Profile(
        "mistral",
        wordings.MISTRAL,
        mistral_form,
        MISTRAL_FIELDS,
        needs_key=True,
        call_id_form="{digest:.9}",
        call_form=CallForm.ONE_CHUNK,
        reasoning_field="",
        usage_on_finish=True,
    ),
    Profile("deepseek", wordings.DEEPSEEK, openai_form, needs_key=True, is_text_only=True, usage_on_finish=True),
    Profile("llamacpp", local_wordings.LLAMACPP, llamacpp_form, knows_all_models=True, call_id_form="{digest:.32}"),
    Profile(
        "ollama",
        local_wordings.OLLAMA,
        local_form,
        call_id_form="call_{digest:.8}",
        call_form=CallForm.WHOLE,
        reasoning_field="reasoning",
    ),
    Profile(
        "vllm",
        local_wordings.VLLM,
        local_form,
        call_id_form="chatcmpl-tool-{digest:.32}",
        reasoning_field="reasoning",
    ),
    Profile(
        "generic",
        local_wordings.GENERIC,
        text_form,
        call_id_form="{number}",
        repeats_call_ids=True,
        call_form=CallForm.WHOLE,
    ),
]

PROFILES: Mapping[str, Profile] = {profile.name: profile for profile in _PROFILES}
