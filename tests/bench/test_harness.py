"""Tests of the harness with small plans, real server processes and a real Chromium."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from bench import relay
from bench.__main__ import COMMANDS, main
from bench.answers import Answer, Level
from bench.baseline import run_bare_relay
from bench.browser import TraceEvent, extract_task_lengths_ms, measure_main_thread
from bench.chromium import run_chromium
from bench.figures import LevelResult
from bench.measurement import FULL, QUICK, count_search_conversations, find_highest_rate
from bench.processes import BenchError, PinnedProcess
from bench.product import PROTOCOLS, Product, Template, make_template, run_product
from bench.targets import Upstream, run_upstream

pytestmark = pytest.mark.drill

SHORT = Level("short", 2, Answer(chunks=10, rate=50, graphs=1))


@dataclass(frozen=True)
class Bench:
    upstream: Upstream
    template: Template
    product: Product


@dataclass(frozen=True)
class LimitedTarget:
    """A target that sustains a known number of conversations."""

    conversations: int

    @property
    def process(self) -> PinnedProcess:
        raise NotImplementedError

    def run(self, level: Level) -> LevelResult:
        requested_per_s = level.conversations * level.answer.rate
        delay_ms = 1.0 if level.conversations <= self.conversations else 1000.0
        return LevelResult(delivery_ms=[delay_ms], offered_per_s=requested_per_s, requested_per_s=requested_per_s)


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Upstream]:
    with run_upstream(tmp_path_factory.mktemp("upstream")) as running_upstream:
        yield running_upstream


@pytest.fixture(scope="module")
def bench(upstream: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("product")
    template = make_template(folder / "template", users=4, conversations_per_user=6)
    with run_product(template, upstream, folder / "var") as product:
        yield Bench(upstream, template, product)


def test_bare_relay_delivers_every_chunk(upstream: Upstream, tmp_path: Path) -> None:
    with run_bare_relay(upstream, tmp_path) as baseline:
        result = baseline.run(SHORT)
    assert (len(result.delivery_ms), result.lost_chunks) == (2 * SHORT.answer.stamp_count, 0)


def test_plotline_delivers_every_chunk(bench: Bench) -> None:
    result = bench.product.run(SHORT)
    assert (len(result.first_part_ms), result.lost_chunks) == (2, 0)


@pytest.mark.parametrize("protocol", PROTOCOLS[1:])
def test_plotline_delivers_every_chunk_with_each_other_provider_protocol(
    protocol: str, bench: Bench, tmp_path: Path
) -> None:
    with run_product(bench.template, bench.upstream, tmp_path / "var", protocol=protocol) as product:
        result = product.run(SHORT)
    # Without graphs.
    assert len(result.delivery_ms) == 2 * SHORT.answer.chunks
    assert (len(result.first_part_ms), result.lost_chunks) == (2, 0)


def test_main_thread_of_a_real_browser_is_measured(bench: Bench) -> None:
    with run_chromium() as browser:
        figures = measure_main_thread(browser, bench.product, Answer(chunks=40, rate=100, graphs=1, is_rich=True))
    assert 0 < figures["browser_script_s"] < figures["browser_main_thread_s"]


def test_task_lengths_are_measured_on_the_busiest_main_thread() -> None:
    def make_thread(pid: int, tid: int) -> TraceEvent:
        return {"name": "thread_name", "args": {"name": "CrRendererMain"}, "pid": pid, "tid": tid}

    def make_task(pid: int, tid: int, dur: int) -> TraceEvent:
        return {"name": "RunTask", "pid": pid, "tid": tid, "dur": dur}

    events = [
        make_thread(1, 1),
        make_thread(2, 2),
        make_task(1, 1, 1500),
        make_task(2, 2, 9000),
        make_task(2, 2, 500),
        make_task(2, 3, 99000),
    ]
    assert extract_task_lengths_ms(events) == [9.0, 0.5]


@pytest.mark.parametrize(("limit", "highest", "failed"), [(55, 2500, 3000), (5, 0, 1000), (1000, 4000, None)])
def test_search_finds_the_highest_sustained_rate(limit: int, highest: float, failed: float | None) -> None:
    plan = replace(QUICK, search=(20, 30, 40, 50, 60, 70, 80))
    figures = find_highest_rate(LimitedTarget(limit), plan, lambda *_: None)
    assert (figures["highest_rate_per_s"], figures.get("failed_rate_per_s")) == (highest, failed)


def test_rate_search_needs_fewer_conversations_than_running_every_load_level() -> None:
    assert count_search_conversations((1, 2, 3)) == 5
    for plan in (QUICK, FULL):
        assert count_search_conversations(plan.search) < sum(plan.search)
        assert plan.user_count >= max(plan.search)


@pytest.mark.parametrize("argv", [["nonsense"], ["page", "nonsense"], ["all", "nonsense", "--json", "results.json"]])
def test_unknown_command_is_refused_with_the_known_ones(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 2
    message = capsys.readouterr().err
    assert all(name in message for name in ("'nonsense'", *COMMANDS))


@pytest.mark.parametrize(
    ("value", "expected"),
    [("rival=python", "unknown product 'rival'"), ("chainlit=nowhere/python", "is not a program")],
)
def test_peer_option_with_an_unknown_product_or_a_missing_program_is_refused(
    value: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        relay.parse_arguments(["--peer", value])
    assert expected in capsys.readouterr().err


def test_compared_product_that_does_not_start_ends_the_benchmark_before_it_measures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(relay, "measure_all", lambda _: pytest.fail("the measurement began"))
    # This environment has no Chainlit.
    with pytest.raises(BenchError, match=r"^chainlit cannot start with .*: .*No module named chainlit$"):
        relay.main(["--peer", f"chainlit={sys.executable}"])


def test_peer_option_can_be_given_for_several_products() -> None:
    options = relay.parse_arguments(["--peer", f"chainlit={sys.executable}", "--peer", f"open-webui={sys.executable}"])
    assert options.peer == [("chainlit", sys.executable), ("open-webui", sys.executable)]
