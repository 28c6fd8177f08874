"""Measures the same load on one and on several server processes that share a database and Redis."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import uvloop

from bench.answers import Answer, Level
from bench.client import Endpoint, run_level
from bench.figures import Figures, ResourceSample, compute_percentile
from bench.measurement import make_level_logger
from bench.processes import select_cores
from bench.product import Product, SignedInConversation, Template, run_server
from bench.redis_server import run_redis
from bench.tables import format_markdown_table, format_number
from bench.targets import Upstream

#: Columns of the table: the figure, its label and its decimal places.
COLUMNS = (
    ("cpu_s_per_1000", "CPU per 1,000 chunks, s", 3),
    ("delivery_p50_ms", "delivery p50, ms", 1),
    ("delivery_p99_ms", "p99, ms", 1),
    ("lost", "lost", 0),
)


def measure_server_processes(
    count: int, *, conversations: int, level_s: float, template: Template, upstream: Upstream, folder: Path
) -> Figures:
    """Run conversations at 50 chunks/s on `count` server processes, after a warm-up, and return the figures.

    Every conversation has a second tab, which is connected to the next process.
    """
    var_dir = folder / f"processes-{count}"
    shutil.copytree(template.folder, var_dir)
    answer = Answer(chunks=int(50 * level_s), rate=50)
    with ExitStack() as stack:
        redis_url = stack.enter_context(run_redis(var_dir))
        products = []
        for index in range(count):
            server = run_server(template, upstream, var_dir, select_cores()[index % 2], redis_url)
            process, port = stack.enter_context(server)
            products.append(Product(process, upstream, port, var_dir, iter(())))

        def take_sample() -> ResourceSample:
            cpu_s = sum(product.process.read_cpu_s() for product in products)
            memory_bytes = sum(product.process.read_rss_bytes() for product in products)
            return ResourceSample(cpu_s, memory_bytes, upstream.process.read_cpu_s(), time.process_time())

        unused = iter(template.conversations)
        name = f"{count} processes"
        for level_conversations in (2 * count, conversations):
            endpoints = _make_endpoints(products, unused, level_conversations)
            level = Level(name, len(endpoints), answer, stagger_s=1)
            result = uvloop.run(run_level(endpoints, level, take_sample))
    make_level_logger("processes")(level, result)
    return {
        "cpu_s_per_1000": 1000 * result.cpu_s / (conversations * answer.chunks),
        "delivery_p50_ms": compute_percentile(result.delivery_ms, 50),
        "delivery_p99_ms": compute_percentile(result.delivery_ms, 99),
        "lost": result.lost_chunks,
    }


def _make_endpoints(
    products: list[Product], unused: Iterator[SignedInConversation], conversations: int
) -> list[Endpoint]:
    """Return two endpoints for each conversation: a sender, and a reader on the next process."""
    endpoints = []
    for index in range(conversations):
        conversation = next(unused)
        endpoints.append(products[index % len(products)].make_endpoint(conversation))
        endpoints.append(products[(index + 1) % len(products)].make_endpoint(conversation, is_sender=False))
    return endpoints


def format_processes_table(figures_by_count: Mapping[int, Figures]) -> str:
    """Return a Markdown table with a row for each number of processes."""
    rows: list[tuple[str, ...]] = [("server processes, with Redis", *(label for _, label, _ in COLUMNS))]
    for count, figures in figures_by_count.items():
        rows.append((str(count), *(format_number(figures[name], digits) for name, _, digits in COLUMNS)))
    return format_markdown_table(rows)
