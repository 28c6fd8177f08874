"""Gives verdicts to the blocks of code that run again before the chosen block, if it runs again from the start."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from channels.db import database_sync_to_async

from chat.messages.records import records_by_id
from chat.page.fragments import rerun_element_id
from chat.page.message_views import RerunView
from chat.python.kernels.outputs import Execution
from chat.python.reruns import rows
from chat.python.reruns.live import show_on_pages
from chat.python.reruns.recorded_outputs import RerunRefused, output_before, output_of
from chat.python.reruns.recorded_runs import recorded_run
from chat.python.reruns.verdicts import Comparison, RunOutput, Verdict, compare
from chat.python.sessions.branch import CodeBlock

_WORST_FIRST = (Verdict.STOPPED, Verdict.FAILED, Verdict.DIFFERS, Verdict.REPRODUCED)


@dataclass(frozen=True, slots=True)
class BlockVerdict:
    """A block of code that ran again, and the comparison of its result with the earlier one."""

    message_id: uuid.UUID
    index: int
    """Index of the part that holds the code."""
    comparison: Comparison


class EarlierBlocks:
    """Blocks that run one after the other, and their verdicts so far."""

    def __init__(self, conversation_id: uuid.UUID, blocks: Sequence[CodeBlock], language: str) -> None:
        """Prepare to compare these blocks. `language`: language of the owner's pages, which show the verdicts."""
        self.codes = [block.code for block in blocks]
        self.verdicts: list[BlockVerdict] = []
        """Verdicts of the blocks that have run, without blocks whose earlier result is unknown."""
        self._conversation_id = conversation_id
        self._blocks = blocks
        self._language = language

    async def compare(self, number: int, execution: Execution) -> None:
        """Store and show the verdict of a block that has ended."""
        block = self._blocks[number]
        # On another thread than live turns, because storage may be slow.
        comparison = await database_sync_to_async(_store_verdict, thread_sensitive=False)(block, execution)
        if comparison is None:
            return
        self.verdicts.append(BlockVerdict(block.message_id, block.part_index, comparison))
        element_id = rerun_element_id(block.message_id, block.part_index)
        view = RerunView(element_id, block.part_index, comparison.verdict, comparison.detail)
        show_on_pages(self._conversation_id, view, self._language)


def _store_verdict(block: CodeBlock, execution: Execution) -> Comparison | None:
    """Compare a result with the earlier one, and store the verdict.

    Return `None` if the earlier result is unknown, or the block is being run again by another request.
    """
    comparison = compare_with_answer(block, output_of(execution))
    is_stored = comparison and rows.store_verdict(block.message_id, block.part_index, comparison)
    return comparison if is_stored else None


def compare_with_answer(block: CodeBlock, after: RunOutput) -> Comparison | None:
    """Compare the result of a block with the one in its answer; return `None` if that one is unknown."""
    record = records_by_id([block.message_id]).get(block.message_id)
    run = recorded_run(record.parts, block.part_index) if record else None
    if record is None or run is None:
        return None
    try:
        return compare(output_before(record, run), after)
    except RerunRefused:
        return None


def summary(verdicts: Sequence[BlockVerdict]) -> Comparison:
    """Return the worst verdict, and a sentence that counts the verdicts, or explains the only one."""
    if len(verdicts) == 1:
        return verdicts[0].comparison
    counts = Counter(one.comparison.verdict for one in verdicts)
    worst = next(verdict for verdict in _WORST_FIRST if counts[verdict])
    same = counts[Verdict.REPRODUCED]
    if same == len(verdicts):
        return Comparison(worst, f"All {same} blocks of code gave the same again.")
    sentences = [f"{same} of {len(verdicts)} blocks of code gave the same again."]
    sentences += [
        sentence.format(number=counts[verdict])
        for verdict, sentence in (
            (Verdict.DIFFERS, "Different: {number}."),
            (Verdict.FAILED, "Failed: {number}."),
            (Verdict.STOPPED, "Stopped: {number}."),
        )
        if counts[verdict]
    ]
    return Comparison(worst, " ".join(sentences))
