"""The kinds of servers that the stand-in plays: what they know, and how their streams look.

`refusals.toml` says what each of them refuses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from tests.openai_server.model_names import ModelName
from tests.openai_server.refusals import Refusal, refuse
from tests.openai_server.violations import Violation, violations


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


SHARED_FIELDS = _names(
    """
    model messages tools tool_choice parallel_tool_calls stream temperature top_p n stop max_tokens presence_penalty
    frequency_penalty response_format prediction reasoning_effort metadata
    """
)
"""Fields of a request that OpenAI and Mistral know."""
OPENAI_FIELDS = SHARED_FIELDS | _names(
    """
    stream_options seed max_completion_tokens logit_bias logprobs top_logprobs user verbosity store service_tier
    modalities audio safety_identifier prompt_cache_key web_search_options functions function_call
    """
)
MISTRAL_FIELDS = SHARED_FIELDS | _names("random_seed prompt_mode safe_prompt")

KEY = "sk-stand-in"
"""The key that servers which need one accept."""
WRONG_KEY = "wrong"
"""Servers that need no key accept every key but this one."""


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
    fields: frozenset[str] = OPENAI_FIELDS
    """Known fields of a request. They matter only if the server refuses unknown ones."""
    needs_key: bool = False
    call_id_form: str = "call_{digest:.24}"
    repeats_call_ids: bool = False
    """Whether calls of different answers have the same ids."""
    call_form: CallForm = CallForm.PIECES
    reasoning_field: str = "reasoning_content"
    usage_on_finish: bool = False
    """Whether usage comes with the chunk that ends the answer, whether it was asked for or not."""

    def key_refusal(self, key: str) -> Refusal | None:
        """Return how this server refuses an API key; `None` if it accepts it."""
        is_accepted = key == KEY if self.needs_key else key != WRONG_KEY
        return None if is_accepted else refuse(self.name, Violation("key"), "")

    def model_refusal(self, model: ModelName) -> Refusal | None:
        """Return how this server refuses an unknown model; `None` if it answers with the model that is loaded."""
        return refuse(self.name, Violation("model"), model.full)

    def refusal(self, body: Mapping[str, Any], model: ModelName) -> Refusal | None:
        """Return how this server refuses a request; `None` if it accepts it."""
        refusals = (refuse(self.name, violation, model.full) for violation in violations(body, model, self.fields))
        return next(filter(None, refusals), None)


_PROFILES = [
    Profile("openai", needs_key=True, reasoning_field=""),
    Profile(
        "mistral",
        MISTRAL_FIELDS,
        needs_key=True,
        call_id_form="{digest:.9}",
        call_form=CallForm.ONE_CHUNK,
        reasoning_field="",
        usage_on_finish=True,
    ),
    Profile("deepseek", needs_key=True, usage_on_finish=True),
    Profile("llamacpp", call_id_form="{digest:.32}"),
    Profile("ollama", call_id_form="call_{digest:.8}", call_form=CallForm.WHOLE, reasoning_field="reasoning"),
    Profile("vllm", call_id_form="chatcmpl-tool-{digest:.32}", reasoning_field="reasoning"),
    Profile("generic", call_id_form="{number}", repeats_call_ids=True, call_form=CallForm.WHOLE),
]

PROFILES: Mapping[str, Profile] = {profile.name: profile for profile in _PROFILES}
