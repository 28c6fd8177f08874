"""The token counts that every stand-in reports for a request and its answer. They are invented, but consistent."""

from __future__ import annotations

from dataclasses import dataclass

from tests.scenarios.asked import Asked
from tests.scenarios.steps import Calls, Code, Image, Step, Text, Thought

PROMPT_TOKENS = 50
"""Tokens of a request without its calls and their results."""
RESULT_TOKENS = CALL_TOKENS = 12
IMAGE_TOKENS = 258
CHARS_PER_TOKEN = 4


@dataclass(slots=True)
class TokenCounts:
    """The counts of one answer while it is written."""

    prompt: int
    cached: int
    """Cached tokens of the prompt: those of the turn's first request."""
    thoughts: int = 0
    output: int = 0
    tools: int = 0
    """Tokens that code of the service has added to the prompt."""

    @classmethod
    def of_request(cls, asked: Asked) -> TokenCounts:
        """Return the counts of a request whose answer has not begun."""
        of_calls = asked.calls * (CALL_TOKENS + RESULT_TOKENS)
        return cls(PROMPT_TOKENS + of_calls, PROMPT_TOKENS if asked.rounds else 0)

    def add(self, step: Step) -> None:
        """Count a step of the answer."""
        match step:
            case Thought(text):
                self.thoughts += tokens(text)
            case Text(text):
                self.output += tokens(text)
            case Calls(calls, thought):
                self.output += CALL_TOKENS * len(calls)
                self.thoughts += tokens(thought)
            case Image():
                self.output += IMAGE_TOKENS
            case Code(source, output, images=images):
                self.output += tokens(source)
                self.tools += self.prompt + tokens(source) + tokens(output) + IMAGE_TOKENS * len(images)

    @property
    def total(self) -> int:
        """All tokens. Those of the prompt include the cached ones."""
        return self.prompt + self.tools + self.thoughts + self.output


def tokens(text: str) -> int:
    """Return the tokens of a text."""
    return -(-len(text) // CHARS_PER_TOKEN)
