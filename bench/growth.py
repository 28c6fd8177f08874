"""How costs grow: with the answer, the tabs, the history, the conversations, the processes; `python -m bench growth`.

Each is a curve with the exponent fitted to it, drawn to docs/growth/. All of it on one product, but the processes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import statistics
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import uvloop

from bench.answers import Answer, Level, Reading
from bench.client import ANSWER_STATUS, Door, run_level
from bench.curves import Curve, verdict
from bench.drawing import draw
from bench.figures import Figures, Sample, percentile
from bench.layout import markdown_table, number
from bench.measuring import WARM_UP, steady, tell
from bench.processes import ROOT, BenchError, PinnedProcess, cores, free_port, settle_here
from bench.product import Product, Template, make_template, run_python, running_product, running_server
from bench.results import machine, write
from bench.targets import Upstream, running_upstream
from bench.websocket import Socket, connect

CHUNK_BYTES = 20
ANSWER_LIMIT_S = 180.0


@dataclass(frozen=True, slots=True)
class Plan:
    """Which sizes are tried."""

    answers: tuple[int, ...]
    """Chunks of one answer, flat out."""
    chunks_at_least: int
    """So many chunks together, by several answers where one is short: a short one is nothing to the clock."""
    tabs: tuple[int, ...]
    histories: tuple[int, ...]
    """Messages before the question."""
    samples: int
    """Questions at each length of history, of which the median counts."""
    conversations: tuple[int, ...]
    processes: tuple[int, ...]
    shared: int
    """Conversations, at 50 chunks/s, that the processes have between them."""
    level_s: float


PLAN = Plan(
    answers=(50, 150, 500, 1500, 5000, 15000, 50000),
    chunks_at_least=3000,
    tabs=(1, 2, 5, 10, 20, 50),
    histories=(2, 10, 30, 100, 300, 1000),
    samples=5,
    conversations=(1, 3, 10, 30, 100),
    processes=(1, 2),
    shared=40,
    level_s=4,
)
TINY = Plan((10, 30), 30, (1, 2), (2, 6), 1, (1, 3), (1, 2), 4, 1)


# --- one curve after the other ------------------------------------------------------------------------------------


def by_answer(product: Product, plan: Plan) -> Curve:
    """CPU of one answer against its length."""
    points = []
    for chunks in plan.answers:
        at_once = 1 + (plan.chunks_at_least - 1) // chunks
        level = Level(f"{chunks} chunks", at_once, Answer(chunks=chunks), stagger_s=0.02 * (at_once - 1))
        observed = product.run(level)
        tell("answer")(level, observed)
        points.append((chunks * CHUNK_BYTES / 1000, observed.cpu_s / at_once))
    return Curve("answer", "Length of an answer", "KB", "server CPU for the answer, s", tuple(points))


def by_tabs(product: Product, plan: Plan) -> Curve:
    """CPU of one answer against the tabs that read it."""
    answer = Answer(chunks=int(50 * plan.level_s), rate=50)
    points = []
    for tabs in plan.tabs:
        observed = product.run_tabs(tabs, answer)
        tell("tabs")(Level(f"{tabs} tabs", tabs, answer), observed)
        points.append((float(tabs), 1000 * observed.cpu_s / answer.chunks))
    return Curve("tabs", "Tabs on one conversation", "tabs", "server CPU per 1,000 chunks, s", tuple(points))


def by_history(product: Product, plan: Plan, template: Template) -> Curve:
    """Time to the first part against the messages before the question."""
    doors = {}
    wanted = {}
    for messages in plan.histories:
        cookie, conversation_id = next(product.places)
        doors[messages], wanted[conversation_id] = product.door(cookie, conversation_id), messages
    variables = template.variables | {"PLOTLINE_VAR_DIR": str(product.var_dir)}
    run_python(variables, "-m", "bench.histories", json.dumps(wanted))
    points = []
    for messages, door in doors.items():
        firsts_ms = uvloop.run(_first_parts_ms(door, plan.samples))
        points.append((float(messages), statistics.median(firsts_ms)))
        told = " ".join(f"{first_ms:.1f}" for first_ms in firsts_ms)
        print(f"  history   {messages} messages: first part after {told} ms", file=sys.stderr, flush=True)
    return Curve("history", "Length of the history", "messages", "time to first part, ms", tuple(points))


async def _first_parts_ms(door: Door, samples: int) -> list[float]:
    socket = await connect(door.url, door.headers)
    firsts_ms = []
    for _ in range(samples):
        reading = await ask_again(socket, Answer(chunks=1))
        firsts_ms.append((reading.first_us - reading.sent_us) / 1000)
    await socket.close()
    return firsts_ms


async def ask_again(socket: Socket, answer: Answer) -> Reading:
    """Ask on a socket that may have been used before, and read to the end."""
    reading = Reading()
    ended = asyncio.get_running_loop().create_future()

    def take(data: bytes, at_us: int) -> None:
        reading.take(data, at_us)
        frame = json.loads(data)
        if "seq" in frame:
            socket.send(json.dumps({"action": "ack", "turn": frame.get("turn"), "seq": frame["seq"]}))
        statuses = ANSWER_STATUS.findall(frame.get("content", ""))
        # Frames may also bring answers that ended before.
        if statuses and statuses[-1] not in ("queued", "running") and reading.delays_us and not ended.done():
            ended.set_result(statuses[-1])

    socket.on_text = take
    reading.send()
    socket.send(json.dumps({"action": "send", "text": answer.prompt(), "client_id": str(uuid.uuid4())}))
    async with asyncio.timeout(ANSWER_LIMIT_S):
        status = await ended
    if status != "done":
        raise BenchError(f"a turn ended as {status}")
    return reading


def by_conversations(product: Product, plan: Plan) -> Curve:
    """CPU a second against the conversations that are live."""
    points = []
    for count in plan.conversations:
        level = steady(count, 20, plan.level_s, f"{count}x20")
        observed = product.run(level)
        tell("live")(level, observed)
        points.append((float(count), observed.cpu_s / level.answer.duration_s))
    words = "server CPU for each second of streaming, s"
    return Curve("conversations", "Live conversations at 20 chunks/s", "conversations", words, tuple(points))


# --- processes ----------------------------------------------------------------------------------------------------


@contextmanager
def running_redis(folder: Path) -> Iterator[str]:
    """A Redis server on the client's core, which keeps nothing; its URL."""
    program = shutil.which("redis-server")
    if program is None:
        raise BenchError("redis-server is not installed: apt-get install redis-server")
    port = free_port()
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    with (folder / "redis.log").open("ab") as log:
        process = subprocess.Popen([program, *options], stdout=log, stderr=log)
    try:
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.wait()


def with_processes(count: int, plan: Plan, template: Template, upstream: Upstream, folder: Path) -> Figures:
    """The same load on so many server processes; every conversation also has a tab on the next process."""
    var_dir = folder / f"processes-{count}"
    shutil.copytree(template.folder, var_dir)
    with ExitStack() as stack:
        redis_url = stack.enter_context(running_redis(var_dir))
        servers: list[tuple[PinnedProcess, int]] = [
            stack.enter_context(running_server(template, upstream, var_dir, cores()[number % 2], redis_url))
            for number in range(count)
        ]
        products = [Product(process, upstream, port, var_dir, iter(())) for process, port in servers]
        places = iter(template.places)

        def sample() -> Sample:
            cpu_s = sum(process.cpu_s() for process, _ in servers)
            memory = sum(process.rss_bytes() for process, _ in servers)
            return Sample(cpu_s, memory, upstream.process.cpu_s(), time.process_time())

        figures: Figures = {}
        answer = Answer(chunks=int(50 * plan.level_s), rate=50)
        for kind, conversations in (("warm-up", 2 * count), ("measured", plan.shared)):
            doors = []
            for number in range(conversations):
                place = next(places)
                doors.append(products[number % count].door(*place))
                doors.append(products[(number + 1) % count].door(*place, asks=False))
            level = Level(f"{count} processes", len(doors), answer, stagger_s=1)
            observed = uvloop.run(run_level(doors, level, sample))
            if kind == "measured":
                tell("processes")(level, observed)
                figures = {
                    "cpu_s_per_1000": 1000 * observed.cpu_s / (conversations * answer.chunks),
                    "delivery_p50_ms": percentile(observed.delivery_ms, 50),
                    "delivery_p99_ms": percentile(observed.delivery_ms, 99),
                    "lost": observed.lost,
                }
    return figures


def processes_table(found: dict[int, Figures]) -> str:
    """A row for each number of processes."""
    rows: list[tuple[str, ...]] = [
        ("server processes, with Redis", "CPU per 1,000 chunks, s", "delivery p50, ms", "p99, ms", "lost")
    ]
    for count, figures in found.items():
        cells = (("cpu_s_per_1000", 3), ("delivery_p50_ms", 1), ("delivery_p99_ms", 1), ("lost", 0))
        rows.append((str(count), *(number(figures[name], digits) for name, digits in cells)))
    return markdown_table(rows)


# --- all of it ----------------------------------------------------------------------------------------------------


def measure_growth(plan: Plan) -> tuple[list[Curve], dict[int, Figures]]:
    """Every curve, and the processes."""
    with TemporaryDirectory(prefix="plotline-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        people = max(*plan.conversations, plan.shared, 2 + plan.chunks_at_least // min(plan.answers))
        template = make_template(folder / "template", people=people, conversations=5)
        with running_upstream(folder) as upstream:
            with running_product(template, upstream, folder / "product") as product:
                product.run(WARM_UP)
                curves = [
                    by_answer(product, plan),
                    by_tabs(product, plan),
                    by_history(product, plan, template),
                    by_conversations(product, plan),
                ]
            found = {count: with_processes(count, plan, template, upstream, folder) for count in plan.processes}
    return curves, found


def main(argv: Sequence[str]) -> None:
    """Measure, print, draw and write."""
    parser = argparse.ArgumentParser(prog="python -m bench growth", description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="only tries the harness itself; draws nothing by default")
    parser.add_argument("--draw", type=Path, metavar="DIR", help="where curves are drawn (default docs/growth)")
    options = parser.parse_args(argv)
    folder: Path | None = options.draw or (None if options.tiny else ROOT / "docs" / "growth")
    settle_here()
    about = machine()
    curves, found = measure_growth(TINY if options.tiny else PLAN)
    for curve in curves:
        print(f"{curve.title}: {curve.sentence()}.\n\n{curve.table()}\n")
        if folder:
            draw(curve, folder)
    print(f"{processes_table(found)}\n\n{verdict(curves)}")
    path = write("growth", about | {"curves": [curve.document() for curve in curves], "processes": found})
    print(f"\nWritten to {path}", file=sys.stderr)
