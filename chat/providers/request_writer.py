"""Base class of the writers of requests: the order of contents, results, and the state of the tools. Pure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from chat.providers.requests import Content, GenerateRequest
from chat.vocabulary.parts import JSON, FunctionResponse, Part, Role, Text


class RequestWriter(ABC):
    """Writes the conversation of one request."""

    def _write_contents(self, request: GenerateRequest) -> None:
        """Write all contents, and the state of the tools after them."""
        for content in request.contents:
            if content.role is Role.MODEL:
                self._write_answer(content)
            else:
                self._write_question(content)
        # The state goes into the last result, because many models take a message of the user for a new question.
        if request.state and not self._add_to_result(request.state):
            self._add_user([*self._user_content(Text(request.state))])

    def _write_question(self, content: Content) -> None:
        """Write the results of functions, then everything else as one message of the user."""
        rest: Sequence[Part] = content.parts
        for part in content.parts:
            if isinstance(part, FunctionResponse):
                rest = self._write_response(part, rest)
        if contents := [one for part in rest for one in self._user_content(part)]:
            self._add_user(contents)

    @abstractmethod
    def _write_answer(self, content: Content) -> None: ...

    @abstractmethod
    def _write_response(self, response: FunctionResponse, parts: Sequence[Part]) -> Sequence[Part]:
        """Write the result of a function. Return the parts of its content that are not written yet."""

    @abstractmethod
    def _add_to_result(self, state: str) -> bool:
        """If the request ends with a result, add the state of the tools to it. Return whether it does."""

    @abstractmethod
    def _user_content(self, part: Part) -> Sequence[JSON]:
        """Return a part as content of the user; empty for the result of a function."""

    @abstractmethod
    def _add_user(self, contents: list[JSON]) -> None: ...
