"""Gives each graph of an answer its caption, from the title of the figure and from the code before it."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from chat.messages.answer import Answer
from chat.page.attachment_views import AttachmentView
from chat.page.fragments import part_element_id
from chat.page.rendering.plot_code import NO_CAPTION, caption_of, with_title
from chat.vocabulary.parts import ExecutableCode, InlineData, Part


@dataclass(slots=True)
class _Block:
    """A block of code."""

    index: int
    """The index of the part with the code."""
    part: ExecutableCode
    graphs: list[int] = field(default_factory=list)
    """For each graph that the code drew, the index of the part after which the graph is shown."""


class GraphCaptions:
    """Assigns captions while it reads an answer from start to end: each part, and the graphs after it."""

    def __init__(self, message_id: uuid.UUID) -> None:
        self._message_id = message_id
        self._blocks: list[_Block] = []
        self._titles: dict[int, str] = {}
        """Index of a part with a figure -> title that the kernel reported for it."""

    def add_part(self, index: int, part: Part) -> None:
        """Add the next part."""
        if isinstance(part, ExecutableCode):
            self.remove_parts(index)
            self._blocks.append(_Block(index, part))
        elif isinstance(part, InlineData) and part.title is not None:
            self._titles[index] = part.title

    def append_text(self, index: int, text: str) -> None:
        """Append text to a part."""
        if self._blocks and self._blocks[-1].index == index:
            part = self._blocks[-1].part
            self._blocks[-1].part = replace(part, code=part.code + text)

    def remove_parts(self, kept: int) -> None:
        """Remove all parts but the first `kept` ones, and the graphs after them."""
        while self._blocks and self._blocks[-1].index >= kept:
            self._blocks.pop()
        self._titles = {index: title for index, title in self._titles.items() if index < kept}
        if self._blocks:
            self._blocks[-1].graphs = [index for index in self._blocks[-1].graphs if index < kept]

    def add_graphs(self, part_indexes: Iterable[int | None]) -> None:
        """Add graphs that are shown already, by the indexes of the parts before them."""
        if self._blocks:
            block = self._blocks[-1]
            block.graphs += [index for index in part_indexes if index is not None and index >= block.index]

    def with_caption(self, view: AttachmentView, part_index: int | None) -> AttachmentView:
        """Return the view of the next attachment; a graph gets its caption. `part_index`: of the part before it."""
        if not view.is_graph or part_index is None or not self._blocks:
            return view
        block = self._blocks[-1]
        caption = caption_of(block.part.code, len(block.graphs)) if block.part.is_python else NO_CAPTION
        if part_index in self._titles:
            caption = with_title(caption, self._titles[part_index])
        block.graphs.append(part_index)
        return replace(view, caption=caption, code_id=part_element_id(self._message_id, block.index))


def captions_so_far(message_id: uuid.UUID, answer: Answer) -> GraphCaptions:
    """Return the captions of an answer that may still grow."""
    captions = GraphCaptions(message_id)
    for index, part in enumerate(answer.parts):
        captions.add_part(index, part)
    captions.add_graphs(one.part_index for one in answer.attachments if one.is_graph)
    return captions


def with_captions(
    message_id: uuid.UUID, parts: Sequence[Part], shown: Mapping[int | None, Sequence[AttachmentView]]
) -> dict[int | None, Sequence[AttachmentView]]:
    """Return the attachments of an answer with captions. `shown`: index of a part -> attachments shown after it."""
    captions = GraphCaptions(message_id)
    result = dict(shown)
    for index, part in enumerate(parts):
        captions.add_part(index, part)
        if index in shown:
            result[index] = [captions.with_caption(view, index) for view in shown[index]]
    return result
