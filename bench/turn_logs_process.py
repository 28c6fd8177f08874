"""Stores answers for the benchmark of turn logs: `python -m bench.with_django bench.turn_logs_process ANSWERS`.

They go through the code of the server, at the full speed of the database, while logs of ended turns are deleted as in
each web process. Logs are kept for some seconds only, so that a run shows the steady state.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
import uuid
from datetime import timedelta

from django.db import connection
from django.utils import timezone

from bench.turn_logs import TurnLogs
from chat.answering.turns import finish, old_logs
from chat.answering.turns.finish import Ending
from chat.answering.turns.recovery import SWEEP_INTERVAL_S
from chat.answering.turns.store import TurnWrite, write
from chat.messages.assembler import Assembler
from chat.models import Conversation, Message, Turn, TurnEvent, User
from chat.vocabulary.parts import Role, Text
from chat.vocabulary.stream_events import Finish, Finished, PartReceived

LIVE_TURNS = 50
COMMITS = 20
"""Transactions of one answer; each stores the text of one frame."""
LEASE_OWNER = "bench"
LOG_LIFETIME_S = 10
DELETION_LIMIT_S = 600.0
"""How long to wait for the deletion of the last logs."""


def main(answers: str) -> None:
    """Store this number of answers, wait until their logs are deleted or the time is over, and print a `TurnLogs`."""
    finish.LOG_LIFETIME = timedelta(seconds=LOG_LIFETIME_S)
    stop = threading.Event()
    peaks = [0]
    cleaner = threading.Thread(target=_delete_logs, args=[stop, peaks])
    cleaner.start()
    started_s = time.perf_counter()
    owner = User.objects.create(username="bench")
    number = int(answers)
    try:
        for done in range(0, number, LIVE_TURNS):
            turns = _start_turns(owner, min(LIVE_TURNS, number - done))
            asyncio.run(_write_answers(turns))
        took_s = time.perf_counter() - started_s
        rows_at_end = TurnEvent.objects.count()
        ended_s = time.perf_counter()
        while TurnEvent.objects.exists() and time.perf_counter() - ended_s < DELETION_LIMIT_S:
            time.sleep(0.5)
        deleted_after_s = time.perf_counter() - ended_s
    finally:
        stop.set()
        cleaner.join()
    logs = TurnLogs(
        answers=number,
        duration_s=took_s,
        rows_written=number * (COMMITS + 2),
        most_rows=max(peaks[0], rows_at_end),
        rows_at_end=rows_at_end,
        rows_left=TurnEvent.objects.count(),
        deleted_after_s=deleted_after_s,
    )
    print(json.dumps(logs))


def _delete_logs(stop: threading.Event, peaks: list[int]) -> None:
    while not stop.wait(SWEEP_INTERVAL_S):
        peaks[0] = max(peaks[0], TurnEvent.objects.count())
        old_logs.delete_some_logs(threading.Event())
    connection.close()


def _start_turns(owner: User, number: int) -> list[Turn]:
    conversations = Conversation.objects.bulk_create(Conversation(owner=owner) for _ in range(number))
    questions = Message.objects.bulk_create(Message(conversation=one, index=0, role=Role.USER) for one in conversations)
    answers = Message.objects.bulk_create(
        Message(conversation_id=one.conversation_id, parent=one, index=1, role=Role.MODEL) for one in questions
    )
    return Turn.objects.bulk_create(
        Turn(
            conversation=conversation,
            user_message=question,
            message=answer,
            status=Turn.Status.RUNNING,
            lease_owner=LEASE_OWNER,
            lease_expires_at=timezone.now() + timedelta(hours=1),
        )
        for conversation, question, answer in zip(conversations, questions, answers, strict=True)
    )


async def _write_answers(turns: list[Turn]) -> None:
    """Write the answers of all turns together, as group commit does."""
    assemblers = [Assembler(is_code_offered=False, new_id=lambda: str(uuid.uuid4())) for _ in turns]
    for commit in range(COMMITS + 1):
        is_last = commit == COMMITS
        event = Finished(Finish.STOP, "STOP") if is_last else PartReceived(Text(text=f"Frame {commit} of an answer. "))
        writes = []
        for turn, assembler in zip(turns, assemblers, strict=True):
            changes = assembler.add(event)
            ending = Ending(Turn.Status.DONE, assembler.answer) if is_last else None
            writes.append(TurnWrite.of(turn, changes, first_seq=commit + 1, ending=ending))
        for result in await write(writes, lease_owner=LEASE_OWNER):
            if isinstance(result, Exception):
                raise result
