"""The harness itself, as small as it goes: each command's parts on real processes, a real Chromium and a real Redis."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from bench import growth, levels
from bench.__main__ import COMMANDS, main
from bench.answers import Answer, Level
from bench.baselines import running_relay, running_sdk_alone
from bench.browser import main_thread, running_chromium, task_lengths_ms
from bench.figures import Observed
from bench.measuring import FULL, QUICK, highest_rate, most_in_search
from bench.processes import PinnedProcess
from bench.product import Product, Template, make_template, running_product
from bench.targets import Upstream, running_upstream

SHORT = Level("short", 2, Answer(chunks=10, rate=50, graphs=1))


@dataclass(frozen=True)
class Bench:
    upstream: Upstream
    template: Template
    product: Product


@dataclass(frozen=True)
class Limited:
    """A target that is known to keep up with so many conversations."""

    conversations: int

    @property
    def process(self) -> PinnedProcess:
        raise NotImplementedError

    def run(self, level: Level) -> Observed:
        asked_per_s = level.conversations * level.answer.rate
        delay_ms = 1.0 if level.conversations <= self.conversations else 1000.0
        return Observed(delivery_ms=[delay_ms], offered_per_s=asked_per_s, asked_per_s=asked_per_s)


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Upstream]:
    with running_upstream(tmp_path_factory.mktemp("upstream")) as running:
        yield running


@pytest.fixture(scope="module")
def bench(upstream: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("product")
    template = make_template(folder / "template", people=4, conversations=6)
    with running_product(template, upstream, folder / "var") as product:
        yield Bench(upstream, template, product)


def test_a_relay_delivers_every_chunk(upstream: Upstream, tmp_path: Path) -> None:
    with running_relay("sdk", upstream, tmp_path) as relay:
        observed = relay.run(SHORT)
    assert (len(observed.delivery_ms), observed.lost) == (2 * SHORT.answer.stamps, 0)


def test_sdk_alone_reads_every_chunk(upstream: Upstream, tmp_path: Path) -> None:
    with running_sdk_alone(upstream, tmp_path) as reader:
        assert reader.run(SHORT).lost == 0


def test_product_delivers_every_chunk_to_each_tab(bench: Bench) -> None:
    observed = bench.product.run(SHORT)
    assert (len(observed.first_part_ms), observed.lost) == (2, 0)
    assert bench.product.run_tabs(3, SHORT.answer).lost == 0


def test_growth_has_a_point_for_each_size(bench: Bench) -> None:
    plan = growth.Plan((5, 10), 10, (1, 2), (2, 6), 1, (1, 2), (1, 2), 2, 0.5)
    history = growth.by_history(bench.product, plan, bench.template)
    assert [size for size, _ in history.points] == [2, 6]
    assert all(cost > 0 for _, cost in history.points)
    assert [size for size, _ in growth.by_answer(bench.product, plan).points] == [0.1, 0.2]


def test_a_process_with_redis_serves_two_tabs_of_each_conversation(bench: Bench, tmp_path: Path) -> None:
    plan = growth.Plan((), 0, (), (), 0, (), (1,), 2, 0.5)
    figures = growth.with_processes(1, plan, bench.template, bench.upstream, tmp_path)
    assert figures["lost"] == 0
    assert growth.processes_table({1: figures}).count("\n") == 2


def test_main_thread_of_a_real_browser_is_weighed(bench: Bench) -> None:
    with running_chromium() as browser:
        figures, _ = main_thread(browser, bench.product, Answer(chunks=40, rate=100, graphs=1, is_rich=True))
    assert 0 < figures["browser_script_s"] < figures["browser_main_thread_s"]


def test_tasks_are_those_of_the_busiest_page() -> None:
    name = {"name": "thread_name", "args": {"name": "CrRendererMain"}}
    task = {"name": "RunTask", "ph": "X"}
    events: list[dict[str, Any]] = [
        name | {"pid": 1, "tid": 1},
        name | {"pid": 2, "tid": 2},
        task | {"pid": 1, "tid": 1, "dur": 1500},
        task | {"pid": 2, "tid": 2, "dur": 9000},
        task | {"pid": 2, "tid": 2, "dur": 500},
        task | {"pid": 2, "tid": 3, "dur": 99000},
    ]
    assert task_lengths_ms(events) == [9.0, 0.5]


@pytest.mark.parametrize(("limit", "best", "failed"), [(55, 2500, 3000), (5, 0, 1000), (1000, 4000, None)])
def test_search_ends_between_what_is_and_is_not_kept_up_with(limit: int, best: float, failed: float | None) -> None:
    figures = highest_rate(Limited(limit), replace(QUICK, search=(20, 30, 40, 50, 60, 70, 80)), lambda *_: None)
    assert (figures["highest_rate_per_s"], figures.get("failed_rate_per_s")) == (best, failed)


def test_a_search_never_needs_all_of_its_levels() -> None:
    assert most_in_search((1, 2, 3)) == 5
    for plan in (QUICK, FULL):
        assert most_in_search(plan.search) < sum(plan.search)
        assert plan.people >= max(plan.search)


def test_a_command_that_does_not_exist_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nonsense"]) == 2
    told = capsys.readouterr().err
    assert all(name in told for name in COMMANDS)


def test_a_product_that_cannot_be_measured_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    for value, told in (("rival=python", "no driver for 'rival'"), ("gradio=nowhere/python", "is no program")):
        with pytest.raises(SystemExit):
            levels.arguments(["--peer", value])
        assert told in capsys.readouterr().err
    named = levels.arguments(["--peer", f"gradio={sys.executable}", "--peer", f"open-webui={sys.executable}"])
    assert named.peer == [("gradio", sys.executable), ("open-webui", sys.executable)]
