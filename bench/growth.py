"""The growth benchmark: how costs grow with a size; `python -m bench growth`.

It varies the length of an answer, the tabs, the length of the history, the live conversations and the server
processes. Each of the first four is a curve with a fitted exponent, which is drawn to `docs/growth/`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import uvloop

from bench.answers import Answer, AnswerTimings, Level
from bench.charts import draw_curve
from bench.client import ANSWER_STATUS, LIVE_STATUSES, Endpoint
from bench.curves import Curve, format_curves_table, summarize_curves
from bench.figures import Figures
from bench.measurement import WARM_UP, make_level_logger, make_steady_level
from bench.processes import ROOT, BenchError, pin_client_process
from bench.product import Product, Template, make_template, run_product, run_python
from bench.results import describe_environment, write_result
from bench.server_processes import format_processes_table, measure_server_processes
from bench.targets import run_upstream
from bench.websocket import WebSocket, connect

CHUNK_BYTES = 20
ANSWER_TIMEOUT_S = 180.0


@dataclass(frozen=True, slots=True)
class Plan:
    """The sizes that are measured."""

    answers: tuple[int, ...]
    """Lengths of answers in chunks. They are sent without pauses."""
    min_chunks: int
    """Chunks of a level at least. A short answer is requested several times, because CPU time has steps of 0.01 s."""
    tabs: tuple[int, ...]
    histories: tuple[int, ...]
    """Numbers of messages before the question."""
    samples: int
    """Number of questions for each length of the history. Their median is reported."""
    conversations: tuple[int, ...]
    processes: tuple[int, ...]
    shared_conversations: int
    """Number of conversations, at 50 chunks/s, that the server processes share."""
    level_s: float


PLAN = Plan(
    answers=(50, 150, 500, 1500, 5000, 15000, 50000),
    min_chunks=3000,
    tabs=(1, 2, 5, 10, 20, 50),
    histories=(2, 10, 30, 100, 300, 1000),
    samples=5,
    conversations=(1, 3, 10, 30, 100),
    processes=(1, 2),
    shared_conversations=40,
    level_s=4,
)
TINY = Plan(
    answers=(10, 30),
    min_chunks=30,
    tabs=(1, 2),
    histories=(2, 6),
    samples=1,
    conversations=(1, 3),
    processes=(1, 2),
    shared_conversations=4,
    level_s=1,
)


def measure_answer_lengths(product: Product, plan: Plan) -> Curve:
    """Return the CPU of one answer by its length."""
    points = []
    for chunks in plan.answers:
        answers = 1 + (plan.min_chunks - 1) // chunks
        level = Level(f"{chunks} chunks", answers, Answer(chunks=chunks), stagger_s=0.02 * (answers - 1))
        result = product.run(level)
        make_level_logger("answer")(level, result)
        points.append((chunks * CHUNK_BYTES / 1000, result.cpu_s / answers))
    return Curve("answer", "Length of an answer", "KB", "server CPU for the answer, s", tuple(points))


def measure_tabs(product: Product, plan: Plan) -> Curve:
    """Return the CPU of one answer by the number of tabs that read it."""
    answer = Answer(chunks=int(50 * plan.level_s), rate=50)
    points = []
    for tabs in plan.tabs:
        result = product.run_tabs(tabs, answer)
        make_level_logger("tabs")(Level(f"{tabs} tabs", tabs, answer), result)
        points.append((float(tabs), 1000 * result.cpu_s / answer.chunks))
    return Curve("tabs", "Tabs on one conversation", "tabs", "server CPU per 1,000 chunks, s", tuple(points))


def measure_histories(product: Product, plan: Plan, template: Template) -> Curve:
    """Return the time to the first part by the number of messages before the question."""
    endpoints = {}
    messages_by_conversation = {}
    for message_count in plan.histories:
        conversation = next(product.conversations)
        endpoints[message_count] = product.make_endpoint(conversation)
        messages_by_conversation[conversation.conversation_id] = message_count
    variables = template.variables | {"PLOTLINE_VAR_DIR": str(product.var_dir)}
    run_python(variables, "-m", "bench.with_django", "bench.histories", json.dumps(messages_by_conversation))
    points = []
    for message_count, endpoint in endpoints.items():
        first_parts_ms = uvloop.run(_measure_first_parts_ms(endpoint, plan.samples))
        points.append((float(message_count), statistics.median(first_parts_ms)))
        times = " ".join(f"{first_part_ms:.1f}" for first_part_ms in first_parts_ms)
        print(f"  history   {message_count} messages: first part after {times} ms", file=sys.stderr, flush=True)
    return Curve("history", "Length of the history", "messages", "time to first part, ms", tuple(points))


async def _measure_first_parts_ms(endpoint: Endpoint, samples: int) -> list[float]:
    socket = await connect(endpoint.url, endpoint.headers)
    first_parts_ms = []
    for _ in range(samples):
        timings = await read_answer(socket, Answer(chunks=1))
        first_parts_ms.append((timings.first_received_at_us - timings.sent_at_us) / 1000)
    await socket.close()
    return first_parts_ms


async def read_answer(socket: WebSocket, answer: Answer) -> AnswerTimings:
    """Request an answer on a socket that may have been used before, and read it to its end."""
    timings = AnswerTimings()
    ended = asyncio.get_running_loop().create_future()

    def handle_frame(data: bytes, received_at_us: int) -> None:
        timings.record_stamps(data, received_at_us)
        frame = json.loads(data)
        if "seq" in frame:
            socket.send(json.dumps({"action": "ack", "turn": frame.get("turn"), "seq": frame["seq"]}))
        statuses = ANSWER_STATUS.findall(frame.get("content", ""))
        # A frame may also contain earlier answers, which have ended. The delays show that this answer has begun.
        if statuses and statuses[-1] not in LIVE_STATUSES and timings.delays_us and not ended.done():
            ended.set_result(statuses[-1])

    socket.on_text = handle_frame
    timings.record_send()
    socket.send(json.dumps({"action": "send", "text": answer.to_prompt(), "client_id": str(uuid.uuid4())}))
    async with asyncio.timeout(ANSWER_TIMEOUT_S):
        status = await ended
    if status != "done":
        raise BenchError(f"a turn ended with status {status}")
    return timings


def measure_conversations(product: Product, plan: Plan) -> Curve:
    """Return the CPU per second of streaming by the number of live conversations."""
    points = []
    for count in plan.conversations:
        level = make_steady_level(count, 20, plan.level_s, f"{count}x20")
        result = product.run(level)
        make_level_logger("live")(level, result)
        points.append((float(count), result.cpu_s / level.answer.duration_s))
    cost = "server CPU for each second of streaming, s"
    return Curve("conversations", "Live conversations at 20 chunks/s", "conversations", cost, tuple(points))


def measure_growth(plan: Plan) -> tuple[list[Curve], dict[int, Figures]]:
    """Return every curve, and the figures by number of server processes."""
    with TemporaryDirectory(prefix="plotline-bench-", ignore_cleanup_errors=True) as path:
        folder = Path(path)
        users = max(*plan.conversations, plan.shared_conversations, 2 + plan.min_chunks // min(plan.answers))
        template = make_template(folder / "template", users=users, conversations_per_user=5)
        with run_upstream(folder) as upstream:
            with run_product(template, upstream, folder / "product") as product:
                product.run(WARM_UP)
                curves = [
                    measure_answer_lengths(product, plan),
                    measure_tabs(product, plan),
                    measure_histories(product, plan, template),
                    measure_conversations(product, plan),
                ]
            processes = {
                count: measure_server_processes(
                    count,
                    conversations=plan.shared_conversations,
                    level_s=plan.level_s,
                    template=template,
                    upstream=upstream,
                    folder=folder,
                )
                for count in plan.processes
            }
    return curves, processes


def main(argv: Sequence[str]) -> None:
    """Measure, write the result, draw the curves and print tables."""
    parser = argparse.ArgumentParser(prog="python -m bench growth", description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="only test the harness; draws nothing by default")
    parser.add_argument("--draw", type=Path, metavar="DIR", help="folder of the charts (default docs/growth)")
    options = parser.parse_args(argv)
    folder: Path | None = options.draw or (None if options.tiny else ROOT / "docs" / "growth")
    pin_client_process()
    environment = describe_environment()
    curves, processes = measure_growth(TINY if options.tiny else PLAN)
    for curve in curves:
        print(f"{curve.title}: {curve.describe()}.\n\n{curve.format_table()}\n")
        if folder:
            draw_curve(curve, folder)
    print(f"{format_curves_table(curves)}\n\n{summarize_curves(curves)}\n\n{format_processes_table(processes)}")
    document = environment | {"curves": [curve.to_json() for curve in curves], "processes": processes}
    print(f"\nWritten to {write_result('growth', document)}", file=sys.stderr)
